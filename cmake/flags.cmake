# SPDX-License-Identifier: MIT OR Apache-2.0
# hmn_flags: how everything here is compiled. hmn_internal: the same, with the inside in view.
include(CheckCXXCompilerFlag)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Two builds in different folders are bit-identical: no path of either gets into a file. The last
# match wins, and the build folder may lie in the source folder.
add_compile_options(
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
  -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# Apple's ar has no such switch; ZERO_AR_DATE in the environment does it there.
if(NOT CMAKE_HOST_APPLE)
  set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
endif()
set(hmn_with_lto OFF)
if(HMN_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HMN_SANITIZE
    AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(hmn_with_lto ON)
  # An archive holds machine code alone: what only one version of gcc reads is taken out.
  list(PREPEND CMAKE_CXX_ARCHIVE_FINISH
    "${CMAKE_OBJCOPY} --wildcard --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* <TARGET>")
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
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  -ffunction-sections -fdata-sections)

foreach(flag IN LISTS HMN_SYSTEM_HARDENING)
  string(MAKE_C_IDENTIFIER "HMN_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    target_compile_options(hmn_flags INTERFACE ${flag})
  endif()
endforeach()

if(HMN_SYSTEM_FORTIFY AND NOT HMN_SANITIZE)
  target_compile_options(hmn_flags INTERFACE
    "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
endif()

target_link_options(hmn_flags INTERFACE ${HMN_SYSTEM_LINK_OPTIONS})

add_library(hmn_internal INTERFACE)
target_link_libraries(hmn_internal INTERFACE hmn_flags)
target_include_directories(hmn_internal INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(hmn_internal INTERFACE HMN_BUILD=1 ${HMN_SYSTEM_DEFINITIONS})
# Nothing here asks an object for its type. A sanitizer does. With clang, what is caught would have a
# type of its own in each library then, and libc++ tells types apart by their addresses: nothing that it
# throws would be caught.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HMN_SANITIZE)
  target_compile_options(hmn_internal INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

# Which sources are compiled in concerns these files alone: all others compile the same in every build,
# from a compiler cache too.
set(hmn_switches HMN_WITH_SUBPROCESS=$<BOOL:${HMN_SUBPROCESS}>)
foreach(name IN LISTS HMN_BACKEND_NAMES)
  list(APPEND hmn_switches HMN_WITH_${name}=$<BOOL:${HMN_BACKEND_${name}}>)
endforeach()
function(hmn_compile_with_switches target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_DEFINITIONS "${hmn_switches}")
endfunction()

# What is shipped is called far less often than its code is loaded: small code starts faster, and the
# library's size is gated.
# -Oz is -Os before gcc 12. What grows code by three instructions in gcc's reckoning mostly ends smaller:
# the length of a literal is known where its view is made.
add_library(hmn_small INTERFACE)
check_cxx_compiler_flag(-Oz HMN_HAS_Oz)
if(HMN_HAS_Oz)
  set(hmn_size_options -Oz)
else()
  set(hmn_size_options -Os)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND hmn_size_options --param=max-inline-insns-size=3)
endif()
target_compile_options(hmn_small INTERFACE "$<$<NOT:$<CONFIG:Debug>>:${hmn_size_options}>")

# But for the files on the way of a reading that is measured in system calls.
function(hmn_compile_for_speed target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O2>")
endfunction()

# hmn_join_by_folder(<target>): where CMAKE_UNITY_BUILD is on, the files of each folder are compiled as one,
# whatever the size of a batch: a name is unique within its folder.
function(hmn_join_by_folder target)
  get_target_property(home ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${home} NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# A sixth less code in the shared library; the objects serve the archive as well.
add_library(hmn_whole INTERFACE)
if(hmn_with_lto)
  # The assembler writes the build folder into such objects where the line table is its own.
  target_compile_options(hmn_whole INTERFACE -flto=auto -ffat-lto-objects -gno-as-loc-support)
endif()
