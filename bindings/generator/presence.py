# SPDX-License-Identifier: MIT OR Apache-2.0
"""The fields that a presence bit guards: HMN_POOL_HAS_FREE guards `free`, or `free` with a unit: free_bytes."""

UNITS = ("", "_bytes", "_percent", "_celsius", "_watts", "_joules", "_mhz", "_index", "_ns")

# Bits whose fields are not named after them.
BIT_FIELDS = {
    "HMN_DELTA_HAS_DEVICE": ["device_bytes"],
    "HMN_DEVICE_HAS_PCI": ["pci_bus_id"],
    "HMN_DEVICE_HAS_PCI_DEVICE": ["pci_device"],
    "HMN_DEVICE_HAS_DRIVER": ["driver_version"],
    "HMN_DEVICE_HAS_DRIVER_INDEX": ["driver_index"],
    "HMN_DEVICE_HAS_CUDA_VERSION": ["cuda_version_major", "cuda_version_minor"],
    "HMN_DEVICE_HAS_COMPUTE_CAPABILITY": ["compute_capability_major", "compute_capability_minor"],
    "HMN_DEVICE_HAS_INSTANCE": ["gpu_instance", "compute_instance"],
    "HMN_DIAGNOSTIC_HAS_POOL": ["pool", "pool_instance"],
    "HMN_PEAK_HAS_USED": ["used_bytes", "used_monotonic_ns"],
    "HMN_SAMPLER_INFO_HAS_LAST": ["last_status", "last_monotonic_ns"],
    "HMN_SPILL_INFO_HAS_OBSERVED": ["dedicated_bytes", "shared_bytes", "peak_dedicated_bytes",
                                    "peak_shared_bytes", "baseline_shared_bytes"],
    "HMN_SPILL_INFO_HAS_PEAK_EVICTED": ["peak_evicted_bytes", "baseline_evicted_bytes"],
    "HMN_SPILL_INFO_HAS_EPISODE": ["longest_ns", "longest_episode", "first_label"],
    "HMN_EPISODE_HAS_END": ["end_monotonic_ns", "end_label"],
    "HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE": ["memory_celsius"],
    "HMN_TELEMETRY_HAS_POWER": ["power_watts"],
    "HMN_USAGE_HAS_INSTANCE": ["gpu_instance", "compute_instance"],
    "HMN_USAGE_HAS_BUSY_PERCENT": ["busy_percent", "window_ns"],
    "HMN_USAGE_HAS_BUSY_NS": ["busy_ns"],
    "HMN_USAGE_HAS_START_TIME": ["start_unix_ns"],
}


def find_fields(bit, word, struct):
    if bit in BIT_FIELDS:
        return BIT_FIELDS[bit]
    names = [field.name for field in struct.fields]
    matches = [word + unit for unit in UNITS if word + unit in names]
    if len(matches) != 1:
        raise SystemExit(f"generate: {bit} names {' and '.join(matches) or 'no field'} of {struct.name}: name the "
                         "bit like its field, or list its fields in bindings/generator/presence.py")
    return matches


def bits(constants, struct):
    """field -> its bit of `present`"""
    prefix = f"{struct.name.upper()}_HAS_"
    return {name: bit for bit in constants if bit.startswith(prefix)
            for name in find_fields(bit, bit[len(prefix):].lower(), struct)}
