// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/source.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/tree.hpp"
#include "source/registry.hpp"

namespace hmn::nvidia_smi {
namespace {

FieldSet collect_fields(const std::vector<MissingFields>& gaps) {
  FieldSet fields = 0;
  for (const MissingFields& gap : gaps) fields |= gap.fields;
  return fields;
}

}  // namespace

SmiSource::SmiSource(const Settings& settings)
    : ToolSource(smi, settings, settings.nvidia_smi_path), tool_(program_) {}

Result<void> SmiSource::query(Reading& reading) {
  if (Result<void> result = tool_.query_gpus(reading, gpus_); !result) return result;
  std::size_t unmatched = 0;
  for (std::size_t i = 0; i < gpus_.rows.size(); ++i) unmatched += adopt_row(i, reading) ? 0 : 1;
  if (unmatched != 0) {
    diagnose(with_reason(
                 Reason::ambiguous,
                 fail(Status::backend, {unmatched,
                                        " row(s) of nvidia-smi are of a GPU that it lists twice, "
                                        "or of none that anything identifies"})),
             subject::devices, 0, {}, reading);
  }
  for (const Problem& problem : gpus_.problems) report(problem, reading);
  return {};
}

// Returns false for a row that matches no GPU, or one that already has a row.
bool SmiSource::adopt_row(std::size_t index, Reading& reading) {
  const GpuRow& row = gpus_.rows[index];
  const Device device = read_identity(row);
  if (device.uuid.empty() && device.pci_bus_id.empty() && !device.driver_index) return false;
  KnownGpu* const gpu = find_or_add(device, index);
  if (gpu == nullptr) return false;
  gpu->has_instances = is_mig_on(row);
  const GpuCell& total = row[GpuColumn::memory_total];
  gpu->total.reset();
  if (device.memory_kind != MemoryKind::unified)
    gpu->total = parse_bytes(total.text, total.unit).value;
  if (gpu->total == 0) gpu->total.reset();
  if (gpu->has_instances) {
    diagnose(fail(Status::unsupported,
                  "MIG is on, and nvidia-smi's table lists no instances: values are those of the "
                  "whole GPU, processes stay with it"),
             subject::devices, 0, gpu->identity.slot, reading);
  }
  return true;
}

void SmiSource::report(const Problem& problem, Reading& reading) const {
  Device device;
  device.pci_bus_id = problem.bus_id;
  diagnose(problem.failure, subject::devices, 0, find(device), reading);
}

Result<const GpuRow*> SmiSource::find_gpu(Slot slot, Reading& reading) {
  Result<std::size_t> index = find_row(slot, reading);
  read_ns_ = load_end_ns();
  if (index) return &gpus_.rows[*index];
  if (index.failure().code == Status::device_lost) {
    for (const Problem& problem : gpus_.problems) {
      if (!problem.bus_id.empty() && problem.bus_id == known_gpus_[slot].identity.pci_bus_id)
        return problem.failure;
    }
  }
  return index.failure();
}

Result<void> SmiSource::memory(Slot slot, PoolList& out, Reading& reading) {
  const auto row = find_gpu(slot, reading);
  if (!row) return row.failure();
  std::vector<MissingFields> gaps;
  const Result<Pool> pool = read_pool(**row, gaps);
  if (!pool) return pool.failure();
  diagnose(gaps, subject::pools, slot, reading);
  out.add(*pool);
  return {};
}

Result<void> SmiSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                  Reading& reading) {
  const auto row = find_gpu(slot, reading);
  if (!row) return row.failure();
  std::vector<MissingFields> gaps;
  out = read_telemetry(**row, fields, gaps);
  if (collect_fields(gaps) == fields)
    return make_missing_failure(gaps, subject::telemetry, slot, reading);
  diagnose(gaps, subject::telemetry, slot, reading);
  return {};
}

Result<void> SmiSource::metrics(Slot slot, bool, std::vector<Metric>& out, Reading& reading) {
  const auto row = find_gpu(slot, reading);
  if (!row) return row.failure();
  append_metrics(**row, out, [&](FieldSet metric, Status status, const GpuCell& cell) {
    std::vector<MissingFields> gaps;
    add_missing(gaps, metric, status, cell);
    diagnose(gaps, subject::metrics, slot, reading);
  });
  return {};
}

}  // namespace hmn::nvidia_smi

