# SPDX-License-Identifier: MIT OR Apache-2.0
# Options for ELF files.
# Makes programs position-independent even if that is not the compiler's default.
include(CheckPIESupported)
check_pie_supported()
set(HMN_SYSTEM_LINK_OPTIONS
  -Wl,-z,relro -Wl,-z,now -Wl,--as-needed -Wl,--build-id=sha1)
# Also for 32-bit systems.
set(HMN_SYSTEM_DEFINITIONS _FILE_OFFSET_BITS=64 _TIME_BITS=64)
set(HMN_SYSTEM_ORIGIN "$ORIGIN")
# Unused parts of libstdc++ are dropped: they need a newer glibc. libgcc stays shared, as every system with glibc has it:
# the static one of GCC 12 needs glibc 2.35 (_dl_find_object).
set(HMN_STATIC_RUNTIME_OPTIONS -static-libstdc++ -Wl,--gc-sections)

# hmn_link_library(<target> <symbol map>): links the shared library.
function(hmn_link_library target map)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:hmn_flags>)
  # Uses nodelete: a driver call may still run in a worker thread after dlclose.
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${map} -Wl,--no-undefined-version -Wl,-z,nodelete)
  if(NOT HMN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  if(HMN_STATIC_RUNTIME)
    target_link_options(${target} PRIVATE ${HMN_STATIC_RUNTIME_OPTIONS} -Wl,--exclude-libs,ALL)
  endif()
endfunction()
