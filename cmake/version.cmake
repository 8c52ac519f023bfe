# SPDX-License-Identifier: MIT OR Apache-2.0
# Reads the version from the header's macros, its only definition.
function(hmn_read_version header out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "^#define HMN_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  foreach(part MAJOR MINOR PATCH)
    if(NOT "${lines}" MATCHES "HMN_VERSION_${part} +([0-9]+)")
      message(FATAL_ERROR "${header} defines no HMN_VERSION_${part}")
    endif()
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version "." version)
  set(${out} ${version} PARENT_SCOPE)
endfunction()
