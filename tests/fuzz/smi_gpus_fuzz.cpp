// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/rows.hpp"
#include "fuzz.hpp"
#include "model/pci_address.hpp"
#include "model/plausible.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;

namespace {

void check_pool(const GpuRow& row) {
  std::vector<MissingFields> missing_fields;
  auto pool = read_pool(row, missing_fields);
  if (!pool) return;
  promise(pool->kind == PoolKind::unified || pool->total);
  promise(pool->kind != PoolKind::unified ||
          (!pool->total && !pool->used && !pool->free && !pool->reserved));
  drop_implausible(*pool, drop_silently);
  for (const auto& part : {pool->used, pool->free, pool->reserved}) {
    promise(!part || !pool->total || *part <= *pool->total);
  }
}

void check_telemetry(const GpuRow& row) {
  std::vector<MissingFields> missing_fields;
  Telemetry telemetry = read_telemetry(row, telemetry_field::all, missing_fields);
  hmn::FieldSet fields = 0;
  for (const MissingFields& missing : missing_fields) {
    promise(missing.fields != 0 && missing.code != Status::ok && is_utf8(missing.message.view()));
    promise((fields & missing.fields) == 0);
    fields |= missing.fields;
  }
  promise(((fields & telemetry_field::power_watts) == 0) == telemetry.power_watts.has_value());
  promise(((fields & telemetry_field::p_state) == 0) == telemetry.p_state.has_value());
  drop_implausible(telemetry, drop_silently);
  for (const auto& busy : {telemetry.gpu_busy_percent, telemetry.memory_busy_percent,
                           telemetry.encoder_busy_percent, telemetry.decoder_busy_percent}) {
    promise(!busy || (*busy >= 0 && *busy <= 100));
  }
}

}  // namespace

void fuzz(std::string_view input) {
  const auto complete = parse_gpus(input, false);
  const auto cut = parse_gpus(input, true);
  promise(cut.rows.size() <= complete.rows.size());
  promise(complete.is_table || complete.rows.empty());
  promise(complete.strays.count() + complete.rows.size() <= input.size());
  for (const GpuRow& row : complete.rows) {
    const Device device = read_identity(row);
    promise(is_utf8(device.name.view()) && is_utf8(device.uuid.view()) &&
            is_utf8(device.driver_version.view()));
    promise(normalize_pci_address(device.pci_bus_id.view()) == device.pci_bus_id);
    check_pool(row);
    check_telemetry(row);
  }
}
