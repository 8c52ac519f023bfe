// SPDX-License-Identifier: MIT OR Apache-2.0
#include "sample.hpp"

namespace sample {
namespace {

using hmn::note::estimated;
using hmn::note::lower_bound;
using hmn::note::stale;

hmn::ProcessMemory memory() {
  hmn::ProcessMemory m;
  m.pid = 4711;
  m.from = hmn::Source::os;
  m.notes = stale;
  m.resident = 101;
  m.peak_resident = 102;
  m.virtual_size = 103;
  m.swap = 104;
  m.proportional = 105;
  m.private_set = 106;
  m.committed = 107;
  m.footprint = UINT64_MAX;
  m.peak_footprint = 108;
  m.peak_committed = 109;
  m.process_key = 110;
  return m;
}

hmn::SystemMemory system() {
  hmn::SystemMemory m;
  m.from = hmn::Source::os;
  m.notes = estimated;
  m.total = 201;
  m.available = 202;
  m.swap_total = 203;
  m.swap_free = 204;
  m.limit = 205;
  m.limit_used = 206;
  m.commit_limit = 207;
  m.committed = 208;
  m.pressure = hmn::MemoryPressure::warning;
  m.stall_percent = 20.25;
  m.usable = 209;
  return m;
}

hmn::Telemetry load() {
  hmn::Telemetry t;
  t.from = hmn::Source::nvml;
  t.notes = hmn::note::mixed;
  t.sources = 1U << 2 | 1U << 3;
  t.gpu_busy_percent = 30.5;
  t.memory_busy_percent = 31;
  t.encoder_busy_percent = 32;
  t.decoder_busy_percent = 33;
  t.temperature_celsius = -34.25;
  t.hotspot_celsius = 35;
  t.memory_celsius = 36;
  t.power_watts = 0.1;
  t.power_limit_watts = 450;
  t.energy_joules = 1e21;
  t.core_clock_mhz = 301;
  t.memory_clock_mhz = 302;
  t.fan_percent = 303;
  t.fan_rpm = 304;
  t.pcie_generation = 305;
  t.pcie_width = 306;
  t.p_state = 307;
  t.throttle = hmn::throttle::power | hmn::throttle::other;
  t.pcie_rx_bytes = 308;
  t.pcie_tx_bytes = 309;
  t.window_ns = 310;
  return t;
}

hmn::Usage row(std::uint64_t age_ns) {
  hmn::Usage u;
  u.device_index = 601;
  u.age_ns = age_ns;
  u.pid = 4294967295;
  u.from = hmn::Source::nvidia_smi;
  u.notes = lower_bound;
  u.accounting = hmn::Accounting::committed;
  u.kinds = hmn::usage_kind::compute | hmn::usage_kind::media;
  u.instance = {401, 402};
  u.used = 403;
  u.peak_used = 419;
  u.resident = 404;
  u.committed = 405;
  u.allocated = 406;
  u.shared = 407;
  u.purgeable = 408;
  u.evicted = 409;
  u.host_pool = 410;
  u.budget = 411;
  u.busy_ns = 412;
  u.busy_percent = 41.3;
  u.window_ns = 414;
  u.host_resident = 415;
  u.start_unix_ns = 416;
  u.process_key = 18446744073709551614U;
  u.uid = 417;
  u.name_state = hmn::NameState::resolved;
  u.name = "na\"ïve";
  u.container = "docker:0f";
  return u;
}

hmn::Pool some_pool() {
  hmn::Pool p;
  p.kind = hmn::PoolKind::vram;
  p.from = hmn::Source::simulated;
  p.notes = hmn::note::truncated;
  p.accounting = hmn::Accounting::allocated;
  p.is_main = true;
  p.total = 501;
  p.free = 502;
  p.used = 503;
  p.reserved = 504;
  p.usable = 505;
  p.budget = 506;
  p.unattributed = 507;
  p.device_index = 601;
  p.age_ns = 508;
  return p;
}

// A reading with every field, and a count with as few as may be.
std::vector<hmn::Metric> some_metrics() {
  hmn::Metric full = hmn::measured(hmn::Source::drm, hmn::MetricId::temperature,
                                   hmn::which::sensor::hotspot, 80.125);
  full.notes = hmn::note::estimated;
  full.window_ns = 802;
  full.device_index = 601;
  full.age_ns = 803;
  hmn::Metric few = hmn::counted(hmn::Source::nvml, hmn::MetricId::pcie_replays, 0, ~0ULL);
  few.device_index = 601;
  few.age_ns = 804;
  return {full, few};
}

hmn::SnapshotDevice some_device() {
  hmn::SnapshotDevice d = device(601, "NVIDIA Test GPU");
  d.identity.edit().parent_index = 602;
  hmn::Device& who = d.identity.edit();
  who.from = hmn::Source::nvml;
  who.notes = hmn::note::partial;
  who.device_class = hmn::DeviceClass::npu;
  who.form = hmn::DeviceForm::integrated;
  who.state = hmn::State::ready;
  who.vendor = hmn::vendor::nvidia;
  who.memory_kind = hmn::MemoryKind::coherent;
  who.driver_index = 603;
  who.pci_device = 604;
  who.pci_subsystem = 605;
  who.render_minor = 606;
  who.numa_node = 607;
  who.cuda_version_major = 608;
  who.cuda_version_minor = 615;
  who.compute_capability_major = 613;
  who.compute_capability_minor = 616;
  who.architecture.assign("Testing");
  who.instance = {609, 610};
  who.os_id = 611;
  who.uuid.assign("GPU-1");
  who.pci_bus_id.assign("0000:01:00.0");
  who.driver_version.assign("591.86");
  d.age_ns = 614;
  d.telemetry = load();
  d.telemetry->device_index = 601;
  d.telemetry->age_ns = 612;
  d.self = row(613);
  return d;
}

hmn::SnapshotDiagnostic some_diagnostic() {
  hmn::SnapshotDiagnostic d;
  d.value.why = {
      hmn::Status::permission, hmn::Source::nvml, {hmn::NativeDomain::nvml, -4}, "run as root\n"};
  d.value.notes = hmn::note::trace;
  d.value.about = hmn::subject::telemetry;
  d.value.field = hmn::telemetry_field::power_watts | hmn::telemetry_field::window_ns;
  d.value.pid = 701;
  d.value.duration_ns = 702;
  d.device_index = 703;
  d.count = 704;
  return d;
}

}  // namespace

hmn::SnapshotDevice device(std::uint32_t index, std::string_view name) {
  hmn::SnapshotDevice d;
  d.identity.edit().index = index;
  d.identity.edit().name.assign(name);
  return d;
}

hmn::Pool main_pool(std::uint32_t device_index, std::optional<std::uint64_t> total,
                    std::optional<std::uint64_t> used, std::optional<std::uint64_t> free) {
  hmn::Pool p;
  p.device_index = device_index;
  p.is_main = true;
  p.total = total;
  p.used = used;
  p.free = free;
  return p;
}

hmn::Snapshot full() {
  hmn::Snapshot s;
  s.collect = hmn::subject::all;
  s.notes = hmn::note::partial;
  s.unreadable_processes = 1;
  s.unix_time_ns = 1'760'000'000'123'456'789;
  s.monotonic_ns = 2;
  s.duration_ns = 3;
  s.memory = memory();
  s.system = system();
  s.devices.push_back(some_device());
  s.pools.push_back(some_pool());
  s.usages.push_back(row(418));
  s.metrics = some_metrics();
  s.groups.push_back({601, "docker:0f", hmn::Source::dmem, hmn::note::stale, 901, 902, 903});
  s.why.edit().diagnostics.push_back(some_diagnostic());
  return s;
}

}  // namespace sample
