# SPDX-License-Identifier: MIT OR Apache-2.0
option(HMN_BUILD_CLI "Build the hmn command" ON)
option(HMN_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HMN_BUILD_BINDINGS "Build the language bindings whose tools are installed" OFF)
option(HMN_BUILD_DOCS "Install the manual pages (mdoc; no tool is needed)" ON)
option(HMN_BUILD_BENCH "Build the benchmarks (Google Benchmark)" OFF)
option(HMN_BUILD_FUZZ "Build the fuzz targets, which replay their seeds without clang's libFuzzer" OFF)
option(HMN_CURSES "Build the screen of hmn top, where curses is installed" ON)
option(HMN_EXPORTER "Build the server of hmn exporter if its libraries are installed" ON)
option(HMN_EXPORTER_INSIDE "Link the server of hmn exporter into hmn, from archives and without TLS" OFF)
option(HMN_STATIC_CLI "Link libhypomnesis into the hmn command" OFF)
option(HMN_STATIC_RUNTIME "Link libstdc++ into the shared library, and into an hmn that contains it" OFF)
option(HMN_WERROR "Treat warnings as errors" OFF)
set(HMN_TEST_FOLDERS "unit;abi;backends;cli;bindings;live;install;repo" CACHE STRING
  "The folders of tests/ that are built and run, a list")
set(HMN_TEST_COMPILE_OPTIONS "" CACHE STRING "Compile options of the tests alone, a list")
option(HMN_TEST_FAKES "Also test the fakes that other tests use" ON)
set(HMN_SANITIZE "" CACHE STRING "Sanitizers, a list: address;undefined or thread")

option(HMN_BACKENDS "Default of each HMN_BACKEND_*" ON)
# hmn_backend(<NAME> <description> [<system>...]): the switch of a source (src/source/sources.def). Without
# a system it is available on all.
set(HMN_BACKEND_NAMES "")
macro(hmn_backend name description)
  option(HMN_BACKEND_${name} ${description} ${HMN_BACKENDS})
  list(APPEND HMN_BACKEND_NAMES ${name})
  set(systems ${ARGN})
  if(systems AND NOT HMN_SYSTEM IN_LIST systems)
    set(HMN_BACKEND_${name} OFF)
  endif()
endmacro()
hmn_backend(NVML "NVIDIA through libnvidia-ml.so.1" linux windows)
hmn_backend(NVIDIA_SMI "NVIDIA through the nvidia-smi program" linux windows)
hmn_backend(AMD_SMI "AMD through the amd-smi program" linux)
hmn_backend(ROCM_SMI "AMD through the rocm-smi program" linux)
hmn_backend(DRM "Any kernel DRM driver through sysfs and fdinfo" linux)
hmn_backend(AMDGPU "AMD through its kernel driver (with HMN_BACKEND_DRM)" linux)
hmn_backend(KFD "AMD's compute processes (with HMN_BACKEND_AMDGPU)" linux)
hmn_backend(I915 "Intel GPUs of the kernel's i915 driver" linux)
hmn_backend(XE "Intel GPUs of the kernel's xe driver" linux)
hmn_backend(DMEM "Limits of device memory by the dmem control group" linux)
hmn_backend(TEGRA "NVIDIA's SoCs (Jetson) through sysfs" linux)
hmn_backend(DXGI "Windows: adapters through DXGI" windows)
hmn_backend(PDH "Windows: performance counters of adapters and processes" windows)
hmn_backend(METAL "macOS: Metal and the registry of GPUs" macos)
hmn_backend(MACMON "macOS: the macmon program" macos)
hmn_backend(SIMULATED "Machines described by a file")

set(HMN_CORPUS_DIR "${PROJECT_SOURCE_DIR}/../shared/corpus" CACHE PATH
  "Recorded tool output and kernel files that the tests read in place")
option(HMN_TEST_RECORDED "Test with the recordings" ON)
set(HMN_REFERENCE_DIR "${PROJECT_SOURCE_DIR}/../shared/reference" CACHE PATH
  "Reference tables that the tests read in place")

set(HMN_VENDOR_DIR "${PROJECT_SOURCE_DIR}/build/debs/nvidia" CACHE PATH
  "Unpacked packages with the vendor's own NVML library and header; the tests skip without it")

# Dependencies: the vendors' DRM drivers need DRM, and KFD needs amdgpu.
if(NOT HMN_BACKEND_DRM)
  set(HMN_BACKEND_AMDGPU OFF)
  set(HMN_BACKEND_I915 OFF)
  set(HMN_BACKEND_XE OFF)
endif()
if(NOT HMN_BACKEND_AMDGPU)
  set(HMN_BACKEND_KFD OFF)
endif()

# Dependency: the counters belong to the adapters that DXGI lists.
if(NOT HMN_BACKEND_DXGI)
  set(HMN_BACKEND_PDH OFF)
endif()

# Compiles code that starts programs only if a backend needs it.
set(HMN_SUBPROCESS OFF)
if(HMN_BACKEND_NVIDIA_SMI OR HMN_BACKEND_AMD_SMI OR HMN_BACKEND_ROCM_SMI OR HMN_BACKEND_MACMON)
  set(HMN_SUBPROCESS ON)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
