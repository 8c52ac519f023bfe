# SPDX-License-Identifier: MIT OR Apache-2.0
# hmn_flags: compile options of all targets. hmn_internal: the same, with access to internal
# headers.
include(CheckCXXCompilerFlag)

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
set(hmn_with_lto OFF)
if(HMN_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HMN_SANITIZE
    AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(hmn_with_lto ON)
  # Strip gcc's version-specific intermediate code, so that an archive holds machine code alone.
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
# Disables RTTI, which no code here uses. Sanitizers need it. So does clang: caught types would have
# their own type information in each library, and libc++ compares types by address, so that no
# exception of its own would be caught.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HMN_SANITIZE)
  target_compile_options(hmn_internal INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

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

# Optimizes for size: the library is loaded far more often than it is called, small code starts
# faster, and the library's size is limited by a test. -Oz is -Os before gcc 12. Inlining that grows
# code by up to three instructions in gcc's estimate mostly ends smaller, as the length of a literal
# is known where its view is made. A function with one caller, as most lambdas have, becomes part of
# it unless it needs the stack of a path; gcc's own limit of 256 bytes keeps most of them apart. A
# frame pointer costs less code than it saves in unwind tables, which else follow each change of the
# stack pointer. The other passes make this code larger. Records are copied and cleared by the C
# library: a repeated string instruction is smaller, but takes longer to start than most take to copy.
add_library(hmn_small INTERFACE)
check_cxx_compiler_flag(-Oz HMN_HAS_Oz)
if(HMN_HAS_Oz)
  set(hmn_size_options -Oz)
else()
  set(hmn_size_options -Os)
endif()
set(hmn_speed_options -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND hmn_size_options --param=max-inline-insns-size=3 --param=large-stack-frame=4096)
  foreach(name omit-frame-pointer inline-small-functions jump-tables move-loop-invariants
      schedule-insns2)
    list(APPEND hmn_size_options -fno-${name})
    list(APPEND hmn_speed_options -f${name})
  endforeach()
endif()
check_cxx_compiler_flag(-mstringop-strategy=libcall HMN_HAS_STRINGOP_STRATEGY)
if(HMN_HAS_STRINGOP_STRATEGY)
  list(APPEND hmn_size_options -mstringop-strategy=libcall)
endif()
target_compile_options(hmn_small INTERFACE "$<$<NOT:$<CONFIG:Debug>>:${hmn_size_options}>")

# Optimizes for speed the files on the path of a reading that is measured in system calls.
function(hmn_compile_for_speed target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:${hmn_speed_options}>")
endfunction()

# hmn_join_by_folder(<target>): with CMAKE_UNITY_BUILD, compiles the files of each folder as one
# regardless of the batch size: a name is unique within its folder. Files with options of their own are
# compiled alone.
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

# Saves a sixth of the shared library's code; the objects serve the archive as well.
add_library(hmn_whole INTERFACE)
if(hmn_with_lto)
  # Exclude the assembler's own line table, which would contain the build folder.
  target_compile_options(hmn_whole INTERFACE -flto=auto -ffat-lto-objects -gno-as-loc-support)
endif()
