// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/source.hpp"

#include "model/compose.hpp"
#include "source/registry.hpp"

namespace hmn::nvidia_smi {
namespace {

std::uint32_t fields_of(const std::vector<missing>& gone) {
  std::uint32_t fields = 0;
  for (const missing& m : gone) fields |= m.fields;
  return fields;
}

}  // namespace

smi_source::smi_source(const settings& s)
    : tool_source(smi, s, s.nvidia_smi_path), tool_(program_) {
  fill(telemetry_field::all & ~never_in_table);
}

result<void> smi_source::ask(reading& r) {
  if (result<void> reported = tool_.ask_gpus(r, gpus_); !reported) return reported;
  std::size_t again = 0;
  for (std::size_t i = 0; i < gpus_.rows.size(); ++i) again += adopt_row(i, r) ? 0 : 1;
  if (again != 0) {
    diagnose(with_reason(
                 reason::ambiguous,
                 fail(status::backend, {again,
                                        " row(s) of nvidia-smi are of a GPU that it lists twice, "
                                        "or of none that anything identifies"})),
             subject::devices, 0, {}, r);
  }
  for (const problem& p : gpus_.problems) report(p, r);
  return {};
}

// Returns false for a row that matches no GPU, or one that already has a row.
bool smi_source::adopt_row(std::size_t at, reading& r) {
  const gpu_row& row = gpus_.rows[at];
  const device who = identity_of(row);
  if (who.uuid.empty() && who.pci_bus_id.empty() && !who.driver_index) return false;
  known_gpu* const k = adopt(who, at);
  if (k == nullptr) return false;
  k->has_instances = is_mig_on(row);
  const gpu_cell& total = row[gpu_column::memory_total];
  k->total = bytes_of(total.text, total.unit).value;
  if (k->total == 0) k->total.reset();
  if (k->has_instances) {
    diagnose(fail(status::unsupported,
                  "MIG is on, and nvidia-smi's table lists no instances: values are those of the "
                  "whole GPU, processes stay with it"),
             subject::devices, 0, k->who.number, r);
  }
  return true;
}

void smi_source::report(const problem& p, reading& r) const {
  device who;
  who.pci_bus_id = p.bus_id;
  diagnose(p.why, subject::devices, 0, find(who), r);
}

result<const gpu_row*> smi_source::gpu_of(slot number, reading& r) {
  result<std::size_t> at = row_of(number, r);
  taken_ns_ = loaded_ns();
  if (at) return &gpus_.rows[*at];
  if (at.why().code == status::device_lost) {
    for (const problem& p : gpus_.problems) {
      if (!p.bus_id.empty() && p.bus_id == known_[number].who.pci_bus_id) return p.why;
    }
  }
  return at.why();
}

result<void> smi_source::memory(slot number, pools& out, reading& r) {
  const auto row = gpu_of(number, r);
  if (!row) return row.why();
  std::vector<missing> gone;
  const result<pool> p = pool_of(**row, gone);
  if (!p) return p.why();
  diagnose(gone, subject::pools, number, r);
  out.add(*p);
  return {};
}

result<void> smi_source::telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                   reading& r) {
  const auto row = gpu_of(number, r);
  if (!row) return row.why();
  std::vector<missing> gone;
  out = telemetry_of(**row, fields, gone);
  if (fields_of(gone) == fields) return why_nothing(gone, subject::telemetry, number, r);
  diagnose(gone, subject::telemetry, number, r);
  return {};
}

result<void> smi_source::metrics(slot number, bool, std::vector<metric>& out, reading& r) {
  const auto row = gpu_of(number, r);
  if (!row) return row.why();
  metrics_of(**row, out, [&](metric_id id, status why, const gpu_cell& cell) {
    std::vector<missing> gone;
    add_missing(gone, static_cast<std::uint32_t>(id), why, cell);
    diagnose(gone, subject::metrics, number, r);
  });
  return {};
}

}  // namespace hmn::nvidia_smi

namespace hmn {

std::unique_ptr<device_source> make_nvidia_smi(const settings& s) {
  return std::make_unique<nvidia_smi::smi_source>(s);
}

}  // namespace hmn
