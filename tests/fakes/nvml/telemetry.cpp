// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>

#include "driver.hpp"

namespace fake_nvml {
namespace {

Status engine(Call which, DeviceHandle handle, unsigned* percent, unsigned* period_us,
              Answer<EngineUse> Device::*from) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    if (!percent || !period_us) return error_invalid_argument;
    EngineUse use;
    const Status result = give(target.*from, &use);
    if (result != success) return result;
    *percent = use.percent;
    *period_us = use.period_us;
    return success;
  });
}

template <std::size_t N>
Status nth(Call which, DeviceHandle handle, unsigned n, unsigned* to,
           Answer<unsigned> (Device::*from)[N]) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    return n < N ? give((target.*from)[n], to) : error_invalid_argument;
  });
}

Status fan(Call which, DeviceHandle handle, unsigned n, unsigned* to) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    if (!to || (target.fans.result == success && n >= target.fans.value.size()))
      return error_invalid_argument;
    if (target.fans.result == success) put(to, target.fans.value[n]);
    return target.fans.result;
  });
}

Status pair(Call which, DeviceHandle handle, unsigned* current, unsigned* pending,
            Answer<EccMode> Device::*from) {
  return on_device(which, handle, [&](const Device& target, Visit&) {
    if (!current || !pending) return error_invalid_argument;
    EccMode mode;
    const Status result = give(target.*from, &mode);
    if (result != success) return result;
    *current = mode.current;
    *pending = mode.pending;
    return success;
  });
}

void write_value(const Field& from, FieldValue& to) {
  to.value.unsigned_long_long = from.bits;
  if (from.type == field_double) to.value.real = from.real;
}

