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

FieldSet fields_of(const std::vector<Missing>& gone) {
  FieldSet fields = 0;
  for (const Missing& m : gone) fields |= m.fields;
  return fields;
}

}  // namespace

SmiSource::SmiSource(const Settings& s) : ToolSource(smi, s, s.nvidia_smi_path), tool_(program_) {}

Result<void> SmiSource::ask(Reading& r) {
  if (Result<void> reported = tool_.ask_gpus(r, gpus_); !reported) return reported;
  std::size_t again = 0;
  for (std::size_t i = 0; i < gpus_.rows.size(); ++i) again += adopt_row(i, r) ? 0 : 1;
  if (again != 0) {
    diagnose(with_reason(
                 Reason::ambiguous,
                 fail(Status::backend, {again,
                                        " row(s) of nvidia-smi are of a GPU that it lists twice, "
                                        "or of none that anything identifies"})),
             subject::devices, 0, {}, r);
  }
  for (const Problem& p : gpus_.problems) report(p, r);
  return {};
}

// Returns false for a row that matches no GPU, or one that already has a row.
bool SmiSource::adopt_row(std::size_t at, Reading& r) {
  const GpuRow& row = gpus_.rows[at];
  const Device who = identity_of(row);
  if (who.uuid.empty() && who.pci_bus_id.empty() && !who.driver_index) return false;
  KnownGpu* const k = adopt(who, at);
  if (k == nullptr) return false;
  k->has_instances = is_mig_on(row);
  const GpuCell& total = row[GpuColumn::memory_total];
  k->total.reset();
  if (who.memory_kind != MemoryKind::unified) k->total = bytes_of(total.text, total.unit).value;
  if (k->total == 0) k->total.reset();
  if (k->has_instances) {
    diagnose(fail(Status::unsupported,
                  "MIG is on, and nvidia-smi's table lists no instances: values are those of the "
                  "whole GPU, processes stay with it"),
             subject::devices, 0, k->who.number, r);
  }
  return true;
}

void SmiSource::report(const Problem& p, Reading& r) const {
  Device who;
  who.pci_bus_id = p.bus_id;
  diagnose(p.why, subject::devices, 0, find(who), r);
}

Result<const GpuRow*> SmiSource::gpu_of(Slot number, Reading& r) {
  Result<std::size_t> at = row_of(number, r);
  taken_ns_ = loaded_ns();
  if (at) return &gpus_.rows[*at];
  if (at.why().code == Status::device_lost) {
    for (const Problem& p : gpus_.problems) {
      if (!p.bus_id.empty() && p.bus_id == known_[number].who.pci_bus_id) return p.why;
    }
  }
  return at.why();
}

Result<void> SmiSource::memory(Slot number, Pools& out, Reading& r) {
  const auto row = gpu_of(number, r);
  if (!row) return row.why();
  std::vector<Missing> gone;
  const Result<Pool> p = pool_of(**row, gone);
  if (!p) return p.why();
  diagnose(gone, subject::pools, number, r);
  out.add(*p);
  return {};
}

Result<void> SmiSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  const auto row = gpu_of(number, r);
  if (!row) return row.why();
  std::vector<Missing> gone;
  out = telemetry_of(**row, fields, gone);
  if (fields_of(gone) == fields) return why_nothing(gone, subject::telemetry, number, r);
  diagnose(gone, subject::telemetry, number, r);
  return {};
}

Result<void> SmiSource::metrics(Slot number, bool, std::vector<Metric>& out, Reading& r) {
  const auto row = gpu_of(number, r);
  if (!row) return row.why();
  metrics_of(**row, out, [&](FieldSet metric, Status why, const GpuCell& cell) {
    std::vector<Missing> gone;
    add_missing(gone, metric, why, cell);
    diagnose(gone, subject::metrics, number, r);
  });
  return {};
}

}  // namespace hmn::nvidia_smi

namespace hmn {

std::unique_ptr<DeviceSource> make_nvidia_smi(const Settings& s) {
  return std::make_unique<nvidia_smi::SmiSource>(s);
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
  bool holds = false;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    std::array<char, 64> target;
    const auto got = platform::read_link((folder + "/" + std::string(name)).c_str(), target);
    // A target longer than the buffer is no device node.
    holds = got && is_gpu_node({target.data(), got.value});
    return !holds;
  });
  return holds || error != 0;
}

// Other problems mean missing rows, of one GPU or of all.
bool is_warning(const Problem& p) noexcept {
  return p.why.code == Status::ok;
}

Usage plain_row(const AppRow& from) {
  Usage u;
  u.pid = from.pid;
  u.from = Source::nvidia_smi;
  u.accounting = Accounting::allocated;
  u.kinds = usage_kind::compute;
  u.used = from.used.value;
  u.name_state = from.name_state;
  u.name = from.name;
  return u;
}

// Merges rows of one process: with MIG there is one per instance, else they are duplicates.
std::optional<std::uint64_t> merged(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b,
                                    bool mig_on) {
  if (!a || !b) return std::nullopt;
  return mig_on ? scan::sum(*a, *b) : std::max(*a, *b);
}

