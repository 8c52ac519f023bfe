// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "backends/backend.hpp"
#include "backends/nvml/abi.hpp"
#include "model/failure.hpp"
#include "platform/library.hpp"

namespace hmn::nvml {

// NVML's functions in a loaded library. Each except the initialisation may be missing; of several
// generations the newest available is used.

struct named_symbol {
  std::array<const char*, 3> names{};  // newest first
  void* address = nullptr;
  std::size_t generation = 0;  // index in `names` of the one found

  [[nodiscard, gnu::noinline]] const char* name() const noexcept { return names[generation]; }
  explicit operator bool() const noexcept { return address != nullptr; }

  void find(const platform::library& from) noexcept;
};

template <class F>
struct function;

template <class... P>
struct function<code(P...)> : named_symbol {
  code operator()(P... arguments) const {
    return static_cast<code>(reinterpret_cast<int (*)(P...)>(address)(arguments...));
  }
};

using text_call = function<code(handle, char*, unsigned)>;
using number_call = function<code(handle, unsigned*)>;
using percent_call = function<code(handle, unsigned*, unsigned*)>;
using indexed_call = function<code(handle, unsigned, unsigned*)>;
using list_call = function<code(handle, unsigned*, void*)>;

struct symbols {
  function<code(unsigned)> init_with_flags{{"nvmlInitWithFlags"}};
  function<code()> init{{"nvmlInit_v2", "nvmlInit"}};
  function<code()> shutdown{{"nvmlShutdown"}};
  function<code(char*, unsigned)> driver_version{{"nvmlSystemGetDriverVersion"}};
  function<code(int*)> cuda_version_v2{{"nvmlSystemGetCudaDriverVersion_v2"}};
  function<code(int*)> cuda_version{{"nvmlSystemGetCudaDriverVersion"}};

  function<code(unsigned*)> count{{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}};
  function<code(unsigned, handle*)> by_index{
      {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}};
  text_call name{{"nvmlDeviceGetName"}};
  text_call uuid{{"nvmlDeviceGetUUID"}};
  function<code(handle, pci_info*)> pci{
      {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}};
  number_call virtualization{{"nvmlDeviceGetVirtualizationMode"}};
  number_call architecture{{"nvmlDeviceGetArchitecture"}};
  function<code(handle, int*, int*)> compute_capability{{"nvmlDeviceGetCudaComputeCapability"}};

  function<code(handle, memory_v2*)> memory_v2{{"nvmlDeviceGetMemoryInfo_v2"}};
  function<code(handle, memory_v1*)> memory_v1{{"nvmlDeviceGetMemoryInfo"}};
  function<code(handle, bar1_memory*)> bar1{{"nvmlDeviceGetBAR1MemoryInfo"}};
  number_call numa_node{{"nvmlDeviceGetNumaNodeId"}};
  function<code(handle, c2c_mode*)> c2c{{"nvmlDeviceGetC2cModeInfoV"}};
  function<code(handle, addressing_mode*)> addressing{{"nvmlDeviceGetAddressingMode"}};

  list_call compute{{"nvmlDeviceGetComputeRunningProcesses_v3",
                     "nvmlDeviceGetComputeRunningProcesses_v2",
                     "nvmlDeviceGetComputeRunningProcesses"}};
  list_call mps{{"nvmlDeviceGetMPSComputeRunningProcesses_v3",
                 "nvmlDeviceGetMPSComputeRunningProcesses_v2",
                 "nvmlDeviceGetMPSComputeRunningProcesses"}};
  list_call graphics{{"nvmlDeviceGetGraphicsRunningProcesses_v3",
                      "nvmlDeviceGetGraphicsRunningProcesses_v2",
                      "nvmlDeviceGetGraphicsRunningProcesses"}};

  function<code(handle, unsigned*, unsigned*)> mig_mode{{"nvmlDeviceGetMigMode"}};
  number_call mig_count{{"nvmlDeviceGetMaxMigDeviceCount"}};
  function<code(handle, unsigned, handle*)> mig_by_index{{"nvmlDeviceGetMigDeviceHandleByIndex"}};
  number_call gpu_instance{{"nvmlDeviceGetGpuInstanceId"}};
  number_call compute_instance{{"nvmlDeviceGetComputeInstanceId"}};

  function<code(handle, nvml::utilization*)> utilization{{"nvmlDeviceGetUtilizationRates"}};
  percent_call encoder{{"nvmlDeviceGetEncoderUtilization"}};
  percent_call decoder{{"nvmlDeviceGetDecoderUtilization"}};
  function<code(handle, temperature_v1*)> temperature_v{{"nvmlDeviceGetTemperatureV"}};
  function<code(handle, unsigned, unsigned*)> temperature{{"nvmlDeviceGetTemperature"}};
  number_call power{{"nvmlDeviceGetPowerUsage"}};
  number_call power_limit{{"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"}};
  function<code(handle, unsigned long long*)> energy{{"nvmlDeviceGetTotalEnergyConsumption"}};
  function<code(handle, unsigned, unsigned*)> clock{{"nvmlDeviceGetClockInfo"}};
  indexed_call max_clock{{"nvmlDeviceGetMaxClockInfo"}};
  indexed_call threshold{{"nvmlDeviceGetTemperatureThreshold"}};
  number_call default_power_limit{{"nvmlDeviceGetPowerManagementDefaultLimit"}};
  percent_call power_limits{{"nvmlDeviceGetPowerManagementLimitConstraints"}};
  number_call pcie_replays{{"nvmlDeviceGetPcieReplayCounter"}};
  function<code(handle, unsigned, unsigned, unsigned long long*)> ecc_errors{
      {"nvmlDeviceGetTotalEccErrors"}};
  function<code(handle, unsigned*, unsigned*, unsigned*, unsigned*)> remapped_rows{
      {"nvmlDeviceGetRemappedRows"}};
  function<code(handle, process_sample*, unsigned*, unsigned long long)> process_use{
      {"nvmlDeviceGetProcessUtilization"}};
  number_call accounting_mode{{"nvmlDeviceGetAccountingMode"}};
  function<code(handle, unsigned, accounting_stats*)> account{{"nvmlDeviceGetAccountingStats"}};
  number_call fan_count{{"nvmlDeviceGetNumFans"}};
  number_call fan{{"nvmlDeviceGetFanSpeed"}};
  function<code(handle, unsigned, unsigned*)> fan_of{{"nvmlDeviceGetFanSpeed_v2"}};
  number_call pcie_generation{{"nvmlDeviceGetCurrPcieLinkGeneration"}};
  number_call pcie_width{{"nvmlDeviceGetCurrPcieLinkWidth"}};
  number_call p_state{{"nvmlDeviceGetPerformanceState"}};
  function<code(handle, unsigned long long*)> clock_reasons{
      {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}};
  function<code(handle, int, field_value*)> fields{{"nvmlDeviceGetFieldValues"}};

  function<code(handle, unsigned long long*)> event_types{{"nvmlDeviceGetSupportedEventTypes"}};
  function<code(event_set*)> create_events{{"nvmlEventSetCreate"}};
  function<code(handle, unsigned long long, event_set)> register_events{
      {"nvmlDeviceRegisterEvents"}};
  function<code(event_set, event_data*, unsigned)> wait_for_event{
      {"nvmlEventSetWait_v2", "nvmlEventSetWait"}};
  function<code(event_set)> free_events{{"nvmlEventSetFree"}};

  void find(const platform::library& from) noexcept;
};

// Opens only settings.nvml_path if set; else searches the system's places (system.hpp).
result<platform::library> open_library(const settings& s);

}  // namespace hmn::nvml
