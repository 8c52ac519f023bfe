// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/registry.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"

namespace hmn::metal {
namespace {

bool is_a(const CoreFoundation& core, Cf value, CfType (*type)()) {
  return value != nullptr && core.type_of(value) == type();
}

// Names of a value, the most common first.
constexpr const char* busy[] = {"Device Utilization %", "GPU Activity(%)", "Device Utilization",
                                "GPU Utilization"};
constexpr const char* renderer[] = {"Renderer Utilization %"};
constexpr const char* tiler[] = {"Tiler Utilization %"};
constexpr const char* in_use[] = {"In use system memory", "inUseSystemMemory"};
constexpr const char* allocated[] = {"Alloc system memory"};
constexpr const char* vram_used[] = {"vramUsedBytes", "inUseVidMemoryBytes"};
constexpr const char* vram_free[] = {"vramFreeBytes"};

class TableReader {
 public:
  TableReader(const CoreFoundation& core, Cf table) : core_(core), table_(table) {}

  [[nodiscard]] std::optional<double> percent(std::span<const char* const> names) const {
    const auto n = first(names);
    return n && *n <= 100 ? std::optional(static_cast<double>(*n)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes(std::span<const char* const> names) const {
    const auto n = first(names);
    return n ? std::optional(static_cast<std::uint64_t>(*n)) : std::nullopt;
  }

 private:
  // Negative values are invalid: some drivers subtract too much.
  [[nodiscard]] std::optional<std::int64_t> first(std::span<const char* const> names) const {
    for (const char* name : names) {
      const auto n = find_number(core_, table_, name);
      if (n && *n >= 0) return n;
    }
    return std::nullopt;
  }

  const CoreFoundation& core_;
  Cf table_;
};

class Object {
 public:
  Object(const IoKit& io, IoObject name) noexcept : io_(&io), name_(name) {}
  Object(Object&& other) noexcept : io_(other.io_), name_(std::exchange(other.name_, 0)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(io_, other.io_);
    std::swap(name_, other.name_);
    return *this;
  }
  ~Object() {
    if (name_ != 0) io_->release(name_);
  }
  explicit operator bool() const noexcept { return name_ != 0; }
  [[nodiscard]] IoObject get() const noexcept { return name_; }

 private:
  const IoKit* io_;
  IoObject name_;
};

Owned properties_of(const Frameworks& f, const Object& entry) {
  Cf found = nullptr;
  if (f.registry.properties_of(entry.get(), &found, nullptr, 0) != 0) found = nullptr;
  return {f.core, found};
}

template <class F>
int for_each_service(const Frameworks& f, const char* of_class, F&& visit) {
  IoObject list = 0;
  const int code = f.registry.find_services(main_port, f.registry.matching(of_class), &list);
  if (code != 0) return code;
  const Object all(f.registry, list);
  while (Object each = Object(f.registry, f.registry.next(list))) visit(each);
  return 0;
}

std::uint32_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < bytes.size() && i < sizeof n; ++i) {
    n |= std::uint32_t{bytes[i]} << (8 * i);
  }
  return n;
}

std::string text_in_bytes(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t b : bytes) {
    if (b == 0) break;
    text += static_cast<char>(b);
  }
  return text;
}

std::optional<PciCard> card_of(const Frameworks& f, const Object& accelerator) {
  IoObject up = 0;
  if (f.registry.parent_of(accelerator.get(), "IOService", &up) != 0) return std::nullopt;
  const Object parent(f.registry, up);
  const Owned all = properties_of(f, parent);
  const auto number = [&](const char* key) {
    return little_endian(bytes_of(f.core, find(f.core, all.get(), key)));
  };
  PciCard card;
  card.vendor = number("vendor-id");
  if (card.vendor == 0 || card.vendor > 0xFFFF) return std::nullopt;
  card.device = number("device-id");
  card.subsystem = number("subsystem-id") << 16 | number("subsystem-vendor-id");
  card.address = address_of(text_of(f.core, find(f.core, all.get(), "pcidebug")));
  card.model = text_in_bytes(bytes_of(f.core, find(f.core, all.get(), "model")));
  return card;
}

std::optional<std::uint64_t> vram_of(const CoreFoundation& core, Cf properties) {
  const auto megabytes = find_number(core, properties, "VRAM,totalMB");
  if (!megabytes || *megabytes <= 0) return std::nullopt;
  return scan::product(static_cast<std::uint64_t>(*megabytes), std::uint64_t{1} << 20);
}

Accelerator read_accelerator(const Frameworks& f, const Object& entry) {
  Accelerator a;
  if (f.registry.id_of(entry.get(), &a.id) != 0) a.id = 0;
  std::array<char, io_name> name{};
  if (f.registry.class_of(entry.get(), name.data()) == 0) a.of_class = name.data();
  const Owned all = properties_of(f, entry);
  a.driver = text_of(f.core, find(f.core, all.get(), "CFBundleIdentifier"));
  const auto cores = find_number(f.core, all.get(), "gpu-core-count");
  if (cores && *cores > 0 && *cores < 100'000) a.cores = static_cast<std::uint32_t>(*cores);
  a.vram_total = vram_of(f.core, all.get());
  a.now = read_statistics(f.core, find(f.core, all.get(), "PerformanceStatistics"));
  if (!a.is_agx()) a.card = card_of(f, entry);
  return a;
}

// Pairs of clock and voltage, 32 bits each. The clock is in Hz, since M4 possibly in kHz; 0 for the
// state in which the GPU is off.
std::vector<double> clocks_in(std::span<const std::uint8_t> pairs) {
  constexpr double least_hz = 1e7;
  std::vector<double> clocks;
  for (; pairs.size() >= 8; pairs = pairs.subspan(8)) {
    const double n = little_endian(pairs.first(4));
    if (n > 0) clocks.push_back(n >= least_hz ? n / 1e6 : n / 1e3);
  }
  return clocks;
}

constexpr double coldest = 0;
constexpr double hottest = 150;

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != name.npos;
}

}  // namespace

