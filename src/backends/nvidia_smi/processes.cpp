// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "backends/nvidia_smi/caller.hpp"
#include "backends/nvidia_smi/source.hpp"
#include "model/compose.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::nvidia_smi {
namespace {

failure fail(status code, std::string message) {
  return {code, source::nvidia_smi, {}, std::move(message)};
}

usage plain_row(const app_row& from) {
  usage u;
  u.pid = from.pid;
  u.from = source::nvidia_smi;
  u.accounting = accounting::allocated;
  u.kinds = usage_kind::compute;
  u.used = from.used.value;
  u.name_state = from.name_state;
  u.name = from.name;
  return u;
}

// The same process twice: on MIG once for each instance, else the same figure again.
void merge(usage& into, const usage& other, bool mig_on) {
  if (!into.used || !other.used) {
    into.used.reset();
  } else if (mig_on) {
    into.used = scan::sum(*into.used, *other.used);
  } else {
    into.used = std::max(*into.used, *other.used);
  }
}

std::string_view why_no_use(status code) {
  if (code != status::unsupported) return "nvidia-smi's figure for this process is no number";
  return "the driver does not tell what this process uses; under WDDM (Windows, WSL) it never does";
}

}  // namespace

result<void> smi_source::load_apps(reading& r) {
  if (!asleep_.empty()) return why_asleep();
  if (!apps_) {
    apps_ = tool_.ask_apps(r);
    if (*apps_) report((**apps_).problems, subject::processes, r);
  }
  return *apps_ ? result<void>() : result<void>(apps_->why());
}

bool smi_source::is_of(const app_row& row, slot number) const {
  const device& who = known_[number].who;
  if (!row.gpu_bus_id.empty() && !who.pci_bus_id.empty()) {
    return row.gpu_bus_id == who.pci_bus_id.view();
  }
  if (!row.gpu_uuid.empty() && !who.uuid.empty()) return row.gpu_uuid == who.uuid.view();
  return known_.size() == 1;
}

result<std::vector<usage>> smi_source::rows_of(slot number, std::uint32_t pid, reading& r) {
  if (number >= known_.size()) return fail(status::no_device, "nvidia-smi never listed this GPU");
  if (result<void> loaded = load_apps(r); !loaded) return std::move(loaded.why());
  std::vector<usage> found;
  std::vector<status> why;
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (const app_row& row : (**apps_).rows) {
    if (!is_of(row, number)) continue;
    if (row.pid == 0) return fail(row.why_none, "nvidia-smi cannot list the processes of this GPU");
    if (pid != 0 && row.pid != pid) continue;
    const auto [at, is_new] = place.try_emplace(row.pid, found.size());
    if (is_new) {
      found.push_back(plain_row(row));
      why.push_back(row.used.why);
    } else {
      merge(found[at->second], plain_row(row), known_[number].mig_on);
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) check_use(found[i], why[i], number, r);
  return found;
}

void smi_source::check_use(usage& row, status why, slot number, reading& r) const {
  std::string_view message = why_no_use(why);
  const auto total = known_[number].total;
  if (row.used && total && *row.used > *total) {
    row.used.reset();
    why = status::backend;
    message = "nvidia-smi says that this process uses more memory than the GPU has";
  }
  if (row.used) return;
  diagnostic d;
  d.why = fail(why == status::ok ? status::backend : why, std::string(message));
  d.about = subject::processes;
  d.field = usage_field::used;
  d.device = number;
  d.pid = row.pid;
  r.remark(std::move(d));
}

result<void> smi_source::processes(slot number, std::vector<usage>& out, reading& r) {
  auto rows = rows_of(number, 0, r);
  if (!rows) return std::move(rows.why());
  const bool initial = is_in_initial_pid_namespace(proc_root_);
  for (usage& row : *rows) {
    const std::string folder = compose({proc_root_, "/", row.pid});
    if (!initial && !platform::exists(folder.c_str())) row.notes |= note::foreign_pid;
    out.push_back(std::move(row));
  }
  return {};
}

result<void> smi_source::process(slot number, std::uint32_t pid, bool self, usage& out,
                                 reading& r) {
  auto rows = rows_of(number, pid, r);
  if (!rows) return std::move(rows.why());
  if (!rows->empty()) {
    out = std::move(rows->front());
    return {};
  }
  if ((**apps_).is_truncated || !self || holds_gpu_descriptor(proc_root_)) {
    return why_unlisted(pid, self);
  }
  // Without a descriptor of the driver nothing can be allocated.
  out.pid = pid;
  out.from = source::nvidia_smi;
  out.accounting = accounting::allocated;
  out.used = 0;
  return {};
}

failure smi_source::why_unlisted(std::uint32_t pid, bool self) const {
  if ((**apps_).is_truncated) {
    return fail(status::limit, "nvidia-smi lists more processes than are read");
  }
  if (!self) {
    return fail(status::no_process,
                compose({"nvidia-smi lists no process ", pid, " that computes on this GPU"}));
  }
  if (!is_in_initial_pid_namespace(proc_root_)) {
    return fail(status::unsupported,
                "nvidia-smi does not list this process; inside a PID namespace it may be listed "
                "under the host's pid");
  }
  return fail(status::unsupported,
              "nvidia-smi lists only processes that compute; this one is none of them, and holds a "
              "descriptor of the driver");
}

}  // namespace hmn::nvidia_smi