std::string_view why_no_use(Status code) {
  if (code == Status::permission) return "nvidia-smi may not report the memory of this process";
  if (code != Status::unsupported) return "nvidia-smi's value for this process is not a number";
  return "memory of this process is not reported by the driver; under WDDM (Windows, WSL) it never "
         "is";
}

}  // namespace

Result<void> SmiSource::load_apps(Reading& r) {
  if (is_asleep()) return why_asleep();
  const Result<void>& loaded = apps_loaded_.get([&] {
    Result<void> asked = tool_.ask_apps(r, apps_);
    for (const Problem& p : apps_.problems) {
      if (is_warning(p)) report(p, r);
    }
    return asked;
  });
  taken_ns_ = apps_loaded_.ended_ns();
  return loaded;
}

bool SmiSource::is_of(const AppRow& row, Slot number) const {
  const Device& who = known_[number].who;
  if (!row.gpu_bus_id.empty() && !who.pci_bus_id.empty()) {
    return row.gpu_bus_id == who.pci_bus_id;
  }
  if (!row.gpu_uuid.empty() && !who.uuid.empty()) return row.gpu_uuid == who.uuid.view();
  return known_.size() == 1;
}

// Succeeds if every process of the GPU has a row.
Result<void> SmiSource::whole_list_of(Slot number) const {
  const Text<32>& here = known_[number].who.pci_bus_id;
  for (const Problem& p : apps_.problems) {
    const bool is_elsewhere = !p.bus_id.empty() && !here.empty() && p.bus_id != here;
    if (!is_elsewhere && !is_warning(p)) return p.why;
  }
  const auto unplaced = std::ranges::count_if(apps_.rows, [&](const AppRow& row) {
    return std::ranges::none_of(known_,
                                [&](const KnownGpu& k) { return is_of(row, k.who.number); });
  });
  if (unplaced == 0) return {};
  return with_reason(Reason::ambiguous,
                     fail(Status::backend, {"nvidia-smi does not report on which of its GPUs ",
                                            unplaced, " process(es) are"}));
}

Result<void> SmiSource::rows_of(Slot number, std::uint32_t pid, std::vector<Usage>& out,
                                Reading& r) {
  if (number >= known_.size()) return never_listed();
  if (Result<void> loaded = load_apps(r); !loaded) return loaded;
  const std::vector<AppRow>& all = apps_.rows;
  std::vector<std::uint32_t> mine;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!is_of(all[i], number)) continue;
    if (all[i].pid == 0) {
      return fail(all[i].why_none, "nvidia-smi cannot list the processes of this GPU");
    }
    if (pid == 0 || all[i].pid == pid) mine.push_back(i);
  }
  const Result<void> whole = whole_list_of(number);
  std::ranges::stable_sort(
      mine, [&](std::uint32_t a, std::uint32_t b) { return all[a].pid < all[b].pid; });
  for (std::size_t i = 0; i < mine.size();) {
    const AppRow& first = all[mine[i]];
    Usage& u = out.emplace_back(plain_row(first));
    while (++i < mine.size() && all[mine[i]].pid == first.pid) {
      u.used = merged(u.used, all[mine[i]].used.value, known_[number].has_instances);
    }
    check_use(u, first.used.why, number, r);
    if (!whole) note_incomplete(u);
  }
  return mine.empty() ? whole : Result<void>();
}

void SmiSource::check_use(Usage& row, Status why, Slot number, Reading& r) const {
  std::string_view message = why_no_use(why);
  const auto total = known_[number].total;
  auto stated = Reason::unknown;
  if (row.used && total && *row.used > *total) {
    row.used.reset();
    why = Status::backend;
    stated = Reason::implausible;
    message = "nvidia-smi prints more memory for this process than the GPU has";
  }
  if (row.used) return;
  if (why == Status::ok) why = Status::backend;
  if (why == Status::backend && stated == Reason::unknown) stated = Reason::not_understood;
  diagnose_use(with_reason(stated, fail(why, {message})), row.pid, number, r);
}

Result<void> SmiSource::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  const std::size_t others = out.size();
  if (Result<void> listed = rows_of(number, 0, out, r); !listed) return listed;
  const std::span rows = std::span(out).subspan(others);
  if (const Result<void> whole = whole_list_of(number); !whole && !rows.empty()) {
    diagnose(whole.why(), subject::processes, 0, number, r);
  }
  const bool is_initial = is_in_initial_pid_namespace();
  const bool is_foreign = !is_initial && procfs::why_foreign(proc_root_);
  for (Usage& row : rows) {
    if (is_foreign || (!is_initial && !is_running(row.pid))) row.notes |= note::foreign_pid;
  }
  return {};
}

Result<void> SmiSource::process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) {
  std::vector<Usage> rows;
  if (Result<void> listed = rows_of(number, pid, rows, r); !listed) return listed;
  if (!rows.empty()) {
    out = std::move(rows.front());
    return {};
  }
  if (!self || holds_gpu_descriptor(proc_root_)) return why_unlisted(pid, self);
  // Without a descriptor of the driver nothing is allocated.
  out.pid = pid;
  out.from = Source::nvidia_smi;
  out.accounting = Accounting::allocated;
  out.used = 0;
  return {};
}

Failure SmiSource::why_unlisted(std::uint32_t pid, bool self) const {
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
