// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/source.hpp"

#include <algorithm>

#include "backends/nvidia_smi/nvidia_smi.hpp"
#include "model/compose.hpp"

namespace hmn::nvidia_smi {
namespace {

failure fail(status code, std::string message) {
  return {code, source::nvidia_smi, {}, std::move(message)};
}

diagnostic about_device(failure why, std::uint32_t subject, std::optional<slot> number) {
  diagnostic d;
  d.why = std::move(why);
  d.about = subject;
  d.device = number;
  return d;
}

void report_missing(const std::vector<missing>& gone, std::uint32_t subject, slot number,
                    reading& r) {
  for (const missing& m : gone) {
    diagnostic d = about_device(fail(m.code, m.message), subject, number);
    d.field = m.fields;
    r.remark(std::move(d));
  }
}

std::uint32_t fields_of(const std::vector<missing>& gone) {
  std::uint32_t fields = 0;
  for (const missing& m : gone) fields |= m.fields;
  return fields;
}

failure no_instances() {
  return fail(
      status::unsupported,
      "MIG is on, and nvidia-smi's table lists no instances: figures are those of the whole "
      "GPU, processes stay with it");
}

template <std::size_t N>
void keep_known(text<N>& fresh, const text<N>& before) {
  if (fresh.empty()) fresh = before;
}

// What a later answer leaves out stays.
void adopt(device& known, device fresh) {
  keep_known(fresh.name, known.name);
  keep_known(fresh.uuid, known.uuid);
  keep_known(fresh.pci_bus_id, known.pci_bus_id);
  keep_known(fresh.driver_version, known.driver_version);
  if (!fresh.driver_index) fresh.driver_index = known.driver_index;
  if (!fresh.pci_device) fresh.pci_device = known.pci_device;
  if (!fresh.pci_subsystem) fresh.pci_subsystem = known.pci_subsystem;
  if (fresh.kind == device_kind::unknown) fresh.kind = known.kind;
  if (fresh.memory_kind == memory_kind::unknown) fresh.memory_kind = known.memory_kind;
  fresh.number = known.number;
  known = std::move(fresh);
}

}  // namespace

smi_source::smi_source(const settings& s)
    : proc_root_(s.proc_root), sys_root_(s.sys_root), may_wake_(s.wake_devices), tool_(s) {
  condition_.code = status::empty;
}

void smi_source::forget() noexcept {
  asleep_.clear();
  gpus_.reset();
  apps_.reset();
  for (known_gpu& k : known_) k.row.reset();
}

result<void> smi_source::probe() {
  return tool_.find();
}

result<void> smi_source::prepare(reading&) {
  forget();
  if (result<void> here = tool_.find(); !here) return here;
  if (may_wake_) return {};
  asleep_ = gpus_on_bus(sys_root_);
  const bool sleeps =
      std::any_of(asleep_.begin(), asleep_.end(), [](const listed_gpu& g) { return g.is_asleep; });
  if (sleeps) return why_asleep();
  asleep_.clear();
  return {};
}

failure smi_source::why_asleep() {
  return fail(status::asleep,
              "an NVIDIA GPU is suspended, and nvidia-smi would wake it; allow waking to read it");
}

result<void> smi_source::devices(std::vector<device>& out, reading& r) {
  if (!asleep_.empty()) {
    list_asleep(out);
    return {};
  }
  if (result<void> loaded = load_gpus(r); !loaded) return loaded;
  for (const known_gpu& k : known_) {
    if (k.row) out.push_back(k.who);
  }
  return {};
}

void smi_source::list_asleep(std::vector<device>& out) {
  for (const listed_gpu& g : asleep_) {
    device who;
    who.from = source::nvidia_smi;
    who.vendor = vendor::nvidia;
    who.pci_bus_id.assign(g.bus_id);
    who.pci_device = g.pci_device;
    if (g.pci_subsystem != 0) who.pci_subsystem = g.pci_subsystem;
    const slot number = slot_of(who);
    adopt(known_[number].who, who);
    out.push_back(known_[number].who);
    out.back().state = g.is_asleep ? state::asleep : state::unknown;
  }
}

result<void> smi_source::load_gpus(reading& r) {
  if (!gpus_) {
    gpus_ = tool_.ask_gpus(r);
    if (*gpus_) adopt_rows(r);
    condition_ = *gpus_ ? failure{status::ok, source::nvidia_smi, {}, {}} : gpus_->why();
  }
  return *gpus_ ? result<void>() : result<void>(gpus_->why());
}

void smi_source::adopt_rows(reading& r) {
  const reply<gpu_row>& answer = **gpus_;
  std::size_t again = 0;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) again += adopt_row(i, r) ? 0 : 1;
  if (again != 0) {
    r.remark(about_device(
        fail(status::backend, compose({again,
                                       " row(s) of nvidia-smi are of a GPU that it lists twice, or "
                                       "of none that anything identifies"})),
        subject::devices, {}));
  }
  report(answer.problems, subject::devices, r);
}

