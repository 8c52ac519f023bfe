// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GPUs in the registry of IOKit. Nothing here wakes one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/frameworks.hpp"
#include "backends/metal/values.hpp"
#include "model/failure.hpp"
#include "model/text.hpp"

namespace hmn::metal {

// Counters of a GPU's driver: the PerformanceStatistics of its registry entry.

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

  // Whether it is an Apple SoC's; the device of a virtual machine is no AGX.
  [[nodiscard]] bool is_agx() const { return of_class.starts_with("AGX"); }
};

result<std::vector<accelerator>> find_accelerators(const frameworks& f);

// Clocks of an Apple GPU in MHz, ascending; empty: unknown.
std::vector<double> find_clocks(const frameworks& f);

// Parses "1:0:0", the `pcidebug` of an entry: bus, device, function. Empty: malformed.
text<32> address_of(std::string_view pcidebug);

}  // namespace hmn::metal
