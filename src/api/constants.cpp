// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The model's numbers are those of the C interface.
#include <hypomnesis.h>

#include "backends/registry.hpp"
#include "core/context.hpp"

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
SAME(source::drm, HMN_BACKEND_DRM);
SAME(source::simulated, HMN_BACKEND_SIMULATED);

SAME(native_domain::none, HMN_NATIVE_NONE);
SAME(native_domain::error_number, HMN_NATIVE_ERRNO);
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
SAME(process_memory_field::all, HMN_PROCESS_MEMORY_HAS_FOOTPRINT * 2 - 1);

SAME(usage_kind::compute, HMN_USAGE_COMPUTE);
SAME(usage_kind::graphics, HMN_USAGE_GRAPHICS);
SAME(usage_kind::media, HMN_USAGE_MEDIA);

SAME(name_state::unknown, HMN_NAME_UNKNOWN);
SAME(name_state::resolved, HMN_NAME_RESOLVED);
SAME(name_state::exited, HMN_NAME_EXITED);
SAME(name_state::protected_process, HMN_NAME_PROTECTED);
SAME(name_state::kernel, HMN_NAME_KERNEL);

SAME(subject::memory, HMN_COLLECT_MEMORY);
SAME(subject::system, HMN_COLLECT_SYSTEM);
SAME(subject::devices, HMN_COLLECT_DEVICES);
SAME(subject::pools, HMN_COLLECT_POOLS);
SAME(subject::self, HMN_COLLECT_SELF);
SAME(subject::processes, HMN_COLLECT_PROCESSES);
SAME(subject::telemetry, HMN_COLLECT_TELEMETRY);
SAME(subject::all, HMN_COLLECT_TELEMETRY * 2 - 1);

SAME(path_kind::proc, HMN_PATH_PROC);
SAME(path_kind::sys, HMN_PATH_SYS);
SAME(path_kind::nvml, HMN_PATH_NVML);
SAME(path_kind::nvidia_smi, HMN_PATH_NVIDIA_SMI);
SAME(path_kind::simulation, HMN_PATH_SIMULATION);
SAME(path_kind::cgroup, HMN_PATH_CGROUP);
SAME(path_kind::dev, HMN_PATH_DEV);

#undef SAME

}  // namespace
}  // namespace hmn
