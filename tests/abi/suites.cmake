# SPDX-License-Identifier: MIT OR Apache-2.0
add_library(hmn_abi_support STATIC support/suite.c support/calls.c support/tree.c)
target_link_libraries(hmn_abi_support PUBLIC hypomnesis hmn_flags hmn_cmocka Threads::Threads)
target_include_directories(hmn_abi_support PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(hmn_abi_support PUBLIC
  HMN_TEST_MACHINES="${CMAKE_CURRENT_SOURCE_DIR}/machines"
  HMN_TEST_LIBRARY="$<TARGET_FILE:hypomnesis>"
  HMN_WITH_NVML=$<BOOL:${HMN_BACKEND_NVML}>
  HMN_WITH_NVIDIA_SMI=$<BOOL:${HMN_BACKEND_NVIDIA_SMI}>
  HMN_WITH_SIMULATED=$<BOOL:${HMN_BACKEND_SIMULATED}>
  HMN_WITH_SUBPROCESS=$<BOOL:${HMN_SUBPROCESS}>)

# hmn_abi_suite(<noun> [<argument of hmn_add_suite>...]): <noun>_test.c becomes suite abi.<noun>.
function(hmn_abi_suite noun)
  add_executable(abi_${noun}_test ${noun}_test.c)
  target_link_libraries(abi_${noun}_test PRIVATE hmn_abi_support ${CMAKE_DL_LIBS})
  hmn_add_suite(abi.${noun} COMMAND abi_${noun}_test ${ARGN})
endfunction()

foreach(noun library memory)
  hmn_abi_suite(${noun})
endforeach()

# These need a machine with devices.
if(HMN_BACKEND_SIMULATED)
  foreach(noun null sizes options)
    hmn_abi_suite(${noun})
  endforeach()
endif()
