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
  Grouping grouping;
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
struct WorkloadUsage {
  const hypomnesis::usage& row;
  std::optional<std::uint64_t> used;       // of the pool that hw_gpu_memory_usage has
  std::optional<std::uint64_t> max_bytes;  // upper limit for all processes together
  procfs::Workload workload;
  std::string user;
};

// What the library reports of a process that has no control groups here: "docker:1c8f…".
procfs::Workload parse_reported_workload(const hypomnesis::usage& row) {
  procfs::Workload workload;
  const auto text = row.process_container.value_or("");
  const auto colon = text.find(':');
  if (colon == text.npos) return workload;
  workload.runtime = text.substr(0, colon);
  workload.container = text.substr(colon + 1);
  return workload;
}

procfs::Workload find_workload(const Session& session, const hypomnesis::usage& row) {
  auto workload = session.workload(row);
  return workload ? *std::move(workload) : parse_reported_workload(row);
}

struct GroupSum {
  LabelSet labels;
  UsageTally total;
};

using GroupSums = std::map<std::string, GroupSum>;

LabelSet make_group_labels(Grouping grouping, const WorkloadUsage& usage) {
  LabelSet labels;
  switch (grouping) {
    case Grouping::process:
      labels.add("pid", fmt::format("{}", usage.row.pid))
          .add("process_name", usage.row.process_name.value_or(""))
          .add("user", usage.user)
          .add("container_id", usage.workload.container);
      break;
    case Grouping::user:
      labels.add("user", usage.user);
      break;
    case Grouping::container:
      labels.add("container_id", usage.workload.container)
          .add("runtime", usage.workload.runtime)
          .add("pod_uid", usage.workload.pod);
      break;
    case Grouping::pod:
      labels.add("pod_uid", usage.workload.pod);
      break;
    case Grouping::job:
      labels.add("job_id", usage.workload.job);
      break;
    case Grouping::unit:
      labels.add("unit", usage.workload.unit);
      break;
    case Grouping::device:  // in the labels of each sample
      break;
  }
  return labels;
}

void add_group_sums(const GroupKind& kind, const DeviceLabels& device_labels, const GroupSums& sums,
                    Samples& samples) {
  std::vector<const GroupSum*> largest;
  for (const auto& entry : sums) largest.push_back(&entry.second);
  const auto count = std::min(largest.size(), max_groups);
  std::partial_sort(
      largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count), largest.end(),
      [](const GroupSum* a, const GroupSum* b) { return a->total.bytes() > b->total.bytes(); });
  largest.resize(count);
  for (const auto* sum : largest) {
    const auto labels = LabelSet(device_labels.short_labels()).append(sum->labels);
    add_sum(kind.memory, labels, sum->total.bytes(), sum->total.is_at_least(), samples);
    // A sum that lacks the load of a process is none.
    if (!sum->total.is_busy_at_least())
      samples.add(kind.load, labels, sum->total.busy_percent(), from_percent);
  }
}

// Where the list of processes is not known, it is not known how many are left out.
template <class Rows>
void collect_kind(const GroupKind& kind, const Rows& rows, const DeviceLabels& device_labels,
                  bool is_listed, Samples& samples) {
  GroupSums sums;
  for (const auto& usage : rows) {
    const auto labels = make_group_labels(kind.grouping, usage);
    auto& group = sums.try_emplace(labels.text(), GroupSum{labels, {}}).first->second;
    group.total.add(usage.row, usage.used);
    if (kind.grouping != Grouping::process)
      group.total.add_bounded(usage.row, usage.used, usage.max_bytes);
  }
  add_group_sums(kind, device_labels, sums, samples);
  if (!sums.empty() || is_listed)
    samples.add(families::left_out,
                device_labels.short_labels().with_label("per", grouping_word(kind.grouping)),
                SampleValue(std::uint64_t(sums.size() - std::min(sums.size(), max_groups))));
}

void add_groups(const hypomnesis::snapshot_values& snapshot, std::uint32_t index,
                const DeviceLabels& device_labels, Samples& samples) {
  for (const auto& group : filter_by_device(snapshot.groups, index)) {
    const auto labels = device_labels.short_labels().with_label("group", group.name.value_or(""));
    samples.add(families::group_used, labels, group.used_bytes);
    samples.add(families::group_limit, labels, group.limit_bytes);
  }
}

}  // namespace

bool is_exported(std::string_view name, const std::vector<Grouping>& groupings) {
  for (const auto* family : {&families::left_out, &families::group_used, &families::group_limit})
    if (family->name == name) return !groupings.empty();
  const auto* const kind = std::find_if(
      std::begin(group_kinds), std::end(group_kinds), [name](const GroupKind& candidate) {
        return candidate.memory.name == name || candidate.load.name == name;
      });
  return kind == std::end(group_kinds) ||
         std::find(groupings.begin(), groupings.end(), kind->grouping) != groupings.end();
}

void Workloads::collect(const hypomnesis::snapshot_values& snapshot, const DeviceIds& ids,
                        UserNames::Clock::time_point deadline, Samples& samples) {
  if (groupings_.empty()) return;
  RepeatedRows repeated;
  for (const auto& device : snapshot.devices)
    for (const auto& usage : filter_by_device(snapshot.usages, device.device.index))
      repeated.add(usage, device.device);
  std::vector<WorkloadUsage> rows;
  for (const auto& device : snapshot.devices) {
    const Gpu gpu{device.device, find_main_pool(device.pools, device.device.index)};
    for (const auto& usage : filter_by_device(snapshot.usages, device.device.index))
      if (!repeated.contains(usage))
        rows.push_back({usage, split_use(usage, gpu).main, max_used_bytes(gpu),
                        find_workload(session_, usage), users_.find(usage, deadline).value_or("")});
  }
  const auto partial = find_partial_lists(snapshot);
  for (const auto& record : snapshot.devices) {
    const auto& device = record.device;
    const DeviceLabels labels(device, ids);
    const auto device_rows = filter_by_device(
        rows, device.index, [](const WorkloadUsage& usage) { return usage.row.device_index; });
    for (const auto& kind : group_kinds) {
      if (std::find(groupings_.begin(), groupings_.end(), kind.grouping) == groupings_.end())
        continue;
      collect_kind(kind, device_rows, labels, !partial.lacks(device.index), samples);
    }
    add_groups(snapshot, device.index, labels, samples);
  }
}

}  // namespace hmn::cli
