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

bool has_type(const CoreFoundation& core, Cf value, CfType (*type)()) {
  return value != nullptr && core.get_type(value) == type();
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
    const auto n = find_first(names);
    return n && *n <= 100 ? std::optional(static_cast<double>(*n)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> bytes(std::span<const char* const> names) const {
    const auto n = find_first(names);
    return n ? std::optional(static_cast<std::uint64_t>(*n)) : std::nullopt;
  }

 private:
  // Negative values are invalid: some drivers subtract too much.
  [[nodiscard]] std::optional<std::int64_t> find_first(std::span<const char* const> names) const {
    for (const char* name : names) {
      const auto n = find_number(core_, table_, name);
      if (n && *n >= 0) return n;
    }
    return std::nullopt;
  }

  const CoreFoundation& core_;
  Cf table_;
};

class ObjectRef {
 public:
  ObjectRef(const IoKit& io, IoObject handle) noexcept : io_(&io), handle_(handle) {}
  ObjectRef(ObjectRef&& other) noexcept
      : io_(other.io_), handle_(std::exchange(other.handle_, 0)) {}
  ObjectRef& operator=(ObjectRef&& other) noexcept {
    std::swap(io_, other.io_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~ObjectRef() {
    if (handle_ != 0) io_->release(handle_);
  }
  explicit operator bool() const noexcept { return handle_ != 0; }
  [[nodiscard]] IoObject get() const noexcept { return handle_; }

 private:
  const IoKit* io_;
  IoObject handle_;
};

OwnedRef copy_properties(const Frameworks& frameworks, const ObjectRef& entry) {
  Cf properties = nullptr;
  if (frameworks.registry.copy_properties(entry.get(), &properties, nullptr, 0) != 0)
    properties = nullptr;
  return {frameworks.core, properties};
}

template <class F>
int for_each_service(const Frameworks& frameworks, const char* class_name, F&& visit) {
  IoObject list = 0;
  const int code = frameworks.registry.find_services(
      main_port, frameworks.registry.make_matching(class_name), &list);
  if (code != 0) return code;
  const ObjectRef list_owner(frameworks.registry, list);
  while (ObjectRef service = ObjectRef(frameworks.registry, frameworks.registry.next(list)))
    visit(service);
  return 0;
}

std::uint32_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < sizeof value; ++i) {
    value |= std::uint32_t{bytes[i]} << (8 * i);
  }
  return value;
}

std::string text_in_bytes(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    if (byte == 0) break;
    text += static_cast<char>(byte);
  }
  return text;
}

std::optional<PciCard> read_card(const Frameworks& frameworks, const ObjectRef& accelerator) {
  IoObject parent_handle = 0;
  if (frameworks.registry.get_parent(accelerator.get(), "IOService", &parent_handle) != 0)
    return std::nullopt;
  const ObjectRef parent(frameworks.registry, parent_handle);
  const OwnedRef properties = copy_properties(frameworks, parent);
  const auto number = [&](const char* key) {
    return little_endian(get_bytes(frameworks.core, find(frameworks.core, properties.get(), key)));
  };
  PciCard card;
  card.vendor = number("vendor-id");
  if (card.vendor == 0 || card.vendor > 0xFFFF) return std::nullopt;
  card.device = number("device-id");
  card.subsystem = number("subsystem-id") << 16 | number("subsystem-vendor-id");
  card.address =
      parse_address(get_text(frameworks.core, find(frameworks.core, properties.get(), "pcidebug")));
  card.model =
      text_in_bytes(get_bytes(frameworks.core, find(frameworks.core, properties.get(), "model")));
  return card;
}

std::optional<std::uint64_t> read_vram_total(const CoreFoundation& core, Cf properties) {
  const auto megabytes = find_number(core, properties, "VRAM,totalMB");
  if (!megabytes || *megabytes <= 0) return std::nullopt;
  return scan::checked_multiply(static_cast<std::uint64_t>(*megabytes), std::uint64_t{1} << 20);
}

