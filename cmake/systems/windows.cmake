# SPDX-License-Identifier: MIT OR Apache-2.0
# Options for PE files (mingw-w64). No stack protector or fortified functions: they need libssp of GCC 12,
# which loads a random number provider while the DLL is loaded.
# -fno-ipa-ra: gcc assumes that a call preserves the registers that its own copy of an inline function does not
# change, but a PE linker may keep the copy of another file, which changes them. std::to_chars wrote past the last
# digit for this reason.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fno-ipa-ra>)
# Omits the build time, which binutils writes by default.
set(HMN_SYSTEM_LINK_OPTIONS -Wl,--no-insert-timestamp -Wl,--dynamicbase
  -Wl,--high-entropy-va -Wl,--nxcompat)
# Requires Windows 10.
set(HMN_SYSTEM_DEFINITIONS _WIN32_WINNT=0x0A00 NTDDI_VERSION=0x0A000000 WIN32_LEAN_AND_MEAN NOMINMAX
  UNICODE _UNICODE)
set(HMN_STATIC_RUNTIME ON)

# hmn_write_definition(<file> <symbol map> <name of the DLL>): writes the functions of the map as a
# .def.
function(hmn_write_definition file map name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  file(STRINGS ${map} lines REGEX "^ +hmn_[a-z0-9_]+;$")
  list(TRANSFORM lines REPLACE "^ +(.*);$" "    \\1\n")
  list(JOIN lines "" functions)
  file(CONFIGURE OUTPUT ${file} CONTENT "LIBRARY \"${name}.dll\"\nEXPORTS\n${functions}")
endfunction()

# hmn_link_library(<target> <symbol map>): links the DLL. Its name includes the soname's number and
# is the same for every compiler.
function(hmn_link_library target map)
  set(name hypomnesis-${HMN_SOVERSION})
  set(definition ${PROJECT_BINARY_DIR}/${name}.def)
  hmn_write_definition(${definition} ${map} ${name})
  target_sources(${target} PRIVATE ${definition})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:hmn_flags>)
  target_link_options(${target} PRIVATE -static)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} IMPORT_PREFIX "" ARCHIVE_OUTPUT_NAME hypomnesis
    VERSION "" SOVERSION "" LINK_DEPENDS ${definition})
endfunction()