Owned make_text(const CoreFoundation& core, const char* text) {
  return {core, core.make_string(nullptr, text, utf8)};
}

Owned make_number(const CoreFoundation& core, std::int32_t value) {
  return {core, core.make_number(nullptr, signed_32, &value)};
}

Cf find(const CoreFoundation& core, Cf dictionary, const char* key) {
  if (!is_a(core, dictionary, core.dictionary_type)) return nullptr;
  const Owned name = make_text(core, key);
  return name ? core.find(dictionary, name.get()) : nullptr;
}

std::optional<std::int64_t> number_of(const CoreFoundation& core, Cf value) {
  std::int64_t out = 0;
  if (!is_a(core, value, core.number_type)) return std::nullopt;
  if (core.number_value(value, signed_64, &out) == 0) return std::nullopt;
  return out;
}

std::optional<std::int64_t> find_number(const CoreFoundation& core, Cf dictionary,
                                        const char* key) {
  return number_of(core, find(core, dictionary, key));
}

std::string text_of(const CoreFoundation& core, Cf value) {
  std::array<char, 128> out{};
  if (!is_a(core, value, core.string_type)) return {};
  const auto size = static_cast<CfIndex>(out.size());
  return core.copy_string(value, out.data(), size, utf8) != 0 ? out.data() : "";
}

CfIndex count_of(const CoreFoundation& core, Cf array) {
  return is_a(core, array, core.array_type) ? core.count(array) : 0;
}

std::span<const std::uint8_t> bytes_of(const CoreFoundation& core, Cf data) {
  if (!is_a(core, data, core.data_type)) return {};
  return {core.data_bytes(data), static_cast<std::size_t>(core.data_length(data))};
}

Statistics read_statistics(const CoreFoundation& core, Cf table) {
  Statistics s;
  s.is_reported = table != nullptr && core.type_of(table) == core.dictionary_type();
  if (!s.is_reported) return s;
  const TableReader t(core, table);
  s.busy_percent = t.percent(busy);
  s.renderer_percent = t.percent(renderer);
  s.tiler_percent = t.percent(tiler);
  s.in_use = t.bytes(in_use);
  s.allocated = t.bytes(allocated);
  s.vram_used = t.bytes(vram_used);
  s.vram_free = t.bytes(vram_free);
  return s;
}

Text<32> address_of(std::string_view pcidebug) {
  const std::string_view first = scan::take_until(pcidebug, ':');
  const std::string_view second = scan::take_until(pcidebug, ':');
  const std::string_view third = pcidebug.substr(0, pcidebug.find('('));
  const auto bus = scan::number<std::uint8_t>(first);
  const auto device = scan::number<std::uint8_t>(second);
  const auto function = scan::number<std::uint8_t>(third);
  if (!bus || !device || !function) return {};
  return normal_pci_address(
      compose({"0000:", hex(*bus, 2), ":", hex(*device, 2), ".", hex(*function)}));
}

