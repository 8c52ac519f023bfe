// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/registry.hpp"

#include <array>
#include <span>

#include "model/compose.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"

namespace hmn::metal {
namespace {

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

}  // namespace

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

namespace {

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

// Returns 0, or the error code.
template <class F>
int for_each_service(const frameworks& f, const char* of_class, F&& visit) {
  io_object list = 0;
  const int code = f.registry.find_services(main_port, f.registry.matching(of_class), &list);
  if (code != 0) return code;
  const object all(f.registry, list);
  while (object each = object(f.registry, f.registry.next(list))) visit(each);
  return 0;
}

// Reads a number from bytes, lowest first.
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

}  // namespace

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

}  // namespace hmn::metal