void answer_field(const Device& target, FieldValue& to) {
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

FAKE_NVML_EXPORT Status nvmlDeviceGetUtilizationRates(DeviceHandle h, Utilization* to) {
  return read(Call::nvmlDeviceGetUtilizationRates, h, to, &Device::use);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetEncoderUtilization(DeviceHandle h, unsigned* percent,
                                                        unsigned* period_us) {
  return engine(Call::nvmlDeviceGetEncoderUtilization, h, percent, period_us, &Device::encoder);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetDecoderUtilization(DeviceHandle h, unsigned* percent,
                                                        unsigned* period_us) {
  return engine(Call::nvmlDeviceGetDecoderUtilization, h, percent, period_us, &Device::decoder);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetJpgUtilization(DeviceHandle h, unsigned* percent,
                                                    unsigned* period_us) {
  return engine(Call::nvmlDeviceGetJpgUtilization, h, percent, period_us, &Device::jpeg);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetOfaUtilization(DeviceHandle h, unsigned* percent,
                                                    unsigned* period_us) {
  return engine(Call::nvmlDeviceGetOfaUtilization, h, percent, period_us, &Device::ofa);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTemperature(DeviceHandle h, unsigned sensor, unsigned* to) {
  return on_device(Call::nvmlDeviceGetTemperature, h, [&](const Device& target, Visit&) {
    return sensor == 0 ? give(target.temperature, to) : error_invalid_argument;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTemperatureV(DeviceHandle h, TemperatureV1* to) {
  return on_device(Call::nvmlDeviceGetTemperatureV, h, [&](const Device& target, Visit&) {
    if (!to || to->sensor != 0) return error_invalid_argument;
    if (to->version != temperature_version) return error_argument_version_mismatch;
    unsigned celsius = 0;
    const Status result = give(target.temperature, &celsius);
    if (result == success) to->celsius = static_cast<int>(celsius);
    return result;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTemperatureThreshold(DeviceHandle h, unsigned kind,
                                                          unsigned* to) {
  return nth(Call::nvmlDeviceGetTemperatureThreshold, h, kind, to, &Device::thresholds);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerUsage(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetPowerUsage, h, to, &Device::power_usage);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerManagementLimit(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetPowerManagementLimit, h, to, &Device::power_limit);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetEnforcedPowerLimit(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetEnforcedPowerLimit, h, to, &Device::enforced_power_limit);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerManagementDefaultLimit(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetPowerManagementDefaultLimit, h, to, &Device::default_power_limit);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerManagementLimitConstraints(DeviceHandle h,
                                                                     unsigned* least,
                                                                     unsigned* most) {
  return on_device(Call::nvmlDeviceGetPowerManagementLimitConstraints, h,
                   [&](const Device& target, Visit&) {
                     if (!least || !most) return error_invalid_argument;
                     PowerRange range;
                     const Status result = give(target.power_limits, &range);
                     if (result != success) return result;
                     *least = range.least;
                     *most = range.most;
                     return success;
                   });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTotalEnergyConsumption(DeviceHandle h,
                                                            unsigned long long* to) {
  return read(Call::nvmlDeviceGetTotalEnergyConsumption, h, to, &Device::energy);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetClockInfo(DeviceHandle h, unsigned kind, unsigned* to) {
  return nth(Call::nvmlDeviceGetClockInfo, h, kind, to, &Device::clocks);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxClockInfo(DeviceHandle h, unsigned kind, unsigned* to) {
  return nth(Call::nvmlDeviceGetMaxClockInfo, h, kind, to, &Device::max_clocks);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetNumFans(DeviceHandle h, unsigned* to) {
  return on_device(Call::nvmlDeviceGetNumFans, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    if (target.fans.result == success) put(to, static_cast<unsigned>(target.fans.value.size()));
    return target.fans.result;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetFanSpeed(DeviceHandle h, unsigned* to) {
  return fan(Call::nvmlDeviceGetFanSpeed, h, 0, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetFanSpeed_v2(DeviceHandle h, unsigned n, unsigned* to) {
  return fan(Call::nvmlDeviceGetFanSpeed_v2, h, n, to);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPerformanceState(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetPerformanceState, h, to, &Device::pstate);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrPcieLinkGeneration(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetCurrPcieLinkGeneration, h, to, &Device::pcie_gen);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrPcieLinkWidth(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetCurrPcieLinkWidth, h, to, &Device::pcie_width);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxPcieLinkGeneration(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetMaxPcieLinkGeneration, h, to, &Device::max_pcie_gen);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxPcieLinkWidth(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetMaxPcieLinkWidth, h, to, &Device::max_pcie_width);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPcieThroughput(DeviceHandle h, unsigned way, unsigned* to) {
  return nth(Call::nvmlDeviceGetPcieThroughput, h, way, to, &Device::pcie_throughput);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPcieReplayCounter(DeviceHandle h, unsigned* to) {
  return read(Call::nvmlDeviceGetPcieReplayCounter, h, to, &Device::pcie_replays);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrentClocksEventReasons(DeviceHandle h,
                                                               unsigned long long* to) {
  return read(Call::nvmlDeviceGetCurrentClocksEventReasons, h, to, &Device::clocks_event_reasons);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrentClocksThrottleReasons(DeviceHandle h,
                                                                  unsigned long long* to) {
  return read(Call::nvmlDeviceGetCurrentClocksThrottleReasons, h, to,
              &Device::clocks_event_reasons);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetEccMode(DeviceHandle h, unsigned* current, unsigned* pending) {
  return pair(Call::nvmlDeviceGetEccMode, h, current, pending, &Device::ecc);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMigMode(DeviceHandle h, unsigned* current, unsigned* pending) {
  return pair(Call::nvmlDeviceGetMigMode, h, current, pending, &Device::mig_mode);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTotalEccErrors(DeviceHandle h, unsigned type, unsigned counter,
                                                    unsigned long long* to) {
  return on_device(Call::nvmlDeviceGetTotalEccErrors, h, [&](const Device& target, Visit&) {
    return type < 2 && counter < 2 ? give(target.ecc_errors[type][counter], to)
                                   : error_invalid_argument;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetRemappedRows(DeviceHandle h, unsigned* corrected,
                                                  unsigned* uncorrected, unsigned* pending,
                                                  unsigned* failed) {
  return on_device(Call::nvmlDeviceGetRemappedRows, h, [&](const Device& target, Visit&) {
    if (!corrected || !uncorrected || !pending || !failed) return error_invalid_argument;
    RemappedRows rows;
    const Status result = give(target.remapped, &rows);
    if (result != success) return result;
    *corrected = rows.corrected;
    *uncorrected = rows.uncorrected;
    *pending = rows.pending;
    *failed = rows.failed;
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetFieldValues(DeviceHandle h, int count, FieldValue* values) {
  return on_device(Call::nvmlDeviceGetFieldValues, h, [&](const Device& target, Visit&) {
    if (!values || count <= 0) return error_invalid_argument;
    for (int i = 0; i < count; ++i) answer_field(target, values[i]);
    return success;
  });
}