// False for a row that is of no GPU, or of one that has a row already.
bool smi_source::adopt_row(std::size_t at, reading& r) {
  const gpu_row& row = (**gpus_).rows[at];
  const device who = identity_of(row);
  if (who.uuid.empty() && who.pci_bus_id.empty() && !who.driver_index) return false;
  known_gpu& k = known_[slot_of(who)];
  if (k.row) return false;
  adopt(k.who, who);
  k.row = at;
  k.mig_on = is_mig_on(row);
  const gpu_cell& total = row[gpu_column::memory_total];
  k.total = bytes_of(total.text, total.unit).value;
  if (k.total == 0) k.total.reset();
  if (k.mig_on) r.remark(about_device(no_instances(), subject::devices, k.who.number));
  return true;
}

void smi_source::report(const std::vector<problem>& problems, std::uint32_t about,
                        reading& r) const {
  for (const problem& p : problems) {
    device who;
    who.pci_bus_id.assign(p.bus_id);
    r.remark(about_device(p.why, about, find(who)));
  }
}

// By uuid; by PCI address while one of the two uuids is not known; by index when there is nothing
// else.
std::optional<slot> smi_source::find(const device& who) const {
  const auto matches = [&](const device& d) {
    if (!who.uuid.empty() && !d.uuid.empty()) return who.uuid == d.uuid;
    if (!who.pci_bus_id.empty() && !d.pci_bus_id.empty()) return who.pci_bus_id == d.pci_bus_id;
    return who.driver_index && who.driver_index == d.driver_index;
  };
  for (const known_gpu& k : known_) {
    if (matches(k.who)) return k.who.number;
  }
  return std::nullopt;
}

slot smi_source::slot_of(const device& who) {
  if (const auto number = find(who)) return *number;
  known_gpu& fresh = known_.emplace_back();
  fresh.who.number = static_cast<slot>(known_.size() - 1);
  return fresh.who.number;
}

failure smi_source::why_no_row(slot number) const {
  if (!asleep_.empty()) return why_asleep();
  for (const problem& p : (**gpus_).problems) {
    if (!p.bus_id.empty() && p.bus_id == known_[number].who.pci_bus_id.view()) return p.why;
  }
  return fail(status::device_lost, "nvidia-smi does not list this GPU any more");
}

result<const gpu_row*> smi_source::row_of(slot number, reading& r) {
  if (number >= known_.size()) return fail(status::no_device, "nvidia-smi never listed this GPU");
  if (!asleep_.empty()) return why_asleep();
  if (result<void> loaded = load_gpus(r); !loaded) return std::move(loaded.why());
  if (!known_[number].row) return why_no_row(number);
  return &(**gpus_).rows[*known_[number].row];
}

result<void> smi_source::memory(slot number, pools& out, reading& r) {
  const auto row = row_of(number, r);
  if (!row) return row.why();
  std::vector<missing> gone;
  const result<pool> p = pool_of(**row, gone);
  if (!p) return p.why();
  report_missing(gone, subject::pools, number, r);
  out.add(*p);
  return {};
}

result<void> smi_source::telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                   reading& r) {
  const auto row = row_of(number, r);
  if (!row) return row.why();
  std::vector<missing> gone;
  out = telemetry_of(**row, fields, gone);
  if (fields_of(gone) == fields) return fail(gone.front().code, gone.front().message);
  report_missing(gone, subject::telemetry, number, r);
  return {};
}

source_state smi_source::describe() const {
  source_state now;
  now.why = condition_;
  now.state = condition_.code == status::ok ? state::ready : state::unknown;
  for (const known_gpu& k : known_) {
    if (now.version.empty()) now.version = k.who.driver_version;
  }
  return now;
}

}  // namespace hmn::nvidia_smi

namespace hmn {

std::unique_ptr<device_source> make_nvidia_smi(const settings& s) {
  return std::make_unique<nvidia_smi::smi_source>(s);
}

}  // namespace hmn
