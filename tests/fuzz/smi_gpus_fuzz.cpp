// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/rows.hpp"
#include "fuzz.hpp"
#include "model/pci_address.hpp"
#include "model/plausible.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

namespace {

void check_pool(const GpuRow& row) {
  std::vector<Missing> gone;
  auto p = pool_of(row, gone);
  if (!p) return;
  promise(p->kind == PoolKind::unified || p->total);
  promise(p->kind != PoolKind::unified || (!p->total && !p->used && !p->free && !p->reserved));
  drop_implausible(*p, drop_silently);
  for (const auto& part : {p->used, p->free, p->reserved}) {
    promise(!part || !p->total || *part <= *p->total);
  }
}

void check_telemetry(const GpuRow& row) {
  std::vector<Missing> gone;
  Telemetry t = telemetry_of(row, telemetry_field::all, gone);
  hmn::FieldSet fields = 0;
  for (const Missing& m : gone) {
    promise(m.fields != 0 && m.code != Status::ok && is_utf8(m.message.view()));
    promise((fields & m.fields) == 0);
    fields |= m.fields;
  }
  promise(((fields & telemetry_field::power_watts) == 0) == t.power_watts.has_value());
  promise(((fields & telemetry_field::p_state) == 0) == t.p_state.has_value());
  drop_implausible(t, drop_silently);
  for (const auto& busy : {t.gpu_busy_percent, t.memory_busy_percent, t.encoder_busy_percent,
                           t.decoder_busy_percent}) {
    promise(!busy || (*busy >= 0 && *busy <= 100));
  }
}

}  // namespace

void fuzz(std::string_view input) {
  const auto whole = parse_gpus(input, false);
  const auto cut = parse_gpus(input, true);
  promise(cut.rows.size() <= whole.rows.size());
  promise(whole.is_table || whole.rows.empty());
  promise(whole.strays.count() + whole.rows.size() <= input.size());
  for (const GpuRow& row : whole.rows) {
    const Device d = identity_of(row);
    promise(is_utf8(d.name.view()) && is_utf8(d.uuid.view()) && is_utf8(d.driver_version.view()));
    promise(normal_pci_address(d.pci_bus_id.view()) == d.pci_bus_id);
    check_pool(row);
    check_telemetry(row);
  }
}