namespace hmn {

std::unique_ptr<DeviceSource> make_nvidia_smi(const Settings& settings) {
  return std::make_unique<nvidia_smi::SmiSource>(settings);
}

}  // namespace hmn

namespace hmn::nvidia_smi {
namespace {

bool is_gpu_node(std::string_view target) {
  // /dev/dxg is WSL's.
  return target.starts_with("/dev/nvidia") || target.starts_with("/dev/dxg");
}

// Whether the calling process has a device node of the NVIDIA driver open. Without one it uses no
// GPU memory. True if unknown.
bool holds_gpu_descriptor(const std::string& proc_root) {
  const std::string folder = proc_root + "/self/fd";
  bool holds_gpu = false;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    std::array<char, 64> target;
    const auto length = platform::read_link((folder + "/" + std::string(name)).c_str(), target);
    // A target longer than the buffer is no device node.
    holds_gpu = length && is_gpu_node({target.data(), length.value});
    return !holds_gpu;
  });
  return holds_gpu || error != 0;
}

// Other problems mean missing rows, of one GPU or of all.
bool is_warning(const Problem& p) noexcept {
  return p.failure.code == Status::ok;
}

Usage make_row(const AppRow& app) {
  Usage row;
  row.pid = app.pid;
  row.source = Source::nvidia_smi;
  row.accounting = Accounting::allocated;
  row.kinds = usage_kind::compute;
  row.used = app.used.value;
  row.name_state = app.name_state;
  row.name = app.name;
  return row;
}

// Merges rows of one process: with MIG there is one per instance, else they are duplicates.
std::optional<std::uint64_t> merge_used(std::optional<std::uint64_t> a,
                                        std::optional<std::uint64_t> b, bool is_mig_on) {
  if (!a || !b) return std::nullopt;
  return is_mig_on ? scan::checked_add(*a, *b) : std::max(*a, *b);
}

std::string_view describe_missing_use(Status code) {
  if (code == Status::permission) return "nvidia-smi may not report the memory of this process";
  if (code != Status::unsupported) return "nvidia-smi's value for this process is not a number";
  return "memory of this process is not reported by the driver; under WDDM (Windows, WSL) it never "
         "is";
}

}  // namespace

Result<void> SmiSource::load_apps(Reading& reading) {
  if (is_asleep()) return make_asleep_failure();
  const Result<void>& outcome = apps_outcome_.get_or_run([&] {
    Result<void> result = tool_.query_apps(reading, apps_);
    for (const Problem& problem : apps_.problems) {
      if (is_warning(problem)) report(problem, reading);
    }
    return result;
  });
  read_ns_ = apps_outcome_.end_ns();
  return outcome;
}

bool SmiSource::belongs_to(const AppRow& row, Slot slot) const {
  const Device& gpu = known_gpus_[slot].identity;
  if (!row.gpu_bus_id.empty() && !gpu.pci_bus_id.empty()) {
    return row.gpu_bus_id == gpu.pci_bus_id;
  }
  if (!row.gpu_uuid.empty() && !gpu.uuid.empty()) return row.gpu_uuid == gpu.uuid.view();
  return known_gpus_.size() == 1;
}

// Succeeds if every process of the GPU has a row.
Result<void> SmiSource::check_list_complete(Slot slot) const {
  const Text<32>& bus_id = known_gpus_[slot].identity.pci_bus_id;
  for (const Problem& problem : apps_.problems) {
    const bool is_on_another_gpu =
        !problem.bus_id.empty() && !bus_id.empty() && problem.bus_id != bus_id;
    if (!is_on_another_gpu && !is_warning(problem)) return problem.failure;
  }
  const auto ambiguous_count = std::ranges::count_if(apps_.rows, [&](const AppRow& row) {
    return std::ranges::none_of(
        known_gpus_, [&](const KnownGpu& gpu) { return belongs_to(row, gpu.identity.slot); });
  });
  if (ambiguous_count == 0) return {};
  return with_reason(Reason::ambiguous,
                     fail(Status::backend, {"nvidia-smi does not report on which of its GPUs ",
                                            ambiguous_count, " process(es) are"}));
}

