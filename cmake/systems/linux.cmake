# SPDX-License-Identifier: MIT OR Apache-2.0
# Options for ELF files.
set(HMN_SYSTEM_LINK_OPTIONS
  -Wl,-z,relro -Wl,-z,now -Wl,--as-needed -Wl,--build-id=sha1)
# On 32-bit systems too.
set(HMN_SYSTEM_DEFINITIONS _FILE_OFFSET_BITS=64 _TIME_BITS=64)
set(HMN_SYSTEM_ORIGIN "$ORIGIN")

# hmn_link_library(<target> <symbol map>): links the shared library.
function(hmn_link_library target map)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:hmn_flags>)
  # Use nodelete: a driver call may still run in a worker thread after dlclose.
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${map} -Wl,--no-undefined-version -Wl,-z,nodelete)
  if(NOT HMN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  if(HMN_STATIC_RUNTIME)
    # Without what is not used of the runtime, which needs a newer glibc than the library does.
    target_link_options(${target} PRIVATE -static-libgcc -static-libstdc++
      -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  endif()
endfunction()
