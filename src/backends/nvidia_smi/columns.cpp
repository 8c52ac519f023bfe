// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/columns.hpp"

#include <algorithm>

#include "model/scan.hpp"

namespace hmn::nvidia_smi {
namespace {

// Lines in the order of gpu_column.
constexpr std::string_view gpu_columns =
    "index\n"
    "uuid gpu_uuid\n"
    "name gpu_name\n"
    "pci.bus_id gpu_bus_id\n"
    "pci.device_id\n"
    "pci.sub_device_id\n"
    "driver_version\n"
    "compute_cap\n"
    "mig.mode.current\n"
    "addressing_mode\n"
    "memory.total\n"
    "memory.used\n"
    "memory.free\n"
    "memory.reserved\n"
    "utilization.gpu\n"
    "utilization.memory\n"
    "utilization.encoder\n"
    "utilization.decoder\n"
    "temperature.gpu\n"
    "temperature.memory\n"
    "power.draw\n"
    "enforced.power.limit power.limit\n"
    "clocks.current.graphics clocks.gr\n"
    "clocks.current.memory clocks.mem\n"
    "fan.speed\n"
    "pcie.link.gen.current pcie.link.gen.gpucurrent\n"
    "pcie.link.width.current\n"
    "pstate\n"
    "clocks_event_reasons.active clocks_throttle_reasons.active\n"  // renamed in 535
    "clocks.current.sm\n"
    "clocks.current.video\n"
    "clocks.max.graphics\n"
    "clocks.max.memory\n"
    "power.default_limit\n"
    "power.min_limit\n"
    "power.max_limit\n"
    "ecc.errors.corrected.volatile.total\n"
    "ecc.errors.corrected.aggregate.total\n"
    "ecc.errors.uncorrected.volatile.total\n"
    "ecc.errors.uncorrected.aggregate.total\n";
static_assert(std::ranges::count(gpu_columns, '\n') == static_cast<int>(gpu_column::count));

// Lines in the order of app_column; the name comes last, since it may contain commas.
constexpr std::string_view app_columns =
    "gpu_uuid\n"
    "gpu_bus_id\n"
    "pid\n"
    "used_gpu_memory used_memory\n"
    "process_name name\n";
static_assert(std::ranges::count(app_columns, '\n') == static_cast<int>(app_column::count));

}  // namespace

std::string_view gpu_spellings() noexcept {
  return gpu_columns;
}
std::string_view app_spellings() noexcept {
  return app_columns;
}

column_choice::column_choice(std::string_view columns) : columns_(columns) {
  reset();
}

std::string column_choice::list() const {
  std::string names;
  for (std::string_view spellings : left_) {
    const std::string_view name = scan::take_word(spellings);
    if (name.empty()) continue;
    if (!names.empty()) names += ',';
    names += name;
  }
  return names;
}

bool column_choice::refuse(std::string_view name) {
  if (name.empty()) return false;
  for (std::string_view& spellings : left_) {
    std::string_view others = spellings;
    if (scan::take_word(others) != name) continue;
    spellings = others;
    return true;
  }
  return false;
}

void column_choice::reset() {
  left_.clear();
  for (std::string_view rest = columns_; !rest.empty();) left_.push_back(scan::take_line(rest));
}

bool column_choice::is_refused(std::size_t column) const {
  return left_[column].empty();
}

}  // namespace hmn::nvidia_smi
