# SPDX-License-Identifier: MIT OR Apache-2.0
# Debian's cross compiler. The tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
# HMN_CROSS_ROOT: unpacked arm64 packages that are not part of the cross compiler (cmocka).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HMN_CROSS_ROOT)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${HMN_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
