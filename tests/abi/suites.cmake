# SPDX-License-Identifier: MIT OR Apache-2.0
add_library(hmn_abi_support STATIC support/suite.c support/calls.c support/machine.c
  ${PROJECT_SOURCE_DIR}/tests/bindings/c/records.c)
# test_drive makes a path of this machine absolute, HMN_TEST_ROOT one of any.
set(support support/posix)
if(HMN_SYSTEM STREQUAL "windows")
  set(support support/windows)
  target_compile_definitions(hmn_abi_support PUBLIC __USE_MINGW_ANSI_STDIO=1 WIN32_LEAN_AND_MEAN)
  set(test_root "C:")
  set(test_drive "")
  if(CMAKE_CROSSCOMPILING)
    set(test_drive "Z:")
  endif()
else()
  set(test_root "")
  set(test_drive "")
endif()
foreach(service child clock environment event image last_error memory thread tree)
  target_sources(hmn_abi_support PRIVATE ${support}/${service}.c)
endforeach()
target_link_libraries(hmn_abi_support PUBLIC hypomnesis hmn_flags hmn_cmocka Threads::Threads)
target_include_directories(hmn_abi_support PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(hmn_abi_support PUBLIC
  HMN_TEST_ROOT="${test_root}"
  HMN_TEST_MACHINES="${test_drive}${CMAKE_CURRENT_SOURCE_DIR}/machines"
  HMN_TEST_LIBRARY="$<TARGET_FILE:hypomnesis>"
  HMN_TEST_DLL="$<TARGET_FILE_NAME:hypomnesis>"
  ${hmn_switches}
  HMN_TEST_EMULATED=${HMN_TEST_EMULATED})

# hmn_abi_suite(<suite> [<argument of hmn_add_suite>...]): <suite>_test.c becomes suite abi.<suite>.
function(hmn_abi_suite suite)
  add_executable(abi_${suite}_test ${suite}_test.c)
  target_link_libraries(abi_${suite}_test PRIVATE hmn_abi_support ${CMAKE_DL_LIBS})
  hmn_add_suite(abi.${suite} COMMAND abi_${suite}_test ${ARGN})
endfunction()

set(fake_nvml fake_nvml)
if(HMN_SYSTEM STREQUAL "windows")
  set(fake_nvml hmn_fake_nvml)
endif()
set(nvml_scenario ${CMAKE_CURRENT_SOURCE_DIR}/machines/nvml.json)
# hmn_abi_with_nvml(<suite>): HMN_TEST_NVML is the path of the fake library.
function(hmn_abi_with_nvml suite)
  if(HMN_BACKEND_NVML)
    target_compile_definitions(abi_${suite}_test PRIVATE HMN_TEST_NVML="${test_drive}$<TARGET_FILE:${fake_nvml}>")
    add_dependencies(abi_${suite}_test ${fake_nvml})
  endif()
endfunction()

# hmn_abi_refusing_suite(<suite> [<argument of hmn_add_suite>...]): with an allocator that can refuse.
function(hmn_abi_refusing_suite suite)
  hmn_abi_suite(${suite} ${ARGN})
  target_sources(abi_${suite}_test PRIVATE support/allocator.c ${support}/allocator.c support/refusal.c)
endfunction()

# hmn_abi_refusing_suites(): not with a sanitizer, which has its own allocator.
function(hmn_abi_refusing_suites)
  if(HMN_SANITIZE)
    return()
  endif()
  if(HMN_BACKEND_SIMULATED)
    hmn_abi_refusing_suite(torture TIMEOUT 600 LABELS slow)
    hmn_abi_refusing_suite(exhaustion TIMEOUT 600 LABELS slow)
  endif()
  hmn_abi_refusing_suite(allocation ENVIRONMENT FAKE_NVML_SCENARIO=${nvml_scenario})
endfunction()

# hmn_abi_clients(): clients built with released headers, run with the current library.
function(hmn_abi_clients)
  if(NOT HMN_BACKEND_SIMULATED)
    return()
  endif()
  file(GLOB clients CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/clients/client_v*.c)
  foreach(client IN LISTS clients)
    string(REGEX REPLACE ".*client_v([0-9]+)_([0-9]+)\\.c" "\\1.\\2" version ${client})
    string(REPLACE "." "_" target abi_client_v${version})
    set(frozen ${PROJECT_SOURCE_DIR}/abi/headers/${version})
    add_executable(${target} ${client})
    target_include_directories(${target} PRIVATE ${frozen})
    target_link_libraries(${target} PRIVATE hmn_flags $<TARGET_LINKER_FILE:hypomnesis>)
    add_dependencies(${target} hypomnesis)
    hmn_add_suite(abi.client_v${version}
      COMMAND ${target} ${test_drive}${CMAKE_CURRENT_SOURCE_DIR}/machines/everything.json)
  endforeach()
endfunction()

if(HMN_SYSTEM STREQUAL "windows")
  include(windows/suites.cmake)
  return()
endif()

foreach(suite library memory proc dlopen dtype estimate)
  hmn_abi_suite(${suite})
endforeach()

# These need a machine with devices.
if(HMN_BACKEND_SIMULATED)
  foreach(suite null sizes options order process deadline times handle device pool telemetry metric usage
      snapshot group report reason semantics format error spill threads tracker usable descriptors signals)
    hmn_abi_suite(${suite})
  endforeach()
  hmn_abi_suite(sampler)
  hmn_abi_with_nvml(sampler)
  hmn_abi_suite(context ENVIRONMENT FAKE_NVML_SCENARIO=${nvml_scenario})
  hmn_abi_with_nvml(context)
  # hmn_abi_loop_suite(<suite> <module of pkg-config>): the loop of a library that may be missing.
  function(hmn_abi_loop_suite suite module)
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(HMN_LOOP_${suite} QUIET IMPORTED_TARGET ${module})
    endif()
    if(NOT HMN_LOOP_${suite}_FOUND)
      hmn_add_suite(abi.${suite}
        COMMAND sh -c "echo 'skipped: abi.${suite}: pkg-config does not find ${module}'; exit 77")
      return()
    endif()
    hmn_abi_suite(${suite})
    target_link_libraries(abi_${suite}_test PRIVATE PkgConfig::HMN_LOOP_${suite})
  endfunction()
  if(NOT CMAKE_CROSSCOMPILING)  # pkg-config finds the libraries of this machine
    hmn_abi_loop_suite(glib glib-2.0)
    hmn_abi_loop_suite(libuv libuv)
  endif()
  hmn_abi_suite(fork)
  # The locale is made in the build folder, not installed.
  find_program(HMN_LOCALEDEF localedef)
  mark_as_advanced(HMN_LOCALEDEF)
  set(locales ${CMAKE_CURRENT_BINARY_DIR}/locales)
  if(HMN_LOCALEDEF)
    add_custom_command(OUTPUT ${locales}/made
      COMMAND ${CMAKE_COMMAND} -E make_directory ${locales}
      COMMAND sh -c "${HMN_LOCALEDEF} -i de_DE -f UTF-8 '${locales}/de_DE.UTF-8' || true"
      COMMAND ${CMAKE_COMMAND} -E touch ${locales}/made
      VERBATIM)
    add_custom_target(abi_locale DEPENDS ${locales}/made)
  endif()
  hmn_abi_suite(locale ENVIRONMENT LOCPATH=${locales})
  if(TARGET abi_locale)
    add_dependencies(abi_locale_test abi_locale)
  endif()
endif()

# An emulated program cannot run another one of its kind.
if(HMN_BACKEND_NVIDIA_SMI AND NOT CMAKE_CROSSCOMPILING)
  hmn_abi_suite(subprocess)
  target_compile_definitions(abi_subprocess_test PRIVATE
    HMN_TEST_NVIDIA_SMI="$<TARGET_FILE:fake_nvidia_smi>")
  add_dependencies(abi_subprocess_test fake_nvidia_smi)
endif()

hmn_abi_clients()

# The probe is linked statically: for a set-user-id program the loader looks in no build folder.
if(NOT HMN_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_executable(abi_secure_probe support/secure_probe.c)
  set_target_properties(abi_secure_probe PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(abi_secure_probe PRIVATE hypomnesis_static hmn_flags)
  hmn_abi_suite(secure)
  target_compile_definitions(abi_secure_test PRIVATE
    HMN_TEST_SECURE_PROBE="$<TARGET_FILE:abi_secure_probe>")
  add_dependencies(abi_secure_test abi_secure_probe)
endif()

hmn_abi_refusing_suites()
if(NOT HMN_SANITIZE)
  hmn_abi_with_nvml(allocation)
endif()
# hmn_abi_fault_machine(<suite>): the machine of fault/machine.h.
function(hmn_abi_fault_machine suite)
  hmn_abi_with_nvml(${suite})
  target_sources(abi_${suite}_test PRIVATE fault/machine.cpp
    ${PROJECT_SOURCE_DIR}/tests/backends/amdgpu/cards.cpp)
  target_include_directories(abi_${suite}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests
    ${PROJECT_SOURCE_DIR}/tests/fakes/nvml)
  target_compile_definitions(abi_${suite}_test PRIVATE HMN_TEST_SCENARIO="${nvml_scenario}"
    HMN_TEST_NVIDIA_SMI="$<TARGET_FILE:fake_nvidia_smi>")
  target_link_libraries(abi_${suite}_test PRIVATE hmn_fake_tree)
  add_dependencies(abi_${suite}_test fake_nvidia_smi)
endfunction()

# An emulator and a sanitizer make system calls of their own.
if(NOT HMN_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND HMN_BACKEND_NVML AND HMN_BACKEND_NVIDIA_SMI
   AND HMN_BACKEND_SIMULATED)
  hmn_abi_suite(soak TIMEOUT 1800 LABELS nightly)
  hmn_abi_fault_machine(soak)
  hmn_abi_suite(fault TIMEOUT 600 LABELS slow ENVIRONMENT HMN_FAULT_STEP=23)
  hmn_add_suite(abi.each_fault TIMEOUT 1800 LABELS nightly COMMAND abi_fault_test)
  hmn_abi_fault_machine(fault)
  set(fault_statuses ${CMAKE_CURRENT_BINARY_DIR}/fault_statuses.inc)
  set(fault_header ${PROJECT_SOURCE_DIR}/include/hypomnesis.h)
  add_custom_command(OUTPUT ${fault_statuses}
    COMMAND ${HMN_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/fault/statuses.py ${fault_header} ${fault_statuses}
    DEPENDS fault/statuses.py ${fault_header} VERBATIM)
  hmn_abi_suite(output TIMEOUT 300)
  hmn_abi_fault_machine(output)
  foreach(suite fault output)
    target_sources(abi_${suite}_test PRIVATE fault/functions.c fault/subject.c fault/world.c ${fault_statuses})
    target_include_directories(abi_${suite}_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
    target_compile_definitions(abi_${suite}_test PRIVATE HMN_TEST_EXPORTS="${PROJECT_SOURCE_DIR}/abi/exports.txt")
  endforeach()
  target_sources(abi_output_test PRIVATE fault/openings.c)
  target_sources(abi_fault_test PRIVATE fault/faults.c fault/system_calls.c support/posix/allocator.c)
  # The fake driver finds fault_pause in it.
  set_target_properties(abi_fault_test PROPERTIES ENABLE_EXPORTS ON)
endif()

# hmn_abi_with_drivers(<suite>): the machine of support/drivers.h.
function(hmn_abi_with_drivers suite)
  if(NOT HMN_BACKEND_NVML OR NOT HMN_BACKEND_AMDGPU)
    return()
  endif()
  hmn_abi_with_nvml(${suite})
  target_sources(abi_${suite}_test PRIVATE support/drivers.cpp
    ${PROJECT_SOURCE_DIR}/tests/backends/amdgpu/cards.cpp)
  target_include_directories(abi_${suite}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests
    ${PROJECT_SOURCE_DIR}/tests/fakes/nvml)
  target_link_libraries(abi_${suite}_test PRIVATE hmn_fake_tree)
endfunction()

# The suite measures default times, which a build that is ten times slower would exceed.
if(NOT HMN_TEST_SLOW AND HMN_BACKEND_SIMULATED)
  hmn_abi_suite(defaults)
  hmn_abi_with_drivers(defaults)
  # A sanitizer has its own clock_gettime.
  if(HMN_SYSTEM STREQUAL "linux" AND NOT HMN_SANITIZE)
    hmn_abi_suite(suspend)
    hmn_abi_with_drivers(suspend)
  endif()
endif()

if(NOT HMN_SANITIZE AND HMN_BACKEND_SIMULATED)
  hmn_abi_refusing_suite(recording TIMEOUT 600 ENVIRONMENT FAKE_NVML_SCENARIO=${nvml_scenario})
  hmn_abi_with_nvml(recording)
endif()
