# SPDX-License-Identifier: MIT OR Apache-2.0
# add_fake_nvml(<target> [DIRECTORY <dir>] [REMOVE <symbol>...] [KEEP <symbol>...])
#
# Links one libnvidia-ml.so.1 in ${CMAKE_BINARY_DIR}/fakes/<dir>, whose dynamic symbol table
# lacks the REMOVEd NVML symbols, or contains only the KEEP symbols. The fake_nvml_* controls stay.
set(FAKE_NVML_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/nvml)

function(_fake_nvml_version_script file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "REMOVE;KEEP")
  set(exported "nvml*")
  if(arg_KEEP)
    set(exported ${arg_KEEP})
  endif()
  list(JOIN exported ";\n    " exported)
  list(JOIN arg_REMOVE ";\n    " hidden)
  if(hidden)
    string(APPEND hidden ";\n    ")
  endif()
  set(script "{\n  global:\n    fake_nvml_*;\n    ${exported};\n  local:\n    ${hidden}*;\n};\n")
  file(CONFIGURE OUTPUT ${file} CONTENT "${script}" @ONLY)
endfunction()

function(add_fake_nvml target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIRECTORY" "REMOVE;KEEP")
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${target})
  endif()
  set(script ${CMAKE_BINARY_DIR}/fakes/${arg_DIRECTORY}/libnvidia-ml.map)
  _fake_nvml_version_script(${script} REMOVE ${arg_REMOVE} KEEP ${arg_KEEP})
  add_library(${target} SHARED $<TARGET_OBJECTS:fake_nvml_objects>)
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME nvidia-ml
               VERSION 1
               SOVERSION 1
               LINK_DEPENDS ${script}
               LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fakes/${arg_DIRECTORY})
  target_link_libraries(${target} PRIVATE Threads::Threads)
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic "LINKER:--version-script=${script}")
endfunction()

set(_fake_nvml_sources control device driver events memory mig names processes read_device read_processes
                       read_scenario read_telemetry reader system telemetry visit)
list(TRANSFORM _fake_nvml_sources PREPEND ${FAKE_NVML_SOURCE_DIR}/)
list(TRANSFORM _fake_nvml_sources APPEND .cpp)
add_library(fake_nvml_objects OBJECT ${_fake_nvml_sources})
target_link_libraries(fake_nvml_objects PRIVATE hmn_flags hmn_json)

add_fake_nvml(fake_nvml DIRECTORY nvml)
add_fake_nvml(fake_nvml_no_v2_memory DIRECTORY nvml-no_v2_memory REMOVE nvmlDeviceGetMemoryInfo_v2)
set(_v3_processes
    nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetGraphicsRunningProcesses_v3
    nvmlDeviceGetMPSComputeRunningProcesses_v3)
set(_v2_processes
    nvmlDeviceGetComputeRunningProcesses_v2 nvmlDeviceGetGraphicsRunningProcesses_v2
    nvmlDeviceGetMPSComputeRunningProcesses_v2)
add_fake_nvml(fake_nvml_no_v3_processes DIRECTORY nvml-no_v3_processes REMOVE ${_v3_processes})
add_fake_nvml(fake_nvml_no_init_with_flags DIRECTORY nvml-no_init_with_flags
              REMOVE nvmlInitWithFlags)
# As R450: the first process rows, the first memory struct, the throttle reasons' first name.
add_fake_nvml(
  fake_nvml_only_v1
  DIRECTORY
  nvml-only_v1
  REMOVE
  ${_v3_processes}
  ${_v2_processes}
  nvmlDeviceGetMemoryInfo_v2
  nvmlDeviceGetCurrentClocksEventReasons
  nvmlDeviceGetRunningProcessDetailList
  nvmlDeviceGetProcessesUtilizationInfo
  nvmlDeviceGetTemperatureV
  nvmlDeviceGetNumaNodeId
  nvmlDeviceGetC2cModeInfoV
  nvmlDeviceGetAddressingMode
  nvmlDeviceGetJpgUtilization
  nvmlDeviceGetOfaUtilization)
add_fake_nvml(
  fake_nvml_init_only
  DIRECTORY
  nvml-init_only
  KEEP
  nvmlInit_v2
  nvmlShutdown
  nvmlErrorString
  nvmlDeviceGetCount_v2
  nvmlDeviceGetHandleByIndex_v2
  nvmlDeviceGetName
  nvmlDeviceGetUUID
  nvmlDeviceGetPciInfo_v3)
