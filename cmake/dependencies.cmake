# SPDX-License-Identifier: MIT OR Apache-2.0
# Header-only libraries, found on this machine; nothing is fetched.
find_package(Threads REQUIRED)

# hmn_find_headers(<target> <header>): an interface target, or none when the header is not here.
# A cross compiler must not see /usr/include, so it gets a folder of links to the header's own folder.
function(hmn_find_headers target header)
  find_path(${target}_INCLUDE_DIR ${header} NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(${target}_INCLUDE_DIR)
  set(folder "${${target}_INCLUDE_DIR}")
  if(NOT folder)
    return()
  endif()
  if(CMAKE_CROSSCOMPILING)
    cmake_path(GET header PARENT_PATH name)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
    file(CREATE_LINK ${folder}/${name} ${PROJECT_BINARY_DIR}/headers/${name} SYMBOLIC)
    set(folder ${PROJECT_BINARY_DIR}/headers)
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${folder})
endfunction()

function(hmn_require target package)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${package} is missing (Debian: apt-get install ${package})")
  endif()
endfunction()

hmn_find_headers(hmn_fmt fmt/format.h)
hmn_find_headers(hmn_json nlohmann/json.hpp)
hmn_find_headers(hmn_cli11 CLI/CLI.hpp)
hmn_find_headers(hmn_doctest doctest/doctest.h)

hmn_require(hmn_fmt libfmt-dev)
hmn_require(hmn_json nlohmann-json3-dev)
if(HMN_BUILD_CLI)
  hmn_require(hmn_cli11 libcli11-dev)
endif()
if(HMN_BUILD_TESTS)
  hmn_require(hmn_doctest doctest-dev)
endif()

target_link_libraries(hmn_internal INTERFACE hmn_fmt hmn_json Threads::Threads ${CMAKE_DL_LIBS})
