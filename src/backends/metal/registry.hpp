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
class owned {
 public:
  owned() noexcept = default;
  owned(const core_foundation& core, cf value) noexcept : core_(&core), value_(value) {}
  owned(owned&& other) noexcept
      : core_(other.core_), value_(std::exchange(other.value_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~owned() {
    if (value_ != nullptr) core_->release(value_);
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] cf get() const noexcept { return value_; }

 private:
  const core_foundation* core_ = nullptr;
  cf value_ = nullptr;
};

owned make_text(const core_foundation& core, const char* text);
owned make_number(const core_foundation& core, std::int32_t value);

// Returns null if there is no such key, or `dictionary` is none.
cf find(const core_foundation& core, cf dictionary, const char* key);
std::optional<std::int64_t> number_of(const core_foundation& core, cf value);
std::optional<std::int64_t> find_number(const core_foundation& core, cf dictionary,
                                        const char* key);
// Returns "" if there is no text, or it is longer than 127 bytes.
std::string text_of(const core_foundation& core, cf value);
cf_index count_of(const core_foundation& core, cf array);
std::span<const std::uint8_t> bytes_of(const core_foundation& core, cf data);

// A GPU driver's counters: the PerformanceStatistics of its registry entry.
struct statistics {
  bool is_reported = false;  // the table exists
  std::optional<double> busy_percent;
  std::optional<double> renderer_percent;
  std::optional<double> tiler_percent;
  std::optional<std::uint64_t> in_use;     // of host memory
  std::optional<std::uint64_t> allocated;  // of host memory
  std::optional<std::uint64_t> vram_used;
  std::optional<std::uint64_t> vram_free;
};

statistics read_statistics(const core_foundation& core, cf table);

// PCI card of an accelerator. Apple's SoCs have none.
struct pci_card {
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem = 0;  // 0: unknown
  text<32> address;             // empty: unknown
  std::string model;
};

struct accelerator {
  std::uint64_t id = 0;  // registry entry, constant until reboot
  std::string of_class;  // "AGXAcceleratorG14X"
  std::string driver;    // bundle: "com.apple.AGXG14X"
  std::optional<std::uint32_t> cores;
  std::optional<std::uint64_t> vram_total;
  std::optional<pci_card> card;
  statistics now;

  // Whether it is the GPU of an Apple SoC; a virtual machine's is no AGX.
  [[nodiscard]] bool is_agx() const { return of_class.starts_with("AGX"); }
};

result<std::vector<accelerator>> find_accelerators(const frameworks& f);

// Clocks of an Apple GPU in MHz, ascending; empty: unknown.
std::vector<double> find_clocks(const frameworks& f);

// Parses "1:0:0", the `pcidebug` of an entry: bus, device, function. Empty: malformed.
text<32> address_of(std::string_view pcidebug);

struct thermometer {
  std::string name;
  double celsius = 0;
};

// Which sensors count as the GPU's, by name; the chip's if the GPU has none.
enum class place { gpu, chip, elsewhere };
place place_of(std::string_view name);

// Maximum of one place; absent if none has a valid value.
std::optional<double> highest(std::span<const thermometer> all, place where);

// Thermometers of an Apple SoC, readable by any user.
class sensors {
 public:
  bool open(const frameworks& f);
  [[nodiscard]] std::vector<thermometer> read() const;
  void close() noexcept;

 private:
  const frameworks* f_ = nullptr;
  owned client_;
  owned services_;
};

}  // namespace hmn::metal
