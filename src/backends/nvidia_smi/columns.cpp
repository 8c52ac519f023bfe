// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/columns.hpp"

#include <algorithm>

namespace hmn::nvidia_smi {
namespace {

constexpr auto gpu_count = static_cast<std::size_t>(gpu_column::count);
constexpr auto app_count = static_cast<std::size_t>(app_column::count);

// Rows in the order of gpu_column.
constexpr std::array<spellings, gpu_count> gpu_columns = {{
    {{"index"}},
    {{"uuid", "gpu_uuid"}},
    {{"name", "gpu_name"}},
    {{"pci.bus_id", "gpu_bus_id"}},
    {{"pci.device_id"}},
    {{"pci.sub_device_id"}},
    {{"driver_version"}},
    {{"compute_cap"}},
    {{"mig.mode.current"}},
    {{"addressing_mode"}},
    {{"memory.total"}},
    {{"memory.used"}},
    {{"memory.free"}},
    {{"memory.reserved"}},
    {{"utilization.gpu"}},
    {{"utilization.memory"}},
    {{"utilization.encoder"}},
    {{"utilization.decoder"}},
    {{"temperature.gpu"}},
    {{"temperature.memory"}},
    {{"power.draw"}},
    {{"enforced.power.limit", "power.limit"}},
    {{"clocks.current.graphics", "clocks.gr"}},
    {{"clocks.current.memory", "clocks.mem"}},
    {{"fan.speed"}},
    {{"pcie.link.gen.current", "pcie.link.gen.gpucurrent"}},
    {{"pcie.link.width.current"}},
    {{"pstate"}},
    {{"clocks_event_reasons.active", "clocks_throttle_reasons.active"}},  // renamed in 535
    {{"clocks.current.sm"}},
    {{"clocks.current.video"}},
    {{"clocks.max.graphics"}},
    {{"clocks.max.memory"}},
    {{"power.default_limit"}},
    {{"power.min_limit"}},
    {{"power.max_limit"}},
    {{"ecc.errors.corrected.volatile.total"}},
    {{"ecc.errors.corrected.aggregate.total"}},
    {{"ecc.errors.uncorrected.volatile.total"}},
    {{"ecc.errors.uncorrected.aggregate.total"}},
}};

// Rows in the order of app_column; the name comes last, since it may contain commas.
constexpr std::array<spellings, app_count> app_columns = {{
    {{"gpu_uuid"}},
    {{"gpu_bus_id"}},
    {{"pid"}},
    {{"used_gpu_memory", "used_memory"}},
    {{"process_name", "name"}},
}};

std::string_view nth(const spellings& s, std::size_t n) {
  return n < s.names.size() ? s.names[n].view() : std::string_view();
}

}  // namespace

std::span<const spellings> gpu_spellings() noexcept {
  return gpu_columns;
}
std::span<const spellings> app_spellings() noexcept {
  return app_columns;
}

column_choice::column_choice(std::span<const spellings> columns)
    : columns_(columns), choice_(columns.size(), 0) {}

std::string column_choice::list() const {
  std::string names;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string_view name = nth(columns_[i], choice_[i]);
    if (name.empty()) continue;
    if (!names.empty()) names += ',';
    names += name;
  }
  return names;
}

bool column_choice::refuse(std::string_view name) {
  if (name.empty()) return false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (nth(columns_[i], choice_[i]) != name) continue;
    ++choice_[i];
    return true;
  }
  return false;
}

void column_choice::reset() {
  std::fill(choice_.begin(), choice_.end(), 0);
}

bool column_choice::is_refused(std::size_t column) const {
  return nth(columns_[column], choice_[column]).empty();
}

}  // namespace hmn::nvidia_smi
