// SPDX-License-Identifier: MIT OR Apache-2.0
#include <chrono>

#include "driver.hpp"

namespace fake_nvml {
namespace {

Status read_engine(Call function, DeviceHandle handle, unsigned* percent, unsigned* period_us,
                   Answer<EngineUse> Device::*member) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    if (!percent || !period_us) return error_invalid_argument;
    EngineUse use;
    const Status result = write_answer(target.*member, &use);
    if (result != success) return result;
    *percent = use.percent;
    *period_us = use.period_us;
    return success;
  });
}

template <std::size_t N>
Status read_nth(Call function, DeviceHandle handle, unsigned index, unsigned* value,
                Answer<unsigned> (Device::*member)[N]) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    return index < N ? write_answer((target.*member)[index], value) : error_invalid_argument;
  });
}

Status read_fan(Call function, DeviceHandle handle, unsigned index, unsigned* value) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    if (!value || (target.fans.result == success && index >= target.fans.value.size()))
      return error_invalid_argument;
    if (target.fans.result == success) write_value(value, target.fans.value[index]);
    return target.fans.result;
  });
}

Status read_pair(Call function, DeviceHandle handle, unsigned* current, unsigned* pending,
                 Answer<EccMode> Device::*member) {
  return with_device(function, handle, [&](const Device& target, Visit&) {
    if (!current || !pending) return error_invalid_argument;
    EccMode mode;
    const Status result = write_answer(target.*member, &mode);
    if (result != success) return result;
    *current = mode.current;
    *pending = mode.pending;
    return success;
  });
}

void copy_value(const Field& field, FieldValue& target) {
  target.value.unsigned_long_long = field.bits;
  if (field.type == field_double) target.value.real = field.real;
}

