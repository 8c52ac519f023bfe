// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>

#include "driver.hpp"

namespace fake_nvml {
namespace {

status engine(call which, device_handle handle, unsigned* percent, unsigned* period_us,
              answer<engine_use> device::*from) {
  return on_device(which, handle, [&](const device& target, visit&) {
    if (!percent || !period_us) return error_invalid_argument;
    engine_use use;
    const status result = give(target.*from, &use);
    if (result != success) return result;
    *percent = use.percent;
    *period_us = use.period_us;
    return success;
  });
}

template <std::size_t N>
status nth(call which, device_handle handle, unsigned n, unsigned* to,
           answer<unsigned> (device::*from)[N]) {
  return on_device(which, handle, [&](const device& target, visit&) {
    return n < N ? give((target.*from)[n], to) : error_invalid_argument;
  });
}

status fan(call which, device_handle handle, unsigned n, unsigned* to) {
  return on_device(which, handle, [&](const device& target, visit&) {
    if (!to || (target.fans.result == success && n >= target.fans.value.size()))
      return error_invalid_argument;
    if (target.fans.result == success) put(to, target.fans.value[n]);
    return target.fans.result;
  });
}

status pair(call which, device_handle handle, unsigned* current, unsigned* pending,
            answer<ecc_mode> device::*from) {
  return on_device(which, handle, [&](const device& target, visit&) {
    if (!current || !pending) return error_invalid_argument;
    ecc_mode mode;
    const status result = give(target.*from, &mode);
    if (result != success) return result;
    *current = mode.current;
    *pending = mode.pending;
    return success;
  });
}

void write_value(const field& from, field_value& to) {
  to.value.unsigned_long_long = from.bits;
  if (from.type == field_double) to.value.real = from.real;
}

void answer_field(const device& target, field_value& to) {
  using namespace std::chrono;
  const auto found = target.fields.find(to.id);
  to.timestamp = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  to.latency_us = 0;
  to.result = found == target.fields.end() ? error_not_supported : found->second.result;
  if (to.result != success) return;
  to.value_type = found->second.type;
  write_value(found->second, to);
  distort(&to.value, sizeof to.value);
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT status nvmlDeviceGetUtilizationRates(device_handle h, utilization* to) {
  return read(call::nvmlDeviceGetUtilizationRates, h, to, &device::use);
}

FAKE_NVML_EXPORT status nvmlDeviceGetEncoderUtilization(device_handle h, unsigned* percent,
                                                        unsigned* period_us) {
  return engine(call::nvmlDeviceGetEncoderUtilization, h, percent, period_us, &device::encoder);
}

FAKE_NVML_EXPORT status nvmlDeviceGetDecoderUtilization(device_handle h, unsigned* percent,
                                                        unsigned* period_us) {
  return engine(call::nvmlDeviceGetDecoderUtilization, h, percent, period_us, &device::decoder);
}

FAKE_NVML_EXPORT status nvmlDeviceGetJpgUtilization(device_handle h, unsigned* percent,
                                                    unsigned* period_us) {
  return engine(call::nvmlDeviceGetJpgUtilization, h, percent, period_us, &device::jpeg);
}

FAKE_NVML_EXPORT status nvmlDeviceGetOfaUtilization(device_handle h, unsigned* percent,
                                                    unsigned* period_us) {
  return engine(call::nvmlDeviceGetOfaUtilization, h, percent, period_us, &device::ofa);
}

FAKE_NVML_EXPORT status nvmlDeviceGetTemperature(device_handle h, unsigned sensor, unsigned* to) {
  return on_device(call::nvmlDeviceGetTemperature, h, [&](const device& target, visit&) {
    return sensor == 0 ? give(target.temperature, to) : error_invalid_argument;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetTemperatureV(device_handle h, temperature_v1* to) {
  return on_device(call::nvmlDeviceGetTemperatureV, h, [&](const device& target, visit&) {
    if (!to || to->sensor != 0) return error_invalid_argument;
    if (to->version != temperature_version) return error_argument_version_mismatch;
    unsigned celsius = 0;
    const status result = give(target.temperature, &celsius);
    if (result == success) to->celsius = static_cast<int>(celsius);
    return result;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetTemperatureThreshold(device_handle h, unsigned kind,
                                                          unsigned* to) {
  return nth(call::nvmlDeviceGetTemperatureThreshold, h, kind, to, &device::thresholds);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPowerUsage(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetPowerUsage, h, to, &device::power_usage);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPowerManagementLimit(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetPowerManagementLimit, h, to, &device::power_limit);
}

FAKE_NVML_EXPORT status nvmlDeviceGetEnforcedPowerLimit(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetEnforcedPowerLimit, h, to, &device::enforced_power_limit);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPowerManagementDefaultLimit(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetPowerManagementDefaultLimit, h, to, &device::default_power_limit);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPowerManagementLimitConstraints(device_handle h,
                                                                     unsigned* least,
                                                                     unsigned* most) {
  return on_device(call::nvmlDeviceGetPowerManagementLimitConstraints, h,
                   [&](const device& target, visit&) {
                     if (!least || !most) return error_invalid_argument;
                     power_range range;
                     const status result = give(target.power_limits, &range);
                     if (result != success) return result;
                     *least = range.least;
                     *most = range.most;
                     return success;
                   });
}

FAKE_NVML_EXPORT status nvmlDeviceGetTotalEnergyConsumption(device_handle h,
                                                            unsigned long long* to) {
  return read(call::nvmlDeviceGetTotalEnergyConsumption, h, to, &device::energy);
}

FAKE_NVML_EXPORT status nvmlDeviceGetClockInfo(device_handle h, unsigned kind, unsigned* to) {
  return nth(call::nvmlDeviceGetClockInfo, h, kind, to, &device::clocks);
}

FAKE_NVML_EXPORT status nvmlDeviceGetMaxClockInfo(device_handle h, unsigned kind, unsigned* to) {
  return nth(call::nvmlDeviceGetMaxClockInfo, h, kind, to, &device::max_clocks);
}

FAKE_NVML_EXPORT status nvmlDeviceGetNumFans(device_handle h, unsigned* to) {
  return on_device(call::nvmlDeviceGetNumFans, h, [&](const device& target, visit&) {
    if (!to) return error_invalid_argument;
    if (target.fans.result == success) put(to, static_cast<unsigned>(target.fans.value.size()));
    return target.fans.result;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetFanSpeed(device_handle h, unsigned* to) {
  return fan(call::nvmlDeviceGetFanSpeed, h, 0, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetFanSpeed_v2(device_handle h, unsigned n, unsigned* to) {
  return fan(call::nvmlDeviceGetFanSpeed_v2, h, n, to);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPerformanceState(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetPerformanceState, h, to, &device::pstate);
}

FAKE_NVML_EXPORT status nvmlDeviceGetCurrPcieLinkGeneration(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetCurrPcieLinkGeneration, h, to, &device::pcie_gen);
}

FAKE_NVML_EXPORT status nvmlDeviceGetCurrPcieLinkWidth(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetCurrPcieLinkWidth, h, to, &device::pcie_width);
}

FAKE_NVML_EXPORT status nvmlDeviceGetMaxPcieLinkGeneration(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetMaxPcieLinkGeneration, h, to, &device::max_pcie_gen);
}

FAKE_NVML_EXPORT status nvmlDeviceGetMaxPcieLinkWidth(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetMaxPcieLinkWidth, h, to, &device::max_pcie_width);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPcieThroughput(device_handle h, unsigned way, unsigned* to) {
  return nth(call::nvmlDeviceGetPcieThroughput, h, way, to, &device::pcie_throughput);
}

FAKE_NVML_EXPORT status nvmlDeviceGetPcieReplayCounter(device_handle h, unsigned* to) {
  return read(call::nvmlDeviceGetPcieReplayCounter, h, to, &device::pcie_replays);
}

FAKE_NVML_EXPORT status nvmlDeviceGetCurrentClocksEventReasons(device_handle h,
                                                               unsigned long long* to) {
  return read(call::nvmlDeviceGetCurrentClocksEventReasons, h, to, &device::clocks_event_reasons);
}

FAKE_NVML_EXPORT status nvmlDeviceGetCurrentClocksThrottleReasons(device_handle h,
                                                                  unsigned long long* to) {
  return read(call::nvmlDeviceGetCurrentClocksThrottleReasons, h, to,
              &device::clocks_event_reasons);
}

FAKE_NVML_EXPORT status nvmlDeviceGetEccMode(device_handle h, unsigned* current,
                                             unsigned* pending) {
  return pair(call::nvmlDeviceGetEccMode, h, current, pending, &device::ecc);
}

FAKE_NVML_EXPORT status nvmlDeviceGetMigMode(device_handle h, unsigned* current,
                                             unsigned* pending) {
  return pair(call::nvmlDeviceGetMigMode, h, current, pending, &device::mig_mode);
}

FAKE_NVML_EXPORT status nvmlDeviceGetTotalEccErrors(device_handle h, unsigned type,
                                                    unsigned counter, unsigned long long* to) {
  return on_device(call::nvmlDeviceGetTotalEccErrors, h, [&](const device& target, visit&) {
    return type < 2 && counter < 2 ? give(target.ecc_errors[type][counter], to)
                                   : error_invalid_argument;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetRemappedRows(device_handle h, unsigned* corrected,
                                                  unsigned* uncorrected, unsigned* pending,
                                                  unsigned* failed) {
  return on_device(call::nvmlDeviceGetRemappedRows, h, [&](const device& target, visit&) {
    if (!corrected || !uncorrected || !pending || !failed) return error_invalid_argument;
    remapped_rows rows;
    const status result = give(target.remapped, &rows);
    if (result != success) return result;
    *corrected = rows.corrected;
    *uncorrected = rows.uncorrected;
    *pending = rows.pending;
    *failed = rows.failed;
    return success;
  });
}

FAKE_NVML_EXPORT status nvmlDeviceGetFieldValues(device_handle h, int count, field_value* values) {
  return on_device(call::nvmlDeviceGetFieldValues, h, [&](const device& target, visit&) {
    if (!values || count <= 0) return error_invalid_argument;
    for (int i = 0; i < count; ++i) answer_field(target, values[i]);
    return success;
  });
}