Result<void> SmiSource::append_rows(Slot slot, std::uint32_t pid, std::vector<Usage>& out,
                                    Reading& reading) {
  if (slot >= known_gpus_.size()) return make_not_listed_failure();
  if (Result<void> result = load_apps(reading); !result) return result;
  const std::vector<AppRow>& apps = apps_.rows;
  std::vector<std::uint32_t> indexes;
  for (std::uint32_t i = 0; i < apps.size(); ++i) {
    if (!belongs_to(apps[i], slot)) continue;
    if (apps[i].pid == 0) {
      return fail(apps[i].list_status, "nvidia-smi cannot list the processes of this GPU");
    }
    if (pid == 0 || apps[i].pid == pid) indexes.push_back(i);
  }
  const Result<void> completeness = check_list_complete(slot);
  std::ranges::stable_sort(
      indexes, [&](std::uint32_t a, std::uint32_t b) { return apps[a].pid < apps[b].pid; });
  for (std::size_t i = 0; i < indexes.size();) {
    const AppRow& app = apps[indexes[i]];
    Usage& row = out.emplace_back(make_row(app));
    while (++i < indexes.size() && apps[indexes[i]].pid == app.pid) {
      row.used =
          merge_used(row.used, apps[indexes[i]].used.value, known_gpus_[slot].has_instances);
    }
    check_used(row, app.used.status, slot, reading);
    if (!completeness) mark_lower_bound(row);
  }
  return indexes.empty() ? completeness : Result<void>();
}

void SmiSource::check_used(Usage& row, Status status, Slot slot, Reading& reading) const {
  std::string_view message = describe_missing_use(status);
  const auto total = known_gpus_[slot].total;
  auto reason = Reason::unknown;
  if (row.used && total && *row.used > *total) {
    row.used.reset();
    status = Status::backend;
    reason = Reason::implausible;
    message = "nvidia-smi prints more memory for this process than the GPU has";
  }
  if (row.used) return;
  if (status == Status::ok) status = Status::backend;
  if (status == Status::backend && reason == Reason::unknown) reason = Reason::not_understood;
  diagnose_usage(with_reason(reason, fail(status, {message})), row.pid, slot, reading);
}

Result<void> SmiSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  const std::size_t first_row = out.size();
  if (Result<void> result = append_rows(slot, 0, out, reading); !result) return result;
  const std::span rows = std::span(out).subspan(first_row);
  if (const Result<void> completeness = check_list_complete(slot);
      !completeness && !rows.empty()) {
    diagnose(completeness.failure(), subject::processes, 0, slot, reading);
  }
  const bool is_initial = is_in_initial_pid_namespace();
  const bool is_foreign = !is_initial && procfs::explain_foreign_tree(proc_root_);
  for (Usage& row : rows) {
    if (is_foreign || (!is_initial && !is_running(row.pid))) row.notes |= note::foreign_pid;
  }
  return {};
}

Result<void> SmiSource::process(Slot slot, std::uint32_t pid, bool self, Usage& out,
                                Reading& reading) {
  std::vector<Usage> rows;
  if (Result<void> result = append_rows(slot, pid, rows, reading); !result) return result;
  if (!rows.empty()) {
    out = std::move(rows.front());
    return {};
  }
  if (!self || holds_gpu_descriptor(proc_root_)) return make_unlisted_failure(pid, self);
  // Without a descriptor of the driver nothing is allocated.
  out.pid = pid;
  out.source = Source::nvidia_smi;
  out.accounting = Accounting::allocated;
  out.used = 0;
  return {};
}

Failure SmiSource::make_unlisted_failure(std::uint32_t pid, bool self) const {
  if (!self) {
    return fail(Status::no_process,
                {"nvidia-smi lists no process ", pid, " that computes on this GPU"});
  }
  if (!is_in_initial_pid_namespace()) {
    return fail(Status::unsupported,
                "nvidia-smi does not list this process; inside a PID namespace it may be listed "
                "under the host's pid");
  }
  return fail(Status::unsupported,
              "nvidia-smi lists only processes that compute; this one is none of them, and holds a "
              "descriptor of the driver");
}

}  // namespace hmn::nvidia_smi
