// SPDX-License-Identifier: MIT OR Apache-2.0
//
// GPUs in the registry of IOKit. None of this wakes one.
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

// What a GPU's driver counts: the PerformanceStatistics of its entry in the registry.

struct statistics {
  bool is_told = false;  // there is such a table
  std::optional<double> busy_percent;
  std::optional<double> renderer_percent;
  std::optional<double> tiler_percent;
  std::optional<std::uint64_t> in_use;     // of the machine's memory
  std::optional<std::uint64_t> allocated;  // likewise
  std::optional<std::uint64_t> vram_used;
  std::optional<std::uint64_t> vram_free;
};

statistics read_statistics(const core_foundation& core, cf table);

// The card that an accelerator is on. Apple's SoCs have none.
struct pci_card {
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem = 0;  // 0: not told
  text<32> address;             // empty: not told
  std::string model;
};

struct accelerator {
  std::uint64_t id = 0;  // of its entry, for as long as the system runs
  std::string of_class;  // "AGXAcceleratorG14X"
  std::string driver;    // its bundle: "com.apple.AGXG14X"
  std::optional<std::uint32_t> cores;
  std::optional<std::uint64_t> vram_total;
  std::optional<pci_card> card;
  statistics now;

  // Of an Apple SoC; what a virtual machine has in its place is no AGX.
  [[nodiscard]] bool is_agx() const { return of_class.starts_with("AGX"); }
};

result<std::vector<accelerator>> find_accelerators(const frameworks& f);

// The clocks that an Apple GPU runs at, in MHz, the lowest first; empty: not told.
std::vector<double> find_clocks(const frameworks& f);

// "1:0:0", the `pcidebug` of an entry: bus, device, function. Empty: it is no such text.
text<32> address_of(std::string_view pcidebug);

}  // namespace hmn::metal
