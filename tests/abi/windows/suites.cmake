# SPDX-License-Identifier: MIT OR Apache-2.0
# A program finds the DLL beside it.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

foreach(noun library dtype estimate)
  hmn_abi_suite(${noun})
endforeach()
if(HMN_BACKEND_SIMULATED)
  foreach(noun null sizes options order device pool telemetry metric report format error)
    hmn_abi_suite(${noun})
  endforeach()
endif()
hmn_abi_clients()

# hmn_abi_windows_suite(<noun>): windows/<noun>_test.c becomes suite abi.<noun>.
function(hmn_abi_windows_suite noun)
  add_executable(abi_${noun}_test windows/${noun}_test.c)
  target_link_libraries(abi_${noun}_test PRIVATE hmn_abi_support)
  hmn_add_suite(abi.${noun} COMMAND abi_${noun}_test)
endfunction()

hmn_abi_windows_suite(bare)
hmn_abi_windows_suite(process_memory)

# This one loads the library itself.
add_executable(abi_unload_test windows/unload_test.c)
target_link_libraries(abi_unload_test PRIVATE hmn_flags hmn_cmocka)
target_include_directories(abi_unload_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(abi_unload_test PRIVATE HMN_TEST_DLL="$<TARGET_FILE_NAME:hypomnesis>")
add_dependencies(abi_unload_test hypomnesis)
hmn_add_suite(abi.unload COMMAND abi_unload_test)
