# SPDX-License-Identifier: MIT OR Apache-2.0
# A program finds the DLL in its own folder.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# Not applicable here: fork, descriptors and signals, which Windows lacks; proc and recording, which use files of Linux;
# secure, because there are no set-user-id programs; dlopen, which is unload below.
foreach(suite library memory dtype estimate)
  hmn_abi_suite(${suite})
endforeach()
if(HMN_BACKEND_SIMULATED)
  foreach(suite null sizes options order process deadline times handle device pool telemetry metric usage
      snapshot group report reason format error spill threads tracker usable sampler context)
    hmn_abi_suite(${suite})
  endforeach()
  hmn_abi_with_nvml(context)
endif()
hmn_abi_clients()
hmn_abi_refusing_suites()

# hmn_abi_windows_suite(<suite>): windows/<suite>_test.c becomes suite abi.<suite>.
function(hmn_abi_windows_suite suite)
  add_executable(abi_${suite}_test windows/${suite}_test.c)
  target_link_libraries(abi_${suite}_test PRIVATE hmn_abi_support)
  hmn_add_suite(abi.${suite} COMMAND abi_${suite}_test)
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
