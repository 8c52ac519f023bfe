# SPDX-License-Identifier: MIT OR Apache-2.0
# Simulation and recording: inside the static library, and in a module that the shared library loads
# on demand. With a static C++ runtime they are inside the shared library too: the runtime would
# exist twice, and neither copy may free an exception of the other.
set(HMN_MODULE_FILE hypomnesis/simulation-${PROJECT_VERSION}.so)
set(hmn_with_module OFF)
if(HMN_BACKEND_SIMULATED AND NOT HMN_STATIC_RUNTIME AND NOT HMN_SIMULATION_INSIDE)
  set(hmn_with_module ON)
endif()

set(hmn_objects "")
foreach(part platform model procfs core backends api)
  add_subdirectory(src/${part})
  target_link_libraries(hmn_${part} PUBLIC hmn_internal PRIVATE hmn_small)
  hmn_join_by_folder(hmn_${part})
  list(APPEND hmn_objects $<TARGET_OBJECTS:hmn_${part}>)
endforeach()
# Excludes the boundary from link-time optimization: libabigail cannot read types optimized across
# files.
foreach(part platform model procfs core backends)
  target_link_libraries(hmn_${part} PRIVATE hmn_whole)
endforeach()
# Keeps full type information in any build type, as ABI comparisons need it.
target_compile_options(hmn_api PRIVATE $<$<CONFIG:RelWithDebInfo>:-g>)

# Lower layers only, for the command.
add_library(hmn_lower STATIC
  $<TARGET_OBJECTS:hmn_procfs> $<TARGET_OBJECTS:hmn_platform> $<TARGET_OBJECTS:hmn_model>)
target_link_libraries(hmn_lower PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_compile_definitions(hmn_lower INTERFACE ${HMN_SYSTEM_DEFINITIONS})

set(hmn_inside_objects "")
set(hmn_loader_objects "")
if(HMN_BACKEND_SIMULATED)
  foreach(part recording simulated simulated_inside simulated_json simulated_loader simulated_module
      module_headers)
    target_link_libraries(hmn_${part} PRIVATE hmn_small hmn_whole)
  endforeach()
  hmn_join_by_folder(hmn_simulated)
  foreach(part recording simulated simulated_inside)
    list(APPEND hmn_inside_objects $<TARGET_OBJECTS:hmn_${part}>)
  endforeach()
  set(hmn_loader_objects ${hmn_inside_objects})
  if(hmn_with_module)
    set(hmn_loader_objects $<TARGET_OBJECTS:hmn_simulated_loader> $<TARGET_OBJECTS:hmn_module_headers>)
  endif()
endif()

add_library(hypomnesis SHARED ${hmn_objects} ${hmn_loader_objects})
add_library(hypomnesis_static STATIC ${hmn_objects} ${hmn_inside_objects})
add_library(hypomnesis::hypomnesis ALIAS hypomnesis)
add_library(hypomnesis::hypomnesis_static ALIAS hypomnesis_static)

# Links libatomic where a processor may have no atomic numbers of 8 bytes.
set(HMN_ATOMIC_LIBRARY "")
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64|ARM64)$")
  set(HMN_ATOMIC_LIBRARY atomic)
endif()

foreach(target hypomnesis hypomnesis_static)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME hypomnesis
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${HMN_ATOMIC_LIBRARY})
endforeach()
target_compile_definitions(hypomnesis_static INTERFACE HMN_STATIC)

set(HMN_SYMBOL_MAP ${PROJECT_SOURCE_DIR}/abi/hypomnesis.map)
hmn_link_library(hypomnesis ${HMN_SYMBOL_MAP})

# Places the module below the folder of the library, as in an installation. It takes other internals
# from the archive. It is never closed rather than nodelete: a nodelete module whose loading ran out
# of memory in glibc (2.36) would stay as well, and no exception could pass through it.
if(hmn_with_module)
  add_library(hypomnesis_simulation MODULE $<TARGET_OBJECTS:hmn_simulated_module>
    $<TARGET_OBJECTS:hmn_module_headers> $<TARGET_OBJECTS:hmn_simulated> $<TARGET_OBJECTS:hmn_recording>
    $<TARGET_OBJECTS:hmn_simulated_json>)
  target_link_libraries(hypomnesis_simulation PRIVATE hypomnesis_static)
  hmn_link_as_shipped(hypomnesis_simulation ${PROJECT_SOURCE_DIR}/src/backends/simulated/module.map)
  cmake_path(GET HMN_MODULE_FILE PARENT_PATH module_folder)
  cmake_path(GET HMN_MODULE_FILE STEM LAST_ONLY module_name)
  set(library_folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  if(NOT library_folder)
    set(library_folder ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  get_property(is_multiple GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multiple)
    string(APPEND library_folder /$<CONFIG>)
  endif()
  set_target_properties(hypomnesis_simulation PROPERTIES
    PREFIX "" OUTPUT_NAME ${module_name} SUFFIX .so NO_SONAME ON LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${library_folder}/${module_folder})
  add_dependencies(hypomnesis hypomnesis_simulation)
endif()

# Same objects with the internal headers, for internal tests.
add_library(hmn_inside INTERFACE)
target_link_libraries(hmn_inside INTERFACE hypomnesis_static hmn_internal)