void answer_field(const Device& target, FieldValue& field) {
  using namespace std::chrono;
  const auto it = target.fields.find(field.id);
  field.timestamp = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  field.latency_us = 0;
  field.result = it == target.fields.end() ? error_not_supported : it->second.result;
  if (field.result != success) return;
  field.value_type = it->second.type;
  copy_value(it->second, field);
  distort(&field.value, sizeof field.value);
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

FAKE_NVML_EXPORT Status nvmlDeviceGetUtilizationRates(DeviceHandle handle, Utilization* rates) {
  return read_member(Call::nvmlDeviceGetUtilizationRates, handle, rates, &Device::use);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetEncoderUtilization(DeviceHandle handle, unsigned* percent,
                                                        unsigned* period_us) {
  return read_engine(Call::nvmlDeviceGetEncoderUtilization, handle, percent, period_us,
                     &Device::encoder);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetDecoderUtilization(DeviceHandle handle, unsigned* percent,
                                                        unsigned* period_us) {
  return read_engine(Call::nvmlDeviceGetDecoderUtilization, handle, percent, period_us,
                     &Device::decoder);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetJpgUtilization(DeviceHandle handle, unsigned* percent,
                                                    unsigned* period_us) {
  return read_engine(Call::nvmlDeviceGetJpgUtilization, handle, percent, period_us, &Device::jpeg);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetOfaUtilization(DeviceHandle handle, unsigned* percent,
                                                    unsigned* period_us) {
  return read_engine(Call::nvmlDeviceGetOfaUtilization, handle, percent, period_us, &Device::ofa);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTemperature(DeviceHandle handle, unsigned sensor,
                                                 unsigned* value) {
  return with_device(Call::nvmlDeviceGetTemperature, handle, [&](const Device& target, Visit&) {
    return sensor == 0 ? write_answer(target.temperature, value) : error_invalid_argument;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTemperatureV(DeviceHandle handle, TemperatureV1* temperature) {
  return with_device(Call::nvmlDeviceGetTemperatureV, handle, [&](const Device& target, Visit&) {
    if (!temperature || temperature->sensor != 0) return error_invalid_argument;
    if (temperature->version != temperature_version) return error_argument_version_mismatch;
    unsigned celsius = 0;
    const Status result = write_answer(target.temperature, &celsius);
    if (result == success) temperature->celsius = static_cast<int>(celsius);
    return result;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTemperatureThreshold(DeviceHandle handle, unsigned kind,
                                                          unsigned* value) {
  return read_nth(Call::nvmlDeviceGetTemperatureThreshold, handle, kind, value,
                  &Device::thresholds);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerUsage(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetPowerUsage, handle, value, &Device::power_usage);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerManagementLimit(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetPowerManagementLimit, handle, value, &Device::power_limit);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetEnforcedPowerLimit(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetEnforcedPowerLimit, handle, value,
                     &Device::enforced_power_limit);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerManagementDefaultLimit(DeviceHandle handle,
                                                                 unsigned* value) {
  return read_member(Call::nvmlDeviceGetPowerManagementDefaultLimit, handle, value,
                     &Device::default_power_limit);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPowerManagementLimitConstraints(DeviceHandle handle,
                                                                     unsigned* min_limit,
                                                                     unsigned* max_limit) {
  return with_device(Call::nvmlDeviceGetPowerManagementLimitConstraints, handle,
                     [&](const Device& target, Visit&) {
                       if (!min_limit || !max_limit) return error_invalid_argument;
                       PowerRange range;
                       const Status result = write_answer(target.power_limits, &range);
                       if (result != success) return result;
                       *min_limit = range.min;
                       *max_limit = range.max;
                       return success;
                     });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTotalEnergyConsumption(DeviceHandle handle,
                                                            unsigned long long* value) {
  return read_member(Call::nvmlDeviceGetTotalEnergyConsumption, handle, value, &Device::energy);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetClockInfo(DeviceHandle handle, unsigned kind,
                                               unsigned* value) {
  return read_nth(Call::nvmlDeviceGetClockInfo, handle, kind, value, &Device::clocks);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxClockInfo(DeviceHandle handle, unsigned kind,
                                                  unsigned* value) {
  return read_nth(Call::nvmlDeviceGetMaxClockInfo, handle, kind, value, &Device::max_clocks);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetNumFans(DeviceHandle handle, unsigned* value) {
  return with_device(Call::nvmlDeviceGetNumFans, handle, [&](const Device& target, Visit&) {
    if (!value) return error_invalid_argument;
    if (target.fans.result == success)
      write_value(value, static_cast<unsigned>(target.fans.value.size()));
    return target.fans.result;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetFanSpeed(DeviceHandle handle, unsigned* value) {
  return read_fan(Call::nvmlDeviceGetFanSpeed, handle, 0, value);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetFanSpeed_v2(DeviceHandle handle, unsigned index,
                                                 unsigned* value) {
  return read_fan(Call::nvmlDeviceGetFanSpeed_v2, handle, index, value);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPerformanceState(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetPerformanceState, handle, value, &Device::pstate);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrPcieLinkGeneration(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetCurrPcieLinkGeneration, handle, value, &Device::pcie_gen);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrPcieLinkWidth(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetCurrPcieLinkWidth, handle, value, &Device::pcie_width);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxPcieLinkGeneration(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetMaxPcieLinkGeneration, handle, value,
                     &Device::max_pcie_gen);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMaxPcieLinkWidth(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetMaxPcieLinkWidth, handle, value, &Device::max_pcie_width);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPcieThroughput(DeviceHandle handle, unsigned direction,
                                                    unsigned* value) {
  return read_nth(Call::nvmlDeviceGetPcieThroughput, handle, direction, value,
                  &Device::pcie_throughput);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetPcieReplayCounter(DeviceHandle handle, unsigned* value) {
  return read_member(Call::nvmlDeviceGetPcieReplayCounter, handle, value, &Device::pcie_replays);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrentClocksEventReasons(DeviceHandle handle,
                                                               unsigned long long* value) {
  return read_member(Call::nvmlDeviceGetCurrentClocksEventReasons, handle, value,
                     &Device::clocks_event_reasons);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetCurrentClocksThrottleReasons(DeviceHandle handle,
                                                                  unsigned long long* value) {
  return read_member(Call::nvmlDeviceGetCurrentClocksThrottleReasons, handle, value,
                     &Device::clocks_event_reasons);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetEccMode(DeviceHandle handle, unsigned* current,
                                             unsigned* pending) {
  return read_pair(Call::nvmlDeviceGetEccMode, handle, current, pending, &Device::ecc);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetMigMode(DeviceHandle handle, unsigned* current,
                                             unsigned* pending) {
  return read_pair(Call::nvmlDeviceGetMigMode, handle, current, pending, &Device::mig_mode);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetTotalEccErrors(DeviceHandle handle, unsigned type,
                                                    unsigned counter, unsigned long long* value) {
  return with_device(Call::nvmlDeviceGetTotalEccErrors, handle, [&](const Device& target, Visit&) {
    return type < 2 && counter < 2 ? write_answer(target.ecc_errors[type][counter], value)
                                   : error_invalid_argument;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetRemappedRows(DeviceHandle handle, unsigned* corrected,
                                                  unsigned* uncorrected, unsigned* pending,
                                                  unsigned* failed) {
  return with_device(Call::nvmlDeviceGetRemappedRows, handle, [&](const Device& target, Visit&) {
    if (!corrected || !uncorrected || !pending || !failed) return error_invalid_argument;
    RemappedRows rows;
    const Status result = write_answer(target.remapped, &rows);
    if (result != success) return result;
    *corrected = rows.corrected;
    *uncorrected = rows.uncorrected;
    *pending = rows.pending;
    *failed = rows.failed;
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetFieldValues(DeviceHandle handle, int count,
                                                 FieldValue* values) {
  return with_device(Call::nvmlDeviceGetFieldValues, handle, [&](const Device& target, Visit&) {
    if (!values || count <= 0) return error_invalid_argument;
    for (int i = 0; i < count; ++i) answer_field(target, values[i]);
    return success;
  });
}
