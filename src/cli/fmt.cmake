# SPDX-License-Identifier: MIT OR Apache-2.0
# Links fmt for the versions supported by fmt.cpp; otherwise each file compiles its own
# instantiations.
set(hmn_fmt_version 0)
foreach(header core base)
  if(EXISTS ${hmn_fmt_INCLUDE_DIR}/fmt/${header}.h)
    file(STRINGS ${hmn_fmt_INCLUDE_DIR}/fmt/${header}.h line REGEX "^#define FMT_VERSION [0-9]+")
    if(line MATCHES "([0-9]+)$")
      set(hmn_fmt_version ${CMAKE_MATCH_1})
    endif()
  endif()
endforeach()
if(hmn_fmt_version LESS 90000 OR NOT hmn_fmt_version LESS 130000)
  target_compile_definitions(hmn_fmt INTERFACE FMT_HEADER_ONLY=1)
  return()
endif()

add_library(hmn_fmt_functions STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
target_link_libraries(hmn_fmt_functions PRIVATE hmn_flags hmn_small)
target_include_directories(hmn_fmt_functions SYSTEM PRIVATE
  $<TARGET_PROPERTY:hmn_fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(hmn_fmt INTERFACE hmn_fmt_functions)
