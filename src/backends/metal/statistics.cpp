// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/statistics.hpp"

#include <array>
#include <span>

namespace hmn::metal {
namespace {

// Names that a value has had, the usual one first.
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
  // Below zero it is no value: some drivers subtract too much.
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
  s.is_told = table != nullptr && core.type_of(table) == core.dictionary_type();
  if (!s.is_told) return s;
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

}  // namespace hmn::metal
