# SPDX-License-Identifier: MIT OR Apache-2.0
find_package(doctest REQUIRED)

add_executable(
  fakes_selftest
  selftest/selftest.cpp
  selftest/nvml_abi.cpp
  selftest/nvml_device.cpp
  selftest/nvml_processes.cpp
  selftest/nvml_rules.cpp
  selftest/nvml_scenario.cpp
  selftest/nvml_symbols.cpp
  selftest/ran.cpp
  selftest/nvidia_smi.cpp
  selftest/nvidia_smi_corpus.cpp
  selftest/fake_tree.cpp)
target_compile_features(fakes_selftest PRIVATE cxx_std_20)
target_compile_definitions(
  fakes_selftest
  PRIVATE FAKES_DIR="${CMAKE_BINARY_DIR}/fakes" HMN_REFERENCE_DIR="${HMN_REFERENCE_DIR}"
          HMN_CORPUS_DIR="${HMN_CORPUS_DIR}")
target_link_libraries(
  fakes_selftest PRIVATE hmn_fake_tree doctest::doctest nlohmann_json::nlohmann_json
                         Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(
  fakes_selftest fake_nvidia_smi fake_nvml fake_nvml_no_v2_memory fake_nvml_no_v3_processes
  fake_nvml_only_v1 fake_nvml_init_only fake_nvml_no_init_with_flags)
add_test(NAME fakes.selftest COMMAND fakes_selftest)
set_tests_properties(fakes.selftest PROPERTIES TIMEOUT 120)
