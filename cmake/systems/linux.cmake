# SPDX-License-Identifier: MIT OR Apache-2.0
# Options for ELF files.
# Of Intel's two protections Linux has the shadow stack for programs, and no branch tracking.
set(HMN_SYSTEM_HARDENING -fstack-protector-strong -fstack-clash-protection -fcf-protection=return
  -mbranch-protection=standard)
set(HMN_SYSTEM_FORTIFY ON)
set(HMN_SYSTEM_LINK_OPTIONS
  -Wl,-z,relro -Wl,-z,now -Wl,--as-needed -Wl,--gc-sections -Wl,--build-id=sha1)
# On 32-bit systems too.
set(HMN_SYSTEM_DEFINITIONS _FILE_OFFSET_BITS=64 _TIME_BITS=64)
set(HMN_SYSTEM_ORIGIN "$ORIGIN")

# hmn_link_as_shipped(<target> <version script>): links a shared object that is installed.
function(hmn_link_as_shipped target map)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:hmn_flags>)
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${map} -Wl,--no-undefined-version)
  if(hmn_with_lto)
    # Each function keeps the optimisation of its file; constants are packed for size.
    target_link_options(${target} PRIVATE -Os -flto=auto -flto-partition=one
      -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
  endif()
  if(NOT HMN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# hmn_link_library(<target> <symbol map>): links the shared library.
function(hmn_link_library target map)
  hmn_link_as_shipped(${target} ${map})
  # Use nodelete: a driver call may still run in a worker thread after dlclose.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  if(HMN_STATIC_RUNTIME)
    target_link_options(${target} PRIVATE -static-libgcc -static-libstdc++
      -Wl,--exclude-libs,ALL)
  endif()
endfunction()
