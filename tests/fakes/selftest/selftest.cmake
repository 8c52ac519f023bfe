# SPDX-License-Identifier: MIT OR Apache-2.0
add_executable(
  fakes_selftest
  selftest/fake_tree_test.cpp
  selftest/nvidia_smi_corpus_test.cpp
  selftest/nvidia_smi_test.cpp
  selftest/nvml_abi_test.cpp
  selftest/nvml_device_test.cpp
  selftest/nvml_events_test.cpp
  selftest/nvml_processes_test.cpp
  selftest/nvml_rules_test.cpp
  selftest/nvml_scenario_test.cpp
  selftest/nvml_symbols_test.cpp
  selftest/process_result.cpp
  selftest/selftest.cpp)
target_compile_definitions(
  fakes_selftest
  PRIVATE FAKES_DIR="${CMAKE_BINARY_DIR}/fakes" HMN_REFERENCE_DIR="${HMN_REFERENCE_DIR}"
          HMN_CORPUS_DIR="${HMN_CORPUS_DIR}")
target_link_libraries(fakes_selftest PRIVATE hmn_flags hmn_fake_tree hmn_doctest hmn_json
                                             Threads::Threads ${CMAKE_DL_LIBS})
# A symbol that no ready variant lacks, as a test of another folder would remove it.
add_fake_nvml(fake_nvml_no_uuid REMOVE nvmlDeviceGetUUID)
add_dependencies(
  fakes_selftest
  fake_nvidia_smi
  fake_nvml
  fake_nvml_init_only
  fake_nvml_no_init_with_flags
  fake_nvml_no_uuid
  fake_nvml_no_v2_memory
  fake_nvml_no_v3_processes
  fake_nvml_only_v1)

foreach(suite fake_tree nvidia_smi nvidia_smi_corpus nvml_abi nvml_device nvml_events nvml_processes
             nvml_rules nvml_scenario nvml_symbols)
  hmn_add_suite(fakes.${suite} COMMAND fakes_selftest "--test-case=${suite}:*")
endforeach()
