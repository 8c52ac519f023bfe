# SPDX-License-Identifier: MIT OR Apache-2.0
set(hmn_objects "")
foreach(part platform model core backends api)
  add_subdirectory(src/${part})
  target_link_libraries(hmn_${part} PUBLIC hmn_internal PRIVATE hmn_small)
  list(APPEND hmn_objects $<TARGET_OBJECTS:hmn_${part}>)
endforeach()
target_link_libraries(hmn_api PRIVATE hmn_switches)
# Types whole, whatever the build type says of debug information: they are what ABIs are compared by.
target_compile_options(hmn_api PRIVATE $<$<CONFIG:RelWithDebInfo>:-g>)
target_link_libraries(hmn_backends PRIVATE hmn_switches)

add_library(hypomnesis SHARED ${hmn_objects})
add_library(hypomnesis_static STATIC ${hmn_objects})
add_library(hypomnesis::hypomnesis ALIAS hypomnesis)
add_library(hypomnesis::hypomnesis_static ALIAS hypomnesis_static)

foreach(target hypomnesis hypomnesis_static)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME hypomnesis
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
target_compile_definitions(hypomnesis_static INTERFACE HMN_STATIC)
target_link_libraries(hypomnesis PRIVATE $<BUILD_INTERFACE:hmn_flags>)

# A driver call may still run in a worker thread after dlclose, hence nodelete.
target_link_options(hypomnesis PRIVATE -Wl,-z,nodelete)
if(NOT HMN_SANITIZE)
  target_link_options(hypomnesis PRIVATE -Wl,-z,defs)
endif()
if(HMN_STATIC_RUNTIME)
  target_link_options(hypomnesis PRIVATE -static-libgcc -static-libstdc++
    -Wl,--exclude-libs,ALL)
endif()

set(HMN_SYMBOL_MAP ${PROJECT_SOURCE_DIR}/abi/hypomnesis.map)
target_link_options(hypomnesis PRIVATE
  -Wl,--version-script=${HMN_SYMBOL_MAP} -Wl,--no-undefined-version)
set_property(TARGET hypomnesis APPEND PROPERTY LINK_DEPENDS ${HMN_SYMBOL_MAP})

# For tests of the inside: the same objects, with the internal headers.
add_library(hmn_inside INTERFACE)
target_link_libraries(hmn_inside INTERFACE hypomnesis_static hmn_internal)