Result<std::vector<Accelerator>> find_accelerators(const Frameworks& f) {
  std::vector<Accelerator> all;
  const int code = for_each_service(
      f, "IOAccelerator", [&](const Object& entry) { all.push_back(read_accelerator(f, entry)); });
  if (code == 0) return all;
  return Failure{
      Status::backend, Source::metal, {NativeDomain::kern, code}, "IOKit gave no list of GPUs"};
}

std::vector<double> find_clocks(const Frameworks& f) {
  std::vector<double> clocks;
  (void)for_each_service(f, "AppleARMIODevice", [&](const Object& entry) {
    std::array<char, io_name> name{};
    if (!clocks.empty() || f.registry.name_of(entry.get(), name.data()) != 0) return;
    if (std::string_view(name.data()) != "pmgr") return;
    const Owned all = properties_of(f, entry);
    clocks = clocks_in(bytes_of(f.core, find(f.core, all.get(), "voltage-states9")));
  });
  return clocks;
}

// M1 has "GPU MTR Temp Sensor1", "pACC MTR Temp Sensor2", "PMU tdie1", "gas gauge battery"; later
// chips "PMU TP1g", "PMU TP3s". Those of the CPU clusters (ACC) are not the GPU's.
Place place_of(std::string_view spelled) {
  std::string name(spelled);
  std::transform(name.begin(), name.end(), name.begin(), upper);
  for (const std::string_view other : {"BATTERY", "NAND", "GAS", "PACC", "EACC"}) {
    if (has(name, other)) return Place::elsewhere;
  }
  if (has(name, "GPU")) return Place::gpu;
  const bool is_chip = has(name, "TG") || has(name, "TPU") || has(name, "TDIE") ||
                       name.ends_with('G') || (name.starts_with("PMU TP") && name.ends_with('S'));
  return is_chip ? Place::chip : Place::elsewhere;
}

std::optional<double> highest(std::span<const Thermometer> all, Place where) {
  std::optional<double> most;
  for (const Thermometer& t : all) {
    const bool makes_sense = t.celsius > coldest && t.celsius < hottest;
    if (makes_sense && place_of(t.name) == where && !(most >= t.celsius)) most = t.celsius;
  }
  return most;
}

bool Sensors::open(const Frameworks& f) {
  close();
  if (!f.has_sensors) return false;
  f_ = &f;
  const Owned page = make_number(f.core, apple_vendor_page);
  const Owned usage = make_number(f.core, temperature_usage);
  const Owned page_key = make_text(f.core, "PrimaryUsagePage");
  const Owned usage_key = make_text(f.core, "PrimaryUsage");
  const std::array<Cf, 2> keys{page_key.get(), usage_key.get()};
  const std::array<Cf, 2> values{page.get(), usage.get()};
  const Owned matching{f.core, f.core.make_dictionary(nullptr, keys.data(), values.data(), 2,
                                                      f.core.key_calls, f.core.value_calls)};
  client_ = {f.core, f.sensors.make_client(nullptr)};
  if (!client_) return false;
  f.sensors.set_matching(client_.get(), matching.get());
  services_ = {f.core, f.sensors.copy_services(client_.get())};
  return static_cast<bool>(services_);
}

std::vector<Thermometer> Sensors::read() const {
  std::vector<Thermometer> all;
  if (!services_) return all;
  const Owned product = make_text(f_->core, "Product");
  const CfIndex count = count_of(f_->core, services_.get());
  for (CfIndex i = 0; i < count; ++i) {
    const Cf service = f_->core.at(services_.get(), i);
    if (service == nullptr) continue;
    const Owned name{f_->core, f_->sensors.copy_property(service, product.get())};
    std::string text = text_of(f_->core, name.get());
    if (place_of(text) == Place::elsewhere) continue;
    const Owned event{f_->core, f_->sensors.copy_event(service, temperature_event, 0, 0)};
    if (!event) continue;
    all.push_back({std::move(text), f_->sensors.value_of(event.get(), temperature_field)});
  }
  return all;
}

void Sensors::close() noexcept {
  services_ = {};
  client_ = {};
  f_ = nullptr;
}

}  // namespace hmn::metal
