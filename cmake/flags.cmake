# SPDX-License-Identifier: MIT OR Apache-2.0
# hmn_flags: compile options of all targets. hmn_internal: the same, with access to internal
# headers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Makes builds in different folders bit-identical: no file contains a path of either. The last match
# wins, and the build folder may be inside the source folder.
add_compile_options(
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
  -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# Apple's ar has no such option; it uses ZERO_AR_DATE from the environment.
if(NOT CMAKE_HOST_APPLE)
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
endif()
if(HMN_SANITIZE)
  list(JOIN HMN_SANITIZE "," hmn_sanitizers)
  add_compile_options(-fsanitize=${hmn_sanitizers} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${hmn_sanitizers})
endif()

add_library(hmn_flags INTERFACE)
target_compile_features(hmn_flags INTERFACE cxx_std_20)
target_compile_options(hmn_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Wundef -Wvla
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${HMN_WERROR}>:-Werror>
  -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)

target_link_options(hmn_flags INTERFACE ${HMN_SYSTEM_LINK_OPTIONS})

add_library(hmn_internal INTERFACE)
target_link_libraries(hmn_internal INTERFACE hmn_flags)
target_include_directories(hmn_internal INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(hmn_internal INTERFACE HMN_BUILD=1 ${HMN_SYSTEM_DEFINITIONS})

# Limits the options that select sources to these files: all others compile identically in every
# build, also from a compiler cache.
set(hmn_switches HMN_WITH_SUBPROCESS=$<BOOL:${HMN_SUBPROCESS}>)
foreach(name IN LISTS HMN_BACKEND_NAMES)
  list(APPEND hmn_switches HMN_WITH_${name}=$<BOOL:${HMN_BACKEND_${name}}>)
endforeach()
function(hmn_compile_with_switches target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_DEFINITIONS "${hmn_switches}")
endfunction()
