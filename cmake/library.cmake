# SPDX-License-Identifier: MIT OR Apache-2.0
set(hmn_objects "")
foreach(part platform model procfs source core api)
  add_subdirectory(src/${part})
  target_link_libraries(hmn_${part} PUBLIC hmn_internal)
  list(APPEND hmn_objects $<TARGET_OBJECTS:hmn_${part}>)
endforeach()
add_subdirectory(src/backends)
get_property(parts GLOBAL PROPERTY HMN_BACKEND_PARTS)
foreach(part IN LISTS parts)
  list(APPEND hmn_objects $<TARGET_OBJECTS:${part}>)
endforeach()

# The lower layers, which the command uses directly.
add_library(hmn_lower STATIC
  $<TARGET_OBJECTS:hmn_procfs> $<TARGET_OBJECTS:hmn_platform> $<TARGET_OBJECTS:hmn_model>)
target_link_libraries(hmn_lower PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_compile_definitions(hmn_lower INTERFACE ${HMN_SYSTEM_DEFINITIONS})

add_library(hypomnesis SHARED ${hmn_objects})
add_library(hypomnesis_static STATIC ${hmn_objects})
add_library(hypomnesis::hypomnesis ALIAS hypomnesis)
add_library(hypomnesis::hypomnesis_static ALIAS hypomnesis_static)

# Links libatomic for processors that may lack atomic numbers of 8 bytes.
set(HMN_ATOMIC_LIBRARY "")
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64|ARM64)$")
  set(HMN_ATOMIC_LIBRARY atomic)
endif()

foreach(target hypomnesis hypomnesis_static)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME hypomnesis
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${HMN_SOVERSION})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${HMN_ATOMIC_LIBRARY})
endforeach()
target_compile_definitions(hypomnesis_static INTERFACE HMN_STATIC)

set(HMN_SYMBOL_MAP ${PROJECT_SOURCE_DIR}/abi/hypomnesis.map)
hmn_link_library(hypomnesis ${HMN_SYMBOL_MAP})

# The same objects with the internal headers, for tests of internals.
add_library(hmn_inside INTERFACE)
target_link_libraries(hmn_inside INTERFACE hypomnesis_static hmn_internal)