Accelerator read_accelerator(const Frameworks& frameworks, const ObjectRef& entry) {
  Accelerator accelerator;
  if (frameworks.registry.get_id(entry.get(), &accelerator.id) != 0) accelerator.id = 0;
  std::array<char, io_name_size> name{};
  if (frameworks.registry.get_class(entry.get(), name.data()) == 0)
    accelerator.class_name = name.data();
  const OwnedRef properties = copy_properties(frameworks, entry);
  accelerator.driver =
      get_text(frameworks.core, find(frameworks.core, properties.get(), "CFBundleIdentifier"));
  const auto cores = find_number(frameworks.core, properties.get(), "gpu-core-count");
  if (cores && *cores > 0 && *cores < 100'000)
    accelerator.cores = static_cast<std::uint32_t>(*cores);
  accelerator.vram_total = read_vram_total(frameworks.core, properties.get());
  accelerator.statistics = read_statistics(
      frameworks.core, find(frameworks.core, properties.get(), "PerformanceStatistics"));
  if (!accelerator.is_agx()) accelerator.card = read_card(frameworks, entry);
  return accelerator;
}

// Pairs of clock and voltage, 32 bits each. The clock is in Hz, since M4 possibly in kHz; 0 for the
// state in which the GPU is off.
std::vector<double> parse_clocks(std::span<const std::uint8_t> pairs) {
  constexpr double min_hz = 1e7;
  std::vector<double> clocks;
  for (; pairs.size() >= 8; pairs = pairs.subspan(8)) {
    const double value = little_endian(pairs.first(4));
    if (value > 0) clocks.push_back(value >= min_hz ? value / 1e6 : value / 1e3);
  }
  return clocks;
}

constexpr double coldest = 0;
constexpr double hottest = 150;

char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != name.npos;
}

}  // namespace

OwnedRef make_text(const CoreFoundation& core, const char* text) {
  return {core, core.make_string(nullptr, text, utf8)};
}

OwnedRef make_number(const CoreFoundation& core, std::int32_t value) {
  return {core, core.make_number(nullptr, signed_32, &value)};
}

Cf find(const CoreFoundation& core, Cf dictionary, const char* key) {
  if (!has_type(core, dictionary, core.dictionary_type)) return nullptr;
  const OwnedRef name = make_text(core, key);
  return name ? core.find(dictionary, name.get()) : nullptr;
}

std::optional<std::int64_t> get_number(const CoreFoundation& core, Cf value) {
  std::int64_t number = 0;
  if (!has_type(core, value, core.number_type)) return std::nullopt;
  if (core.number_value(value, signed_64, &number) == 0) return std::nullopt;
  return number;
}

std::optional<std::int64_t> find_number(const CoreFoundation& core, Cf dictionary,
                                        const char* key) {
  return get_number(core, find(core, dictionary, key));
}

std::string get_text(const CoreFoundation& core, Cf value) {
  std::array<char, 128> buffer{};
  if (!has_type(core, value, core.string_type)) return {};
  const auto size = static_cast<CfIndex>(buffer.size());
  return core.copy_string(value, buffer.data(), size, utf8) != 0 ? buffer.data() : "";
}

CfIndex get_count(const CoreFoundation& core, Cf array) {
  return has_type(core, array, core.array_type) ? core.count(array) : 0;
}

std::span<const std::uint8_t> get_bytes(const CoreFoundation& core, Cf data) {
  if (!has_type(core, data, core.data_type)) return {};
  return {core.data_bytes(data), static_cast<std::size_t>(core.data_length(data))};
}

Statistics read_statistics(const CoreFoundation& core, Cf table) {
  Statistics statistics;
  statistics.is_reported = table != nullptr && core.get_type(table) == core.dictionary_type();
  if (!statistics.is_reported) return statistics;
  const TableReader reader(core, table);
  statistics.busy_percent = reader.percent(busy);
  statistics.renderer_percent = reader.percent(renderer);
  statistics.tiler_percent = reader.percent(tiler);
  statistics.in_use = reader.bytes(in_use);
  statistics.allocated = reader.bytes(allocated);
  statistics.vram_used = reader.bytes(vram_used);
  statistics.vram_free = reader.bytes(vram_free);
  return statistics;
}

Text<32> parse_address(std::string_view pcidebug) {
  const std::string_view first = scan::take_until(pcidebug, ':');
  const std::string_view second = scan::take_until(pcidebug, ':');
  const std::string_view third = pcidebug.substr(0, pcidebug.find('('));
  const auto bus = scan::parse_number<std::uint8_t>(first);
  const auto device = scan::parse_number<std::uint8_t>(second);
  const auto function = scan::parse_number<std::uint8_t>(third);
  if (!bus || !device || !function) return {};
  return normalize_pci_address(
      compose({"0000:", hex(*bus, 2), ":", hex(*device, 2), ".", hex(*function)}));
}

Result<std::vector<Accelerator>> find_accelerators(const Frameworks& frameworks) {
  std::vector<Accelerator> all;
  const int code = for_each_service(frameworks, "IOAccelerator", [&](const ObjectRef& entry) {
    all.push_back(read_accelerator(frameworks, entry));
  });
  if (code == 0) return all;
  return Failure{
      Status::backend, Source::metal, {NativeDomain::kern, code}, "IOKit gave no list of GPUs"};
}

