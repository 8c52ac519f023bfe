// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/exporter/collector.hpp"
#include "cli/exporter/devices.hpp"
#include "cli/exporter/families.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/process.hpp"

namespace hmn::cli {
namespace {

struct GroupKind {
  Grouping by;
  const Family& memory;
  const Family& load;
};

constexpr GroupKind group_kinds[] = {
    {Grouping::process, families::process_memory, families::process_load},
    {Grouping::user, families::user_memory, families::user_load},
    {Grouping::container, families::container_memory, families::container_load},
    {Grouping::pod, families::pod_memory, families::pod_load},
    {Grouping::job, families::job_memory, families::job_load},
    {Grouping::unit, families::unit_memory, families::unit_load}};

// Row of a process with the workload that its control groups name.
struct PlacedUsage {
  const hypomnesis::usage& row;
  std::optional<std::uint64_t> used;  // of the pool that hw_gpu_memory_usage has
  std::optional<std::uint64_t> most;  // of which all processes together have no more
  procfs::Workload in;
  std::string user;
};

// What the library reports of a process that has no control groups here: "docker:1c8f…".
procfs::Workload reported(const hypomnesis::usage& row) {
  procfs::Workload in;
  const auto text = row.process_container.value_or("");
  const auto colon = text.find(':');
  if (colon == text.npos) return in;
  in.runtime = text.substr(0, colon);
  in.container = text.substr(colon + 1);
  return in;
}

procfs::Workload place_of(const Session& in, const hypomnesis::usage& row) {
  auto found = in.workload(row);
  return found ? *std::move(found) : reported(row);
}

struct GroupSum {
  LabelSet with;
  UsageTally total;
};

using GroupSums = std::map<std::string, GroupSum>;

LabelSet labels_by(Grouping by, const PlacedUsage& of) {
  LabelSet with;
  switch (by) {
    case Grouping::process:
      with.add("pid", fmt::format("{}", of.row.pid))
          .add("process_name", of.row.process_name.value_or(""))
          .add("user", of.user)
          .add("container_id", of.in.container);
      break;
    case Grouping::user:
      with.add("user", of.user);
      break;
    case Grouping::container:
      with.add("container_id", of.in.container)
          .add("runtime", of.in.runtime)
          .add("pod_uid", of.in.pod);
      break;
    case Grouping::pod:
      with.add("pod_uid", of.in.pod);
      break;
    case Grouping::job:
      with.add("job_id", of.in.job);
      break;
    case Grouping::unit:
      with.add("unit", of.in.unit);
      break;
    case Grouping::device:  // in the labels of each sample
      break;
  }
  return with;
}

void write(const GroupKind& kind, const DeviceLabels& device, const GroupSums& sums, Samples& to) {
  std::vector<const GroupSum*> largest;
  for (const auto& each : sums) largest.push_back(&each.second);
  const auto count = std::min(largest.size(), most_groups);
  std::partial_sort(
      largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count), largest.end(),
      [](const GroupSum* a, const GroupSum* b) { return a->total.bytes() > b->total.bytes(); });
  largest.resize(count);
  for (const auto* each : largest) {
    const auto with = LabelSet(device.brief()).append(each->with);
    add_sum(kind.memory, with, each->total.bytes(), each->total.is_at_least(), to);
    // A sum that lacks the load of a process is none.
    if (!each->total.is_busy_at_least())
      to.add(kind.load, with, each->total.busy_percent(), from_percent);
  }
}

// Where the list of processes is not known, it is not known how many are left out.
template <class Rows>
void collect_kind(const GroupKind& kind, const Rows& rows, const DeviceLabels& device,
                  bool is_listed, Samples& to) {
  GroupSums sums;
  for (const auto& each : rows) {
    const auto with = labels_by(kind.by, each);
    auto& group = sums.try_emplace(with.text(), GroupSum{with, {}}).first->second;
    group.total.add(each.row, each.used);
    if (kind.by != Grouping::process) group.total.compare(each.row, each.used, each.most);
  }
  write(kind, device, sums, to);
  if (!sums.empty() || is_listed)
    to.add(families::left_out, device.brief().with("per", word_of(kind.by)),
           SampleValue(std::uint64_t(sums.size() - std::min(sums.size(), most_groups))));
}

void write_groups(const hypomnesis::snapshot_values& from, std::uint32_t index,
                  const DeviceLabels& device, Samples& to) {
  for (const auto& each : part_of(from.groups, index)) {
    const auto with = device.brief().with("group", each.name.value_or(""));
    to.add(families::group_used, with, each.used_bytes);
    to.add(families::group_limit, with, each.limit_bytes);
  }
}

}  // namespace

bool is_written(std::string_view name, const std::vector<Grouping>& by) {
  for (const auto* each : {&families::left_out, &families::group_used, &families::group_limit})
    if (each->name == name) return !by.empty();
  const auto* const kind = std::find_if(
      std::begin(group_kinds), std::end(group_kinds),
      [name](const GroupKind& each) { return each.memory.name == name || each.load.name == name; });
  return kind == std::end(group_kinds) || std::find(by.begin(), by.end(), kind->by) != by.end();
}

void Workloads::collect(const hypomnesis::snapshot_values& from, const DeviceIds& ids,
                        UserNames::Clock::time_point until, Samples& to) {
  if (by_.empty()) return;
  RepeatedRows repeated;
  for (const auto& device : from.devices)
    for (const auto& each : part_of(from.usages, device.device.index))
      repeated.add(each, device.device);
  std::vector<PlacedUsage> rows;
  for (const auto& device : from.devices) {
    const Gpu on{device.device, main_pool(device.pools, device.device.index)};
    for (const auto& each : part_of(from.usages, device.device.index))
      if (!repeated.contains(each))
        rows.push_back({each, split_use(each, on).main, most_used(on), place_of(in_, each),
                        users_.of(each, until).value_or("")});
  }
  const auto unlisted = unlisted_in(from);
  for (const auto& each_device : from.devices) {
    const auto& device = each_device.device;
    const DeviceLabels labels(device, ids);
    const auto own =
        part_of(rows, device.index, [](const PlacedUsage& each) { return each.row.device_index; });
    for (const auto& kind : group_kinds) {
      if (std::find(by_.begin(), by_.end(), kind.by) == by_.end()) continue;
      collect_kind(kind, own, labels, !unlisted.lacks(device.index), to);
    }
    write_groups(from, device.index, labels, to);
  }
}

}  // namespace hmn::cli
