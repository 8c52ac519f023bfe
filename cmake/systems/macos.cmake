# SPDX-License-Identifier: MIT OR Apache-2.0
# Options for Mach-O files.
set(HMN_SYSTEM_LINK_OPTIONS -Wl,-dead_strip -Wl,-dead_strip_dylibs)
set(HMN_SYSTEM_DEFINITIONS "")
set(HMN_SYSTEM_ORIGIN "@loader_path")

# hmn_write_exports(<file> <symbol map>): writes the functions of the map in Mach-O's naming.
function(hmn_write_exports file map)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  file(STRINGS ${map} lines REGEX "^ +hmn_[a-z0-9_]+;$")
  list(TRANSFORM lines REPLACE "^ +(.*);$" "_\\1\n")
  list(JOIN lines "" functions)
  file(CONFIGURE OUTPUT ${file} CONTENT "${functions}")
endfunction()

# hmn_link_library(<target> <symbol map>): links the shared library. The loader has no nodelete: the
# code that starts a thread pins it.
function(hmn_link_library target map)
  set(exports ${PROJECT_BINARY_DIR}/hypomnesis.exports)
  hmn_write_exports(${exports} ${map})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:hmn_flags>)
  target_link_options(${target} PRIVATE -Wl,-exported_symbols_list,${exports})
  set_target_properties(${target} PROPERTIES INSTALL_NAME_DIR "@rpath" BUILD_WITH_INSTALL_NAME_DIR ON)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
endfunction()

# A cross build links a list of symbols in place of the C++ runtime.
if(CMAKE_CROSSCOMPILING)
  # CMake looks for the macOS version on the host and assumes one without rpath, so its flags are set here.
  foreach(kind SHARED_LIBRARY EXECUTABLE)
    set(CMAKE_${kind}_RUNTIME_C_FLAG "-Wl,-rpath,")
    set(CMAKE_${kind}_RUNTIME_CXX_FLAG "-Wl,-rpath,")
  endforeach()
  set(symbol_list ${PROJECT_SOURCE_DIR}/abi/macos-libcxx.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbol_list})
  file(STRINGS ${symbol_list} symbols REGEX "^_")
  list(JOIN symbols ", " symbols)
  set(stub ${PROJECT_BINARY_DIR}/libc++.tbd)
  file(CONFIGURE OUTPUT ${stub} CONTENT "--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libc++.1.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ ${symbols} ]
...
")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " ${stub}")
  string(APPEND CMAKE_EXE_LINKER_FLAGS " ${stub}")
endif()