std::vector<double> find_clocks(const Frameworks& frameworks) {
  std::vector<double> clocks;
  (void)for_each_service(frameworks, "AppleARMIODevice", [&](const ObjectRef& entry) {
    std::array<char, io_name_size> name{};
    if (!clocks.empty() || frameworks.registry.get_name(entry.get(), name.data()) != 0) return;
    if (std::string_view(name.data()) != "pmgr") return;
    const OwnedRef properties = copy_properties(frameworks, entry);
    clocks = parse_clocks(
        get_bytes(frameworks.core, find(frameworks.core, properties.get(), "voltage-states9")));
  });
  return clocks;
}

// M1 has "GPU MTR Temp Sensor1", "pACC MTR Temp Sensor2", "PMU tdie1", "gas gauge battery"; later
// chips "PMU TP1g", "PMU TP3s". Those of the CPU clusters (ACC) are not the GPU's.
SensorLocation classify_sensor(std::string_view sensor_name) {
  std::string name(sensor_name);
  std::transform(name.begin(), name.end(), name.begin(), to_upper);
  for (const std::string_view excluded : {"BATTERY", "NAND", "GAS", "PACC", "EACC"}) {
    if (contains(name, excluded)) return SensorLocation::elsewhere;
  }
  if (contains(name, "GPU")) return SensorLocation::gpu;
  const bool is_chip = contains(name, "TG") || contains(name, "TPU") || contains(name, "TDIE") ||
                       name.ends_with('G') || (name.starts_with("PMU TP") && name.ends_with('S'));
  return is_chip ? SensorLocation::chip : SensorLocation::elsewhere;
}

std::optional<double> find_highest(std::span<const Thermometer> all, SensorLocation location) {
  std::optional<double> max_celsius;
  for (const Thermometer& thermometer : all) {
    const bool is_plausible = thermometer.celsius > coldest && thermometer.celsius < hottest;
    if (is_plausible && classify_sensor(thermometer.name) == location &&
        !(max_celsius >= thermometer.celsius))
      max_celsius = thermometer.celsius;
  }
  return max_celsius;
}

bool Sensors::open(const Frameworks& frameworks) {
  close();
  if (!frameworks.has_sensors) return false;
  frameworks_ = &frameworks;
  const OwnedRef page = make_number(frameworks.core, apple_vendor_page);
  const OwnedRef usage = make_number(frameworks.core, temperature_usage);
  const OwnedRef page_key = make_text(frameworks.core, "PrimaryUsagePage");
  const OwnedRef usage_key = make_text(frameworks.core, "PrimaryUsage");
  const std::array<Cf, 2> keys{page_key.get(), usage_key.get()};
  const std::array<Cf, 2> values{page.get(), usage.get()};
  const OwnedRef matching{
      frameworks.core,
      frameworks.core.make_dictionary(nullptr, keys.data(), values.data(), 2,
                                      frameworks.core.key_calls, frameworks.core.value_calls)};
  client_ = {frameworks.core, frameworks.sensors.make_client(nullptr)};
  if (!client_) return false;
  frameworks.sensors.set_matching(client_.get(), matching.get());
  services_ = {frameworks.core, frameworks.sensors.copy_services(client_.get())};
  return static_cast<bool>(services_);
}

std::vector<Thermometer> Sensors::read() const {
  std::vector<Thermometer> all;
  if (!services_) return all;
  const OwnedRef product = make_text(frameworks_->core, "Product");
  const CfIndex count = get_count(frameworks_->core, services_.get());
  for (CfIndex i = 0; i < count; ++i) {
    const Cf service = frameworks_->core.get_item(services_.get(), i);
    if (service == nullptr) continue;
    const OwnedRef name{frameworks_->core,
                        frameworks_->sensors.copy_property(service, product.get())};
    std::string text = get_text(frameworks_->core, name.get());
    if (classify_sensor(text) == SensorLocation::elsewhere) continue;
    const OwnedRef event{frameworks_->core,
                         frameworks_->sensors.copy_event(service, temperature_event, 0, 0)};
    if (!event) continue;
    all.push_back(
        {std::move(text), frameworks_->sensors.get_value(event.get(), temperature_field)});
  }
  return all;
}

void Sensors::close() noexcept {
  services_ = {};
  client_ = {};
  frameworks_ = nullptr;
}

}  // namespace hmn::metal
