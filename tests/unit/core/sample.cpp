// SPDX-License-Identifier: MIT OR Apache-2.0
#include "sample.hpp"

namespace sample {
namespace {

using hmn::note::estimated;
using hmn::note::lower_bound;
using hmn::note::stale;

hmn::ProcessMemory make_memory() {
  hmn::ProcessMemory memory;
  memory.pid = 4711;
  memory.source = hmn::Source::os;
  memory.notes = stale;
  memory.resident = 101;
  memory.peak_resident = 102;
  memory.virtual_size = 103;
  memory.swap = 104;
  memory.proportional = 105;
  memory.private_set = 106;
  memory.committed = 107;
  memory.footprint = UINT64_MAX;
  memory.peak_footprint = 108;
  memory.peak_committed = 109;
  memory.process_key = 110;
  return memory;
}

hmn::SystemMemory make_system() {
  hmn::SystemMemory memory;
  memory.source = hmn::Source::os;
  memory.notes = estimated;
  memory.total = 201;
  memory.available = 202;
  memory.swap_total = 203;
  memory.swap_free = 204;
  memory.limit = 205;
  memory.limit_used = 206;
  memory.commit_limit = 207;
  memory.committed = 208;
  memory.pressure = hmn::MemoryPressure::warning;
  memory.stall_percent = 20.25;
  memory.usable = 209;
  return memory;
}

hmn::Telemetry make_telemetry() {
  hmn::Telemetry telemetry;
  telemetry.source = hmn::Source::nvml;
  telemetry.notes = hmn::note::mixed;
  telemetry.sources = 1U << 2 | 1U << 3;
  telemetry.gpu_busy_percent = 30.5;
  telemetry.memory_busy_percent = 31;
  telemetry.encoder_busy_percent = 32;
  telemetry.decoder_busy_percent = 33;
  telemetry.temperature_celsius = -34.25;
  telemetry.hotspot_celsius = 35;
  telemetry.memory_celsius = 36;
  telemetry.power_watts = 0.1;
  telemetry.power_limit_watts = 450;
  telemetry.energy_joules = 1e21;
  telemetry.core_clock_mhz = 301;
  telemetry.memory_clock_mhz = 302;
  telemetry.fan_percent = 303;
  telemetry.fan_rpm = 304;
  telemetry.pcie_generation = 305;
  telemetry.pcie_width = 306;
  telemetry.p_state = 307;
  telemetry.throttle = hmn::throttle::power | hmn::throttle::other;
  telemetry.pcie_rx_bytes = 308;
  telemetry.pcie_tx_bytes = 309;
  telemetry.window_ns = 310;
  return telemetry;
}

hmn::Usage make_usage(std::uint64_t age_ns) {
  hmn::Usage usage;
  usage.device_index = 601;
  usage.age_ns = age_ns;
  usage.pid = 4294967295;
  usage.source = hmn::Source::nvidia_smi;
  usage.notes = lower_bound;
  usage.accounting = hmn::Accounting::committed;
  usage.kinds = hmn::usage_kind::compute | hmn::usage_kind::media;
  usage.instance = {401, 402};
  usage.used = 403;
  usage.peak_used = 419;
  usage.resident = 404;
  usage.committed = 405;
  usage.allocated = 406;
  usage.shared = 407;
  usage.purgeable = 408;
  usage.evicted = 409;
  usage.host_pool = 410;
  usage.budget = 411;
  usage.busy_ns = 412;
  usage.busy_percent = 41.3;
  usage.window_ns = 414;
  usage.host_resident = 415;
  usage.start_unix_ns = 416;
  usage.process_key = 18446744073709551614U;
  usage.uid = 417;
  usage.name_state = hmn::NameState::resolved;
  usage.name = "na\"ïve";
  usage.container = "docker:0f";
  return usage;
}

hmn::Pool make_pool() {
  hmn::Pool pool;
  pool.kind = hmn::PoolKind::vram;
  pool.source = hmn::Source::simulated;
  pool.notes = hmn::note::truncated;
  pool.accounting = hmn::Accounting::allocated;
  pool.is_main = true;
  pool.total = 501;
  pool.free = 502;
  pool.used = 503;
  pool.reserved = 504;
  pool.usable = 505;
  pool.budget = 506;
  pool.unattributed = 507;
  pool.device_index = 601;
  pool.age_ns = 508;
  return pool;
}

// A reading with every field, and a count with as few as possible.
std::vector<hmn::Metric> make_metrics() {
  hmn::Metric full = hmn::make_value_metric(hmn::Source::drm, hmn::MetricId::temperature,
                                            hmn::metric_instance::sensor::hotspot, 80.125);
  full.notes = hmn::note::estimated;
  full.window_ns = 802;
  full.device_index = 601;
  full.age_ns = 803;
  hmn::Metric sparse =
      hmn::make_count_metric(hmn::Source::nvml, hmn::MetricId::pcie_replays, 0, ~0ULL);
  sparse.device_index = 601;
  sparse.age_ns = 804;
  return {full, sparse};
}

hmn::SnapshotDevice make_full_device() {
  hmn::SnapshotDevice full_device = make_device(601, "NVIDIA Test GPU");
  full_device.identity.edit().parent_index = 602;
  hmn::Device& identity = full_device.identity.edit();
  identity.source = hmn::Source::nvml;
  identity.notes = hmn::note::partial;
  identity.device_class = hmn::DeviceClass::npu;
  identity.form = hmn::DeviceForm::integrated;
  identity.state = hmn::State::ready;
  identity.vendor = hmn::vendor::nvidia;
  identity.memory_kind = hmn::MemoryKind::coherent;
  identity.driver_index = 603;
  identity.pci_device = 604;
  identity.pci_subsystem = 605;
  identity.render_minor = 606;
  identity.numa_node = 607;
  identity.cuda_version_major = 608;
  identity.cuda_version_minor = 615;
  identity.compute_capability_major = 613;
  identity.compute_capability_minor = 616;
  identity.architecture.assign("Testing");
  identity.instance = {609, 610};
  identity.os_id = 611;
  identity.uuid.assign("GPU-1");
  identity.pci_bus_id.assign("0000:01:00.0");
  identity.driver_version.assign("591.86");
  full_device.age_ns = 614;
  full_device.telemetry = make_telemetry();
  full_device.telemetry->device_index = 601;
  full_device.telemetry->age_ns = 612;
  full_device.self = make_usage(613);
  return full_device;
}

hmn::SnapshotDiagnostic make_diagnostic() {
  hmn::SnapshotDiagnostic diagnostic;
  diagnostic.value.failure = {
      hmn::Status::permission, hmn::Source::nvml, {hmn::NativeDomain::nvml, -4}, "run as root\n"};
  diagnostic.value.notes = hmn::note::trace;
  diagnostic.value.subject = hmn::subject::telemetry;
  diagnostic.value.field = hmn::telemetry_field::power_watts | hmn::telemetry_field::window_ns;
  diagnostic.value.pid = 701;
  diagnostic.value.duration_ns = 702;
  diagnostic.device_index = 703;
  diagnostic.count = 704;
  return diagnostic;
}

}  // namespace

hmn::SnapshotDevice make_device(std::uint32_t index, std::string_view name) {
  hmn::SnapshotDevice device;
  device.identity.edit().index = index;
  device.identity.edit().name.assign(name);
  return device;
}

hmn::Pool make_main_pool(std::uint32_t device_index, std::optional<std::uint64_t> total,
                         std::optional<std::uint64_t> used, std::optional<std::uint64_t> free) {
  hmn::Pool pool;
  pool.device_index = device_index;
  pool.is_main = true;
  pool.total = total;
  pool.used = used;
  pool.free = free;
  return pool;
}

hmn::Snapshot make_full_snapshot() {
  hmn::Snapshot snapshot;
  snapshot.collect = hmn::subject::all;
  snapshot.notes = hmn::note::partial;
  snapshot.unreadable_processes = 1;
  snapshot.unix_time_ns = 1'760'000'000'123'456'789;
  snapshot.monotonic_ns = 2;
  snapshot.duration_ns = 3;
  snapshot.memory = make_memory();
  snapshot.system = make_system();
  snapshot.devices.push_back(make_full_device());
  snapshot.pools.push_back(make_pool());
  snapshot.usages.push_back(make_usage(418));
  snapshot.metrics = make_metrics();
  snapshot.groups.push_back({601, "docker:0f", hmn::Source::dmem, hmn::note::stale, 901, 902, 903});
  snapshot.explanations.edit().diagnostics.push_back(make_diagnostic());
  return snapshot;
}

}  // namespace sample
