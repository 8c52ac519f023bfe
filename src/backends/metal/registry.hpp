// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GPUs in the registry of IOKit. Nothing here wakes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/metal/frameworks.hpp"
#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn::metal {

// Values of CoreFoundation. One of an unexpected type counts as missing.

// Owned reference, released at the end.
class OwnedRef {
 public:
  OwnedRef() noexcept = default;
  OwnedRef(const CoreFoundation& core, Cf value) noexcept : core_(&core), value_(value) {}
  OwnedRef(OwnedRef&& other) noexcept
      : core_(other.core_), value_(std::exchange(other.value_, nullptr)) {}
  OwnedRef& operator=(OwnedRef&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~OwnedRef() {
    if (value_ != nullptr) core_->release(value_);
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] Cf get() const noexcept { return value_; }

 private:
  const CoreFoundation* core_ = nullptr;
  Cf value_ = nullptr;
};

OwnedRef make_text(const CoreFoundation& core, const char* text);
OwnedRef make_number(const CoreFoundation& core, std::int32_t value);

// Returns null if there is no such key, or `dictionary` is none.
Cf find(const CoreFoundation& core, Cf dictionary, const char* key);
std::optional<std::int64_t> get_number(const CoreFoundation& core, Cf value);
std::optional<std::int64_t> find_number(const CoreFoundation& core, Cf dictionary, const char* key);
// Returns "" if there is no text, or it is longer than 127 bytes.
std::string get_text(const CoreFoundation& core, Cf value);
CfIndex get_count(const CoreFoundation& core, Cf array);
std::span<const std::uint8_t> get_bytes(const CoreFoundation& core, Cf data);

// A GPU driver's counters: the PerformanceStatistics of its registry entry.
struct Statistics {
  bool is_reported = false;  // the table exists
  std::optional<double> busy_percent;
  std::optional<double> renderer_percent;
  std::optional<double> tiler_percent;
  std::optional<std::uint64_t> in_use;     // of host memory
  std::optional<std::uint64_t> allocated;  // of host memory
  std::optional<std::uint64_t> vram_used;
  std::optional<std::uint64_t> vram_free;
};

Statistics read_statistics(const CoreFoundation& core, Cf table);

// PCI card of an accelerator. Apple's SoCs have none.
struct PciCard {
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem = 0;  // 0: unknown
  Text<32> address;             // empty: unknown
  std::string model;
};

struct Accelerator {
  std::uint64_t id = 0;    // registry entry, constant until reboot
  std::string class_name;  // "AGXAcceleratorG14X"
  std::string driver;      // bundle: "com.apple.AGXG14X"
  std::optional<std::uint32_t> cores;
  std::optional<std::uint64_t> vram_total;
  std::optional<PciCard> card;
  Statistics statistics;

  // Whether it is the GPU of an Apple SoC; a virtual machine's is no AGX.
  [[nodiscard]] bool is_agx() const { return class_name.starts_with("AGX"); }
};

Result<std::vector<Accelerator>> find_accelerators(const Frameworks& frameworks);

// Clocks of an Apple GPU in MHz, ascending; empty: unknown.
std::vector<double> find_clocks(const Frameworks& frameworks);

// Parses "1:0:0", the `pcidebug` of an entry: bus, device, function. Empty: malformed.
Text<32> parse_address(std::string_view pcidebug);

struct Thermometer {
  std::string name;
  double celsius = 0;
};

// Which sensors count as the GPU's, by name; the chip's if the GPU has none.
enum class SensorLocation { gpu, chip, elsewhere };
SensorLocation classify_sensor(std::string_view name);

// Maximum of one place; absent if none has a valid value.
std::optional<double> find_highest(std::span<const Thermometer> all, SensorLocation location);

// Thermometers of an Apple SoC, readable by any user.
class Sensors {
 public:
  bool open(const Frameworks& frameworks);
  [[nodiscard]] std::vector<Thermometer> read() const;
  void close() noexcept;

 private:
  const Frameworks* frameworks_ = nullptr;
  OwnedRef client_;
  OwnedRef services_;
};

}  // namespace hmn::metal
