// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/collector.hpp"

#include <algorithm>
#include <string>

#include "cli/exporter/device_labels.hpp"
#include "cli/exporter/device_values.hpp"
#include "cli/exporter/families.hpp"
#include "cli/exporter/missing_values.hpp"
#include "cli/measure/by_device.hpp"
#include "cli/measure/no_gpu.hpp"
#include "cli/text/diagnostics.hpp"

namespace hmn::cli {
namespace {

void collect_usages(const hypomnesis::snapshot_values& from, const hypomnesis::device& device,
                    const device_labels& with, const partial_lists& unlisted, samples& to) {
  std::optional<std::uint64_t> evicted;
  std::optional<std::uint64_t> host_pool;
  std::uint64_t count = 0;
  for (const auto& each : part_of(from.usages, device.index)) {
    ++count;
    if (each.evicted_bytes) evicted = evicted.value_or(0) + *each.evicted_bytes;
    if (each.host_pool_bytes) host_pool = host_pool.value_or(0) + *each.host_pool_bytes;
  }
  to.add(families::evicted, with.brief(), evicted);
  to.add(families::host_pool, with.brief(), host_pool);
  if (!unlisted.lacks(device.index)) to.add(families::processes, with.brief(), sample_value(count));
}

void collect_host(const hypomnesis::system_memory& from, samples& to) {
  const label_set none;
  to.add(families::host_size, none, from.total_bytes);
  to.add(families::host_available, none, from.available_bytes);
  to.add(families::host_usable, none, from.usable_bytes);
  to.add(families::host_swap_size, none, from.swap_total_bytes);
  to.add(families::host_swap_free, none, from.swap_free_bytes);
  to.add(families::host_stall, none, from.stall_percent, from_percent);
}

void collect_snapshot(const hypomnesis::snapshot_values& from, samples& to) {
  const label_set none;
  const bool is_unknown =
      from.devices.empty() &&
      std::any_of(from.diagnostics.begin(), from.diagnostics.end(), hides_devices);
  if (!is_unknown) {
    const auto state_of = [&](std::uint32_t index) {
      return find_device_in(from.devices, index, [](const auto& one) { return one.device.index; })
          ->device.state;
    };
    to.add(families::devices, none, sample_value(std::uint64_t(from.devices.size())));
    to.add(families::devices_partial, none, lacks_devices(from.diagnostics, state_of));
    to.add(families::unreadable_processes, none,
           sample_value(std::uint64_t(from.info.unreadable_process_count)));
  }
  to.add(families::snapshot_duration, none,
         std::optional(static_cast<double>(from.info.duration_ns)), from_nanoseconds);
  to.add(families::snapshot_time, none, std::optional(static_cast<double>(from.info.unix_time_ns)),
         from_nanoseconds);
  to.add(families::build_info, none.with("version", hypomnesis::version_string()), true);
}

}  // namespace

partial_lists unlisted_in(const hypomnesis::snapshot_values& from) {
  partial_lists out;
  for (const auto& each : from.diagnostics) {
    if (!hides_list(each)) continue;
    if (each.device_index)
      out.devices.insert(*each.device_index);
    else
      out.all = true;
  }
  return out;
}

void collect(const hypomnesis::snapshot_values& from, const device_ids& ids, samples& to) {
  const auto unlisted = unlisted_in(from);
  for (const auto& each : from.devices) {
    const device_labels with(each.device, ids);
    collect_device(each, with, to);
    collect_usages(from, each.device, with, unlisted, to);
  }
  collect_missing(from.diagnostics, ids, to);
  if (from.system) collect_host(*from.system, to);
  collect_snapshot(from, to);
}

}  // namespace hmn::cli
