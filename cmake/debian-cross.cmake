# SPDX-License-Identifier: MIT OR Apache-2.0
# Debian's cross compiler for HMN_CROSS_TRIPLET. The tests run under qemu-user, those of 32-bit x86
# on the processor itself.
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${HMN_CROSS_TRIPLET})
set(CMAKE_C_COMPILER ${HMN_CROSS_TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER ${HMN_CROSS_TRIPLET}-g++)
set(folder /usr/${HMN_CROSS_TRIPLET})
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "i686")
  # Programs name the loader by its path, because a 64-bit machine may have none in the standard place. An old-style
  # rpath also applies to the dependencies of libraries, which a new-style runpath does not.
  set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,--dynamic-linker=${folder}/lib/ld-linux.so.2 -Wl,--disable-new-dtags,-rpath,${folder}/lib")
else()
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR}-static -L ${folder})
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "arm")
  # Silences notes about code of older gcc versions: none is linked.
  set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
endif()
# HMN_CROSS_ROOT: unpacked packages that are not part of the cross compiler (cmocka).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HMN_CROSS_ROOT HMN_CROSS_TRIPLET)
set(CMAKE_FIND_ROOT_PATH ${folder} ${HMN_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
