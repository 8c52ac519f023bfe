// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/values.hpp"
#include "backends/shared/pci/pci.hpp"
#include "model/note.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"

namespace hmn::nvidia_smi {
namespace {

measured<std::uint64_t> memory_cell(const gpu_row& row, gpu_column c) {
  return bytes_of(row[c].text, row[c].unit);
}

// GPUs without memory of their own have no total, but so may others: `is_integrated` is evidence.
// ATS: the host's memory is addressed, and own memory is a NUMA node of the host.
memory_kind memory_kind_of(const gpu_row& row, bool is_integrated) {
  const auto total = memory_cell(row, gpu_column::memory_total);
  const bool translates = row.known(gpu_column::addressing_mode) == "ATS";
  if (!row[gpu_column::memory_total].is_asked) return memory_kind::unknown;
  if (total.value.value_or(0) != 0) {
    return translates ? memory_kind::coherent : memory_kind::dedicated;
  }
  const bool has_none = total.value == 0 || total.why == status::unsupported;
  return has_none && (is_integrated || translates) ? memory_kind::unified : memory_kind::unknown;
}

device_kind kind_of(memory_kind k) {
  switch (k) {
    case memory_kind::dedicated:
    case memory_kind::coherent:
      return device_kind::discrete;
    case memory_kind::unified:
      return device_kind::integrated;
    case memory_kind::unknown:
      break;
  }
  return device_kind::unknown;
}

state state_of(const gpu_row& row) {
  state worst = state::ready;
  for (const gpu_cell& cell : row.cells) {
    const status s = cell.is_asked ? status_of_cell(cell.text) : status::ok;
    if (s == status::device_lost) return state::lost;
    const bool is_error = s == status::backend || s == status::permission || s == status::timeout;
    if (is_error) worst = state::unreadable;
  }
  return worst;
}

// Parses "0x233510DE": device and vendor.
std::optional<std::uint32_t> pci_device_of(const gpu_row& row) {
  const auto id = hexadecimal_of(row[gpu_column::pci_device].text);
  if (!id.value || *id.value > 0xFFFFFFFF || (*id.value & 0xFFFF) != vendor::nvidia) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*id.value >> 16);
}

std::optional<std::uint32_t> pci_subsystem_of(const gpu_row& row) {
  const auto id = hexadecimal_of(row[gpu_column::pci_subsystem].text);
  if (!id.value || *id.value > 0xFFFFFFFF) return std::nullopt;
  return static_cast<std::uint32_t>(*id.value);
}

// Parses "8.9".
std::optional<std::uint32_t> compute_capability_of(const gpu_row& row) {
  std::string_view rest = row.known(gpu_column::compute_capability);
  const auto major = scan::number<std::uint16_t>(scan::take_until(rest, '.'));
  const auto minor = scan::number<std::uint16_t>(rest);
  if (!major || !minor) return std::nullopt;
  return 1000U * *major + 10U * *minor;
}

}  // namespace

device identity_of(const gpu_row& row) {
  device d;
  d.from = source::nvidia_smi;
  d.vendor = vendor::nvidia;
  d.state = state_of(row);
  d.driver_index = scan::number<std::uint32_t>(row[gpu_column::index].text);
  d.pci_device = pci_device_of(row);
  d.pci_subsystem = pci_subsystem_of(row);
  d.compute_capability = compute_capability_of(row);
  d.name.assign(row.known(gpu_column::name));
  d.memory_kind = memory_kind_of(row, pci::is_integrated_nvidia(d));
  d.kind = kind_of(d.memory_kind);
  d.uuid.assign(row.known(gpu_column::uuid));
  d.pci_bus_id = normal_pci_address(row[gpu_column::pci_bus_id].text);
  d.driver_version.assign(row.known(gpu_column::driver_version));
  if (d.name.was_cut() || d.uuid.was_cut() || d.driver_version.was_cut())
    d.notes |= note::truncated;
  return d;
}

bool is_mig_on(const gpu_row& row) {
  return row.known(gpu_column::mig_mode) == "Enabled";
}

}  // namespace hmn::nvidia_smi
