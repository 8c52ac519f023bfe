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

bool is_a(const core_foundation& core, cf value, cf_type (*type)()) {
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

class table_reader {
 public:
  table_reader(const core_foundation& core, cf table) : core_(core), table_(table) {}

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

  const core_foundation& core_;
  cf table_;
};

class object {
 public:
  object(const io_kit& io, io_object name) noexcept : io_(&io), name_(name) {}
  object(object&& other) noexcept : io_(other.io_), name_(std::exchange(other.name_, 0)) {}
  object& operator=(object&& other) noexcept {
    std::swap(io_, other.io_);
    std::swap(name_, other.name_);
    return *this;
  }
  ~object() {
    if (name_ != 0) io_->release(name_);
  }
  explicit operator bool() const noexcept { return name_ != 0; }
  [[nodiscard]] io_object get() const noexcept { return name_; }

 private:
  const io_kit* io_;
  io_object name_;
};

owned properties_of(const frameworks& f, const object& entry) {
  cf found = nullptr;
  if (f.registry.properties_of(entry.get(), &found, nullptr, 0) != 0) found = nullptr;
  return {f.core, found};
}

template <class F>
int for_each_service(const frameworks& f, const char* of_class, F&& visit) {
  io_object list = 0;
  const int code = f.registry.find_services(main_port, f.registry.matching(of_class), &list);
  if (code != 0) return code;
  const object all(f.registry, list);
  while (object each = object(f.registry, f.registry.next(list))) visit(each);
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

std::optional<pci_card> card_of(const frameworks& f, const object& accelerator) {
  io_object up = 0;
  if (f.registry.parent_of(accelerator.get(), "IOService", &up) != 0) return std::nullopt;
  const object parent(f.registry, up);
  const owned all = properties_of(f, parent);
  const auto number = [&](const char* key) {
    return little_endian(bytes_of(f.core, find(f.core, all.get(), key)));
  };
  pci_card card;
  card.vendor = number("vendor-id");
  if (card.vendor == 0 || card.vendor > 0xFFFF) return std::nullopt;
  card.device = number("device-id");
  card.subsystem = number("subsystem-id") << 16 | number("subsystem-vendor-id");
  card.address = address_of(text_of(f.core, find(f.core, all.get(), "pcidebug")));
  card.model = text_in_bytes(bytes_of(f.core, find(f.core, all.get(), "model")));
  return card;
}

std::optional<std::uint64_t> vram_of(const core_foundation& core, cf properties) {
  const auto megabytes = find_number(core, properties, "VRAM,totalMB");
  if (!megabytes || *megabytes <= 0) return std::nullopt;
  return scan::product(static_cast<std::uint64_t>(*megabytes), std::uint64_t{1} << 20);
}

accelerator read_accelerator(const frameworks& f, const object& entry) {
  accelerator a;
  if (f.registry.id_of(entry.get(), &a.id) != 0) a.id = 0;
  std::array<char, io_name> name{};
  if (f.registry.class_of(entry.get(), name.data()) == 0) a.of_class = name.data();
  const owned all = properties_of(f, entry);
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

owned make_text(const core_foundation& core, const char* text) {
  return {core, core.make_string(nullptr, text, utf8)};
}

owned make_number(const core_foundation& core, std::int32_t value) {
  return {core, core.make_number(nullptr, signed_32, &value)};
}

cf find(const core_foundation& core, cf dictionary, const char* key) {
  if (!is_a(core, dictionary, core.dictionary_type)) return nullptr;
  const owned name = make_text(core, key);
  return name ? core.find(dictionary, name.get()) : nullptr;
}

std::optional<std::int64_t> number_of(const core_foundation& core, cf value) {
  std::int64_t out = 0;
  if (!is_a(core, value, core.number_type)) return std::nullopt;
  if (core.number_value(value, signed_64, &out) == 0) return std::nullopt;
  return out;
}

std::optional<std::int64_t> find_number(const core_foundation& core, cf dictionary,
                                        const char* key) {
  return number_of(core, find(core, dictionary, key));
}

std::string text_of(const core_foundation& core, cf value) {
  std::array<char, 128> out{};
  if (!is_a(core, value, core.string_type)) return {};
  const auto size = static_cast<cf_index>(out.size());
  return core.copy_string(value, out.data(), size, utf8) != 0 ? out.data() : "";
}

cf_index count_of(const core_foundation& core, cf array) {
  return is_a(core, array, core.array_type) ? core.count(array) : 0;
}

std::span<const std::uint8_t> bytes_of(const core_foundation& core, cf data) {
  if (!is_a(core, data, core.data_type)) return {};
  return {core.data_bytes(data), static_cast<std::size_t>(core.data_length(data))};
}

statistics read_statistics(const core_foundation& core, cf table) {
  statistics s;
  s.is_reported = table != nullptr && core.type_of(table) == core.dictionary_type();
  if (!s.is_reported) return s;
  const table_reader t(core, table);
  s.busy_percent = t.percent(busy);
  s.renderer_percent = t.percent(renderer);
  s.tiler_percent = t.percent(tiler);
  s.in_use = t.bytes(in_use);
  s.allocated = t.bytes(allocated);
  s.vram_used = t.bytes(vram_used);
  s.vram_free = t.bytes(vram_free);
  return s;
}

text<32> address_of(std::string_view pcidebug) {
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

result<std::vector<accelerator>> find_accelerators(const frameworks& f) {
  std::vector<accelerator> all;
  const int code = for_each_service(
      f, "IOAccelerator", [&](const object& entry) { all.push_back(read_accelerator(f, entry)); });
  if (code == 0) return all;
  return failure{
      status::backend, source::metal, {native_domain::kern, code}, "IOKit gave no list of GPUs"};
}

std::vector<double> find_clocks(const frameworks& f) {
  std::vector<double> clocks;
  (void)for_each_service(f, "AppleARMIODevice", [&](const object& entry) {
    std::array<char, io_name> name{};
    if (!clocks.empty() || f.registry.name_of(entry.get(), name.data()) != 0) return;
    if (std::string_view(name.data()) != "pmgr") return;
    const owned all = properties_of(f, entry);
    clocks = clocks_in(bytes_of(f.core, find(f.core, all.get(), "voltage-states9")));
  });
  return clocks;
}

// M1 has "GPU MTR Temp Sensor1", "pACC MTR Temp Sensor2", "PMU tdie1", "gas gauge battery"; later
// chips "PMU TP1g", "PMU TP3s". Those of the CPU clusters (ACC) are not the GPU's.
place place_of(std::string_view spelled) {
  std::string name(spelled);
  std::transform(name.begin(), name.end(), name.begin(), upper);
  for (const std::string_view other : {"BATTERY", "NAND", "GAS", "PACC", "EACC"}) {
    if (has(name, other)) return place::elsewhere;
  }
  if (has(name, "GPU")) return place::gpu;
  const bool is_chip = has(name, "TG") || has(name, "TPU") || has(name, "TDIE") ||
                       name.ends_with('G') || (name.starts_with("PMU TP") && name.ends_with('S'));
  return is_chip ? place::chip : place::elsewhere;
}

std::optional<double> highest(std::span<const thermometer> all, place where) {
  std::optional<double> most;
  for (const thermometer& t : all) {
    const bool makes_sense = t.celsius > coldest && t.celsius < hottest;
    if (makes_sense && place_of(t.name) == where && !(most >= t.celsius)) most = t.celsius;
  }
  return most;
}

bool sensors::open(const frameworks& f) {
  close();
  if (!f.has_sensors) return false;
  f_ = &f;
  const owned page = make_number(f.core, apple_vendor_page);
  const owned usage = make_number(f.core, temperature_usage);
  const owned page_key = make_text(f.core, "PrimaryUsagePage");
  const owned usage_key = make_text(f.core, "PrimaryUsage");
  const std::array<cf, 2> keys{page_key.get(), usage_key.get()};
  const std::array<cf, 2> values{page.get(), usage.get()};
  const owned matching{f.core, f.core.make_dictionary(nullptr, keys.data(), values.data(), 2,
                                                      f.core.key_calls, f.core.value_calls)};
  client_ = {f.core, f.sensors.make_client(nullptr)};
  if (!client_) return false;
  f.sensors.set_matching(client_.get(), matching.get());
  services_ = {f.core, f.sensors.copy_services(client_.get())};
  return static_cast<bool>(services_);
}

std::vector<thermometer> sensors::read() const {
  std::vector<thermometer> all;
  if (!services_) return all;
  const owned product = make_text(f_->core, "Product");
  const cf_index count = count_of(f_->core, services_.get());
  for (cf_index i = 0; i < count; ++i) {
    const cf service = f_->core.at(services_.get(), i);
    if (service == nullptr) continue;
    const owned name{f_->core, f_->sensors.copy_property(service, product.get())};
    std::string text = text_of(f_->core, name.get());
    if (place_of(text) == place::elsewhere) continue;
    const owned event{f_->core, f_->sensors.copy_event(service, temperature_event, 0, 0)};
    if (!event) continue;
    all.push_back({std::move(text), f_->sensors.value_of(event.get(), temperature_field)});
  }
  return all;
}

void sensors::close() noexcept {
  services_ = {};
  client_ = {};
  f_ = nullptr;
}

}  // namespace hmn::metal
