# SPDX-License-Identifier: MIT OR Apache-2.0
# Reads the version from the header's macros, its only definition.
function(hmn_read_version header result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "^#define HMN_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  foreach(part MAJOR MINOR PATCH)
    if(NOT "${lines}" MATCHES "HMN_VERSION_${part} +([0-9]+)")
      message(FATAL_ERROR "${header} defines no HMN_VERSION_${part}")
    endif()
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version "." version)
  set(${result} ${version} PARENT_SCOPE)
endfunction()

# hmn_soname_version(<version> <result>): the number in the soname, in the DLL's name and in macOS' install name. Before 1.0 a
# minor version may break the previous one, so each has its own soname. scripts/set-soname writes the same number to files
# that repeat it.
function(hmn_soname_version version result)
  string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" number ${version})
  set(${result} ${number} PARENT_SCOPE)
endfunction()
