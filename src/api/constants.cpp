// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The model's numbers are those of the C interface.
#include <hypomnesis.h>

#include "backends/registry.hpp"
#include "core/context.hpp"
#include "core/estimate.hpp"
#include "core/sampler.hpp"
#include "core/spill.hpp"

namespace hmn {
namespace {

#define SAME(inside, outside) \
  static_assert(static_cast<long>(inside) == static_cast<long>(outside), #outside " moved")

SAME(status::ok, HMN_OK);
SAME(status::argument, HMN_E_ARGUMENT);
SAME(status::struct_size, HMN_E_STRUCT_SIZE);
SAME(status::unknown_flag, HMN_E_UNKNOWN_FLAG);
SAME(status::range, HMN_E_RANGE);
SAME(status::no_memory, HMN_E_NO_MEMORY);
SAME(status::unsupported, HMN_E_UNSUPPORTED);
SAME(status::no_source, HMN_E_NO_SOURCE);
SAME(status::no_device, HMN_E_NO_DEVICE);
SAME(status::no_process, HMN_E_NO_PROCESS);
SAME(status::permission, HMN_E_PERMISSION);
SAME(status::timeout, HMN_E_TIMEOUT);
SAME(status::device_lost, HMN_E_DEVICE_LOST);
SAME(status::backend, HMN_E_BACKEND);
SAME(status::limit, HMN_E_LIMIT);
SAME(status::overflow, HMN_E_OVERFLOW);
SAME(status::forked, HMN_E_FORKED);
SAME(status::buffer, HMN_E_BUFFER);
SAME(status::empty, HMN_E_EMPTY);
SAME(status::internal, HMN_E_INTERNAL);
SAME(status::asleep, HMN_E_ASLEEP);
SAME(status::state, HMN_E_STATE);

SAME(source::none, HMN_BACKEND_NONE);
SAME(source::os, HMN_BACKEND_OS);
SAME(source::nvml, HMN_BACKEND_NVML);
SAME(source::nvidia_smi, HMN_BACKEND_NVIDIA_SMI);
SAME(source::amdgpu, HMN_BACKEND_AMDGPU);
SAME(source::kfd, HMN_BACKEND_KFD);
SAME(source::rocm_smi, HMN_BACKEND_ROCM_SMI);
SAME(source::i915, HMN_BACKEND_I915);
SAME(source::xe, HMN_BACKEND_XE);
SAME(source::drm, HMN_BACKEND_DRM);
SAME(source::dxgi, HMN_BACKEND_DXGI);
SAME(source::pdh, HMN_BACKEND_PDH);
SAME(source::metal, HMN_BACKEND_METAL);
SAME(source::macmon, HMN_BACKEND_MACMON);
SAME(source::tegra, HMN_BACKEND_TEGRA);
SAME(source::dmem, HMN_BACKEND_DMEM);
SAME(source::simulated, HMN_BACKEND_SIMULATED);
SAME(source::amd_smi, HMN_BACKEND_AMD_SMI);

SAME(native_domain::none, HMN_NATIVE_NONE);
SAME(native_domain::error_number, HMN_NATIVE_ERRNO);
SAME(native_domain::win32, HMN_NATIVE_WIN32);
SAME(native_domain::hresult, HMN_NATIVE_HRESULT);
SAME(native_domain::ntstatus, HMN_NATIVE_NTSTATUS);
SAME(native_domain::pdh, HMN_NATIVE_PDH);
SAME(native_domain::kern, HMN_NATIVE_KERN);
SAME(native_domain::nvml, HMN_NATIVE_NVML);
SAME(native_domain::exit, HMN_NATIVE_EXIT);

SAME(note::stale, HMN_NOTE_STALE);
SAME(note::lower_bound, HMN_NOTE_LOWER_BOUND);
SAME(note::estimated, HMN_NOTE_ESTIMATED);
SAME(note::truncated, HMN_NOTE_TRUNCATED);
SAME(note::mixed, HMN_NOTE_MIXED);
SAME(note::foreign_pid, HMN_NOTE_FOREIGN_PID);
SAME(note::partial, HMN_NOTE_PARTIAL);
SAME(note::trace, HMN_NOTE_TRACE);

SAME(accounting::none, HMN_ACCOUNT_NONE);
SAME(accounting::resident, HMN_ACCOUNT_RESIDENT);
SAME(accounting::committed, HMN_ACCOUNT_COMMITTED);
SAME(accounting::allocated, HMN_ACCOUNT_ALLOCATED);

SAME(device_kind::unknown, HMN_KIND_UNKNOWN);
SAME(device_kind::discrete, HMN_KIND_DISCRETE);
SAME(device_kind::integrated, HMN_KIND_INTEGRATED);
SAME(device_kind::partition, HMN_KIND_PARTITION);
SAME(device_kind::virtual_device, HMN_KIND_VIRTUAL);

SAME(memory_kind::unknown, HMN_MEMORY_KIND_UNKNOWN);
SAME(memory_kind::dedicated, HMN_MEMORY_KIND_DEDICATED);
SAME(memory_kind::unified, HMN_MEMORY_KIND_UNIFIED);
SAME(memory_kind::coherent, HMN_MEMORY_KIND_COHERENT);

SAME(state::unknown, HMN_STATE_UNKNOWN);
SAME(state::ready, HMN_STATE_READY);
SAME(state::asleep, HMN_STATE_ASLEEP);
SAME(state::lost, HMN_STATE_LOST);
SAME(state::unreadable, HMN_STATE_UNREADABLE);
SAME(state::hung, HMN_STATE_HUNG);
SAME(state::absent, HMN_STATE_ABSENT);
SAME(state::off, HMN_STATE_OFF);

SAME(vendor::unknown, HMN_VENDOR_UNKNOWN);
SAME(vendor::amd, HMN_VENDOR_AMD);
SAME(vendor::apple, HMN_VENDOR_APPLE);
SAME(vendor::nvidia, HMN_VENDOR_NVIDIA);
SAME(vendor::intel, HMN_VENDOR_INTEL);

SAME(pool_kind::main, HMN_POOL_MAIN);
SAME(pool_kind::vram, HMN_POOL_VRAM);
SAME(pool_kind::vram_visible, HMN_POOL_VRAM_VISIBLE);
SAME(pool_kind::host, HMN_POOL_HOST);
SAME(pool_kind::unified, HMN_POOL_UNIFIED);
SAME(pool_kind::stolen, HMN_POOL_STOLEN);

SAME(throttle::idle, HMN_THROTTLE_IDLE);
SAME(throttle::power, HMN_THROTTLE_POWER);
SAME(throttle::thermal, HMN_THROTTLE_THERMAL);
SAME(throttle::hardware, HMN_THROTTLE_HARDWARE);
SAME(throttle::setting, HMN_THROTTLE_SETTING);
SAME(throttle::other, HMN_THROTTLE_OTHER);

SAME(telemetry_field::gpu_busy, HMN_TELEMETRY_HAS_GPU_BUSY);
SAME(telemetry_field::memory_busy, HMN_TELEMETRY_HAS_MEMORY_BUSY);
SAME(telemetry_field::encoder_busy, HMN_TELEMETRY_HAS_ENCODER_BUSY);
SAME(telemetry_field::decoder_busy, HMN_TELEMETRY_HAS_DECODER_BUSY);
SAME(telemetry_field::temperature, HMN_TELEMETRY_HAS_TEMPERATURE);
SAME(telemetry_field::hotspot, HMN_TELEMETRY_HAS_HOTSPOT);
SAME(telemetry_field::memory_temperature, HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE);
SAME(telemetry_field::power, HMN_TELEMETRY_HAS_POWER);
SAME(telemetry_field::power_limit, HMN_TELEMETRY_HAS_POWER_LIMIT);
SAME(telemetry_field::energy, HMN_TELEMETRY_HAS_ENERGY);
SAME(telemetry_field::core_clock, HMN_TELEMETRY_HAS_CORE_CLOCK);
SAME(telemetry_field::memory_clock, HMN_TELEMETRY_HAS_MEMORY_CLOCK);
SAME(telemetry_field::fan_percent, HMN_TELEMETRY_HAS_FAN_PERCENT);
SAME(telemetry_field::fan_rpm, HMN_TELEMETRY_HAS_FAN_RPM);
SAME(telemetry_field::pcie_generation, HMN_TELEMETRY_HAS_PCIE_GENERATION);
SAME(telemetry_field::pcie_width, HMN_TELEMETRY_HAS_PCIE_WIDTH);
SAME(telemetry_field::pcie_rx, HMN_TELEMETRY_HAS_PCIE_RX);
SAME(telemetry_field::pcie_tx, HMN_TELEMETRY_HAS_PCIE_TX);
SAME(telemetry_field::throttle, HMN_TELEMETRY_HAS_THROTTLE);
SAME(telemetry_field::p_state, HMN_TELEMETRY_HAS_P_STATE);
SAME(telemetry_field::window, HMN_TELEMETRY_HAS_WINDOW);
SAME(telemetry_field::all, HMN_TELEMETRY_HAS_WINDOW * 2 - 1);

SAME(process_memory_field::resident, HMN_PROCESS_MEMORY_HAS_RESIDENT);
SAME(process_memory_field::peak_resident, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT);
SAME(process_memory_field::virtual_size, HMN_PROCESS_MEMORY_HAS_VIRTUAL);
SAME(process_memory_field::swap, HMN_PROCESS_MEMORY_HAS_SWAP);
SAME(process_memory_field::proportional, HMN_PROCESS_MEMORY_HAS_PROPORTIONAL);
SAME(process_memory_field::private_set, HMN_PROCESS_MEMORY_HAS_PRIVATE);
SAME(process_memory_field::committed, HMN_PROCESS_MEMORY_HAS_COMMITTED);
SAME(process_memory_field::footprint, HMN_PROCESS_MEMORY_HAS_FOOTPRINT);
SAME(process_memory_field::peak_footprint, HMN_PROCESS_MEMORY_HAS_PEAK_FOOTPRINT);
SAME(process_memory_field::peak_committed, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED);
SAME(process_memory_field::all, HMN_PROCESS_MEMORY_HAS_PEAK_COMMITTED * 2 - 1);

SAME(memory_pressure::unknown, HMN_PRESSURE_UNKNOWN);
SAME(memory_pressure::normal, HMN_PRESSURE_NORMAL);
SAME(memory_pressure::warning, HMN_PRESSURE_WARNING);
SAME(memory_pressure::critical, HMN_PRESSURE_CRITICAL);

SAME(metric_id::unknown, HMN_METRIC_UNKNOWN);
SAME(metric_id::engine_busy_ns, HMN_METRIC_ENGINE_BUSY_NS);
SAME(metric_id::engine_percent, HMN_METRIC_ENGINE_PERCENT);
SAME(metric_id::engine_capacity, HMN_METRIC_ENGINE_CAPACITY);
SAME(metric_id::temperature, HMN_METRIC_TEMPERATURE);
SAME(metric_id::temperature_limit, HMN_METRIC_TEMPERATURE_LIMIT);
SAME(metric_id::fan_rpm, HMN_METRIC_FAN_RPM);
SAME(metric_id::fan_percent, HMN_METRIC_FAN_PERCENT);
SAME(metric_id::power_watts, HMN_METRIC_POWER_WATTS);
SAME(metric_id::energy_joules, HMN_METRIC_ENERGY_JOULES);
SAME(metric_id::clock_mhz, HMN_METRIC_CLOCK_MHZ);
SAME(metric_id::clock_limit_mhz, HMN_METRIC_CLOCK_LIMIT_MHZ);
SAME(metric_id::voltage, HMN_METRIC_VOLTAGE);
SAME(metric_id::temperature_shutdown, HMN_METRIC_TEMPERATURE_SHUTDOWN);
SAME(metric_id::power_limit_watts, HMN_METRIC_POWER_LIMIT_WATTS);
SAME(metric_id::ecc_corrected, HMN_METRIC_ECC_CORRECTED);
SAME(metric_id::ecc_uncorrected, HMN_METRIC_ECC_UNCORRECTED);
SAME(metric_id::rows_remapped, HMN_METRIC_ROWS_REMAPPED);
SAME(metric_id::last_fault, HMN_METRIC_LAST_FAULT);
SAME(metric_id::throttle_ns, HMN_METRIC_THROTTLE_NS);
SAME(metric_id::pcie_rx_bytes, HMN_METRIC_PCIE_RX_BYTES);
SAME(metric_id::pcie_tx_bytes, HMN_METRIC_PCIE_TX_BYTES);
SAME(metric_id::pcie_replays, HMN_METRIC_PCIE_REPLAYS);
SAME(metric_id::link_rx_bytes, HMN_METRIC_LINK_RX_BYTES);
SAME(metric_id::link_tx_bytes, HMN_METRIC_LINK_TX_BYTES);
SAME(metric_id::group_vram_bytes, HMN_METRIC_GROUP_VRAM_BYTES);
SAME(metric_id::group_vram_limit_bytes, HMN_METRIC_GROUP_VRAM_LIMIT_BYTES);

SAME(which::engine::unknown, HMN_ENGINE_UNKNOWN);
SAME(which::engine::graphics, HMN_ENGINE_GRAPHICS);
SAME(which::engine::compute, HMN_ENGINE_COMPUTE);
SAME(which::engine::copy, HMN_ENGINE_COPY);
SAME(which::engine::decode, HMN_ENGINE_DECODE);
SAME(which::engine::encode, HMN_ENGINE_ENCODE);
SAME(which::engine::video, HMN_ENGINE_VIDEO);
SAME(which::engine::other, HMN_ENGINE_OTHER);
SAME(which::engine::memory, HMN_ENGINE_MEMORY);

SAME(which::sensor::unknown, HMN_SENSOR_UNKNOWN);
SAME(which::sensor::core, HMN_SENSOR_CORE);
SAME(which::sensor::hotspot, HMN_SENSOR_HOTSPOT);
SAME(which::sensor::memory, HMN_SENSOR_MEMORY);
SAME(which::sensor::package, HMN_SENSOR_PACKAGE);
SAME(which::sensor::board, HMN_SENSOR_BOARD);
SAME(which::sensor::regulator, HMN_SENSOR_REGULATOR);

SAME(which::power_reading::unknown, HMN_POWER_UNKNOWN);
SAME(which::power_reading::average, HMN_POWER_AVERAGE);
SAME(which::power_reading::instant, HMN_POWER_INSTANT);
SAME(which::power_reading::package, HMN_POWER_PACKAGE);
SAME(which::power_reading::memory, HMN_POWER_MEMORY);
SAME(which::power_reading::board, HMN_POWER_BOARD);

SAME(which::power_limit::unknown, HMN_POWER_LIMIT_UNKNOWN);
SAME(which::power_limit::current, HMN_POWER_LIMIT_CURRENT);
SAME(which::power_limit::usual, HMN_POWER_LIMIT_DEFAULT);
SAME(which::power_limit::lowest, HMN_POWER_LIMIT_MIN);
SAME(which::power_limit::highest, HMN_POWER_LIMIT_MAX);

SAME(which::clock::unknown, HMN_CLOCK_UNKNOWN);
SAME(which::clock::core, HMN_CLOCK_CORE);
SAME(which::clock::memory, HMN_CLOCK_MEMORY);
SAME(which::clock::sm, HMN_CLOCK_SM);
SAME(which::clock::video, HMN_CLOCK_VIDEO);
SAME(which::clock::media, HMN_CLOCK_MEDIA);
SAME(which::clock::soc, HMN_CLOCK_SOC);
SAME(which::clock::fabric, HMN_CLOCK_FABRIC);
SAME(which::clock::requested, HMN_CLOCK_REQUESTED);

SAME(which::rail::unknown, HMN_RAIL_UNKNOWN);
SAME(which::rail::core, HMN_RAIL_CORE);
SAME(which::rail::soc, HMN_RAIL_SOC);
SAME(which::rail::memory, HMN_RAIL_MEMORY);
SAME(which::rail::board, HMN_RAIL_BOARD);

SAME(which::era::unknown, HMN_ERA_UNKNOWN);
SAME(which::era::since_load, HMN_ERA_SINCE_LOAD);
SAME(which::era::lifetime, HMN_ERA_LIFETIME);

SAME(which::remapping::unknown, HMN_REMAPPED_UNKNOWN);
SAME(which::remapping::corrected, HMN_REMAPPED_CORRECTED);
SAME(which::remapping::uncorrected, HMN_REMAPPED_UNCORRECTED);
SAME(which::remapping::pending, HMN_REMAPPED_PENDING);
SAME(which::remapping::failed, HMN_REMAPPED_FAILED);

SAME(usage_field::used, HMN_USAGE_HAS_USED);
SAME(usage_field::allocated, HMN_USAGE_HAS_ALLOCATED);
SAME(usage_field::busy_percent, HMN_USAGE_HAS_BUSY_PERCENT);
SAME(usage_field::peak_used, HMN_USAGE_HAS_PEAK_USED);

SAME(usage_kind::compute, HMN_USAGE_COMPUTE);
SAME(usage_kind::graphics, HMN_USAGE_GRAPHICS);
SAME(usage_kind::media, HMN_USAGE_MEDIA);

SAME(name_state::unknown, HMN_NAME_UNKNOWN);
SAME(name_state::resolved, HMN_NAME_RESOLVED);
SAME(name_state::exited, HMN_NAME_EXITED);
SAME(name_state::protected_process, HMN_NAME_PROTECTED);
SAME(name_state::kernel, HMN_NAME_KERNEL);

SAME(sampler_state::idle, HMN_SAMPLER_IDLE);
SAME(sampler_state::running, HMN_SAMPLER_RUNNING);
SAME(sampler_state::stopped, HMN_SAMPLER_STOPPED);

SAME(estimate::cache_kind::full, HMN_CACHE_FULL);
SAME(estimate::cache_kind::window, HMN_CACHE_WINDOW);
SAME(estimate::cache_kind::latent, HMN_CACHE_LATENT);
SAME(estimate::cache_kind::state, HMN_CACHE_STATE);

SAME(spill_rule::shared, HMN_SPILL_BY_SHARED);
SAME(spill_rule::evicted, HMN_SPILL_BY_EVICTED);

SAME(subject::memory, HMN_COLLECT_MEMORY);
SAME(subject::system, HMN_COLLECT_SYSTEM);
SAME(subject::devices, HMN_COLLECT_DEVICES);
SAME(subject::pools, HMN_COLLECT_POOLS);
SAME(subject::self, HMN_COLLECT_SELF);
SAME(subject::processes, HMN_COLLECT_PROCESSES);
SAME(subject::telemetry, HMN_COLLECT_TELEMETRY);
SAME(subject::metrics, HMN_COLLECT_METRICS);
SAME(subject::all, HMN_COLLECT_METRICS * 2 - 1);

SAME(path_kind::proc, HMN_PATH_PROC);
SAME(path_kind::sys, HMN_PATH_SYS);
SAME(path_kind::nvml, HMN_PATH_NVML);
SAME(path_kind::nvidia_smi, HMN_PATH_NVIDIA_SMI);
SAME(path_kind::rocm_smi, HMN_PATH_ROCM_SMI);
SAME(path_kind::amd_smi, HMN_PATH_AMD_SMI);
SAME(path_kind::macmon, HMN_PATH_MACMON);
SAME(path_kind::simulation, HMN_PATH_SIMULATION);
SAME(path_kind::cgroup, HMN_PATH_CGROUP);
SAME(path_kind::dev, HMN_PATH_DEV);

#undef SAME

}  // namespace
}  // namespace hmn
