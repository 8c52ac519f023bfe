# SPDX-License-Identifier: MIT OR Apache-2.0
# A program finds the DLL in its folder.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# Without a meaning here: fork, descriptors and signals, which Windows has not; proc and recording, Linux' own files;
# secure, for there is no set-user-id program; dlopen, as unload below.
foreach(noun library memory dtype estimate)
  hmn_abi_suite(${noun})
endforeach()
if(HMN_BACKEND_SIMULATED)
  foreach(noun null sizes options order process deadline times handle device pool telemetry metric usage
      snapshot group report reason format error spill threads tracker usable sampler context)
    hmn_abi_suite(${noun})
  endforeach()
  hmn_abi_with_nvml(context)
endif()
hmn_abi_clients()
hmn_abi_refusing_suites()

# hmn_abi_windows_suite(<noun>): windows/<noun>_test.c becomes suite abi.<noun>.
function(hmn_abi_windows_suite noun)
  add_executable(abi_${noun}_test windows/${noun}_test.c)
  target_link_libraries(abi_${noun}_test PRIVATE hmn_abi_support)
  hmn_add_suite(abi.${noun} COMMAND abi_${noun}_test)
endfunction()

hmn_abi_windows_suite(bare)
hmn_abi_windows_suite(commit)
hmn_abi_windows_suite(host)

# This one loads the library itself.
add_executable(abi_unload_test windows/unload_test.c)
target_link_libraries(abi_unload_test PRIVATE hmn_flags hmn_cmocka)
target_include_directories(abi_unload_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(abi_unload_test PRIVATE HMN_TEST_DLL="$<TARGET_FILE_NAME:hypomnesis>")
add_dependencies(abi_unload_test hypomnesis)
hmn_add_suite(abi.unload COMMAND abi_unload_test)
