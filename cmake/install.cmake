# SPDX-License-Identifier: MIT OR Apache-2.0
include(CMakePackageConfigHelpers)

set(hmn_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hypomnesis)

install(FILES include/hypomnesis.h bindings/cpp/hypomnesis.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development)
install(TARGETS hypomnesis EXPORT hypomnesisTargets
  RUNTIME COMPONENT Runtime
  LIBRARY COMPONENT Runtime NAMELINK_COMPONENT Development
  ARCHIVE COMPONENT Development)
install(TARGETS hypomnesis_static EXPORT hypomnesisStaticTargets
  ARCHIVE COMPONENT Development)
foreach(export_set hypomnesisTargets hypomnesisStaticTargets)
  install(EXPORT ${export_set} NAMESPACE hypomnesis:: DESTINATION ${hmn_package_dir}
    COMPONENT Development)
endforeach()

# Before 1.0 a minor version may change anything; later versions run programs that were built with an older one.
set(hmn_compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(hmn_compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hypomnesisConfigVersion.cmake
  COMPATIBILITY ${hmn_compatibility})
configure_package_config_file(pkgconfig/hypomnesisConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hypomnesisConfig.cmake INSTALL_DESTINATION ${hmn_package_dir}
  NO_SET_AND_CHECK_MACRO)
install(FILES
  ${PROJECT_BINARY_DIR}/hypomnesisConfig.cmake
  ${PROJECT_BINARY_DIR}/hypomnesisConfigVersion.cmake
  DESTINATION ${hmn_package_dir} COMPONENT Development)

# Makes paths in the .pc file relative to its location, so that the prefix can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE HMN_PC_INCLUDEDIR)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE HMN_PC_LIBDIR)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE HMN_PC_PREFIX)
string(REGEX REPLACE "/$" "" HMN_PC_PREFIX "${HMN_PC_PREFIX}")
set(HMN_PC_CXX stdc++)
if(HMN_SYSTEM STREQUAL "macos")
  set(HMN_PC_CXX c++)
endif()
set(HMN_PC_ATOMIC "")
if(HMN_ATOMIC_LIBRARY)
  set(HMN_PC_ATOMIC " -l${HMN_ATOMIC_LIBRARY}")
endif()
set(HMN_PC_DL "")
if(CMAKE_DL_LIBS)
  set(HMN_PC_DL " -l${CMAKE_DL_LIBS}")
endif()
if(HMN_HOMEPAGE)
  set(HMN_PC_URL "\nURL: ${HMN_HOMEPAGE}")
endif()
configure_file(pkgconfig/hypomnesis.pc.in hypomnesis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hypomnesis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT Development)

if(TARGET hmn)
  # The build folder uses the same path: if CMake changes it on installation, the path of the built program ends with a
  # colon, and the loader reads an empty path as the current directory.
  if(NOT HMN_STATIC_CLI)
    set_target_properties(hmn PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      INSTALL_RPATH "${HMN_SYSTEM_ORIGIN};${HMN_SYSTEM_ORIGIN}/${HMN_LIBRARY_FROM_BIN}")
  endif()
  install(TARGETS hmn RUNTIME COMPONENT Runtime)
  if(TARGET hmn_exporter AND NOT HMN_STATIC_CLI)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
      BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBEXECDIR}/hypomnesis OUTPUT_VARIABLE lib_from_libexec)
    set_target_properties(hmn_exporter PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      INSTALL_RPATH "${HMN_SYSTEM_ORIGIN};${HMN_SYSTEM_ORIGIN}/${lib_from_libexec}")
  endif()

  install(DIRECTORY contrib/ DESTINATION ${CMAKE_INSTALL_DATADIR}/hypomnesis COMPONENT Exporter
    PATTERN container EXCLUDE PATTERN rpm EXCLUDE)
  if(TARGET hmn_exporter)
    install(TARGETS hmn_exporter
      RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hypomnesis COMPONENT Exporter)
  endif()
  # For --machine, the examples of the help, and checks of machine files and JSON.
  # Each machine file names its schema by the path from its own folder.
  file(GLOB machines CONFIGURE_DEPENDS examples/machines/*.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${machines})
  foreach(machine IN LISTS machines)
    file(READ ${machine} text)
    string(REPLACE "../../docs/schema/" "../schema/" text "${text}")
    cmake_path(GET machine FILENAME machine)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/machines/${machine} CONTENT "${text}")
  endforeach()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/hypomnesis
    COMPONENT Runtime FILES_MATCHING PATTERN "*.json")
  install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/hypomnesis
    COMPONENT Runtime FILES_MATCHING PATTERN "*.json")

  set(completions src/cli/completions)
  install(FILES ${completions}/hmn.bash RENAME hmn
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT Runtime)
  install(FILES ${completions}/_hmn
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT Runtime)
  install(FILES ${completions}/hmn.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT Runtime)
endif()

if(HMN_BUILD_DOCS)
  file(GLOB pages CONFIGURE_DEPENDS docs/man/*.1)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT Runtime)
  file(GLOB pages CONFIGURE_DEPENDS docs/man/*.3)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT Development)

  # Links each function to the page that describes it, for `man <function>`.
  foreach(page IN LISTS pages)
    cmake_path(GET page FILENAME page_name)
    file(STRINGS ${page} names REGEX "^\\.Nm hmn_")
    foreach(name IN LISTS names)
      string(REGEX REPLACE "^\\.Nm ([a-z0-9_]+).*$" "\\1.3" alias "${name}")
      if(NOT alias STREQUAL page_name)
        file(CONFIGURE OUTPUT man3/${alias} CONTENT ".so man3/${page_name}\n")
        install(FILES ${PROJECT_BINARY_DIR}/man3/${alias}
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT Development)
      endif()
    endforeach()
  endforeach()
endif()
