# SPDX-License-Identifier: MIT OR Apache-2.0
# hmn_add_suite(<area>.<name> COMMAND <command> [TIMEOUT <seconds>] [LABELS <label>...]
#               [ENVIRONMENT <name=value>...] [SERIAL])
# One suite is one ctest test, labelled with its area. A skipped suite exits with 77 and prints
# `skipped: <suite>: <reason>`. The time limit is for hangs: several times the duration on a busy machine. Labels: see
# tests/stages.
# Suites run under Wine with the build's own prefix, whose server keeps running between suites.
set(HMN_WINE_ENVIRONMENT "")
if(HMN_SYSTEM STREQUAL "windows" AND CMAKE_CROSSCOMPILING)
  set(HMN_WINE_PREFIX ${PROJECT_BINARY_DIR}/wine)
  set(HMN_WINE_ENVIRONMENT "WINEPREFIX=${HMN_WINE_PREFIX};WINEDEBUG=-all;WINEDLLOVERRIDES=winedbg.exe,mscoree,mshtml,winemenubuilder.exe=d")
endif()

# Definitions for tests. HMN_TEST_EMULATED: 1 if they run in an emulator. HMN_TEST_SLOW: 1 if they run ten times slower
# than in the optimised build; they then test only a part of the values.
set(HMN_TEST_EMULATED 0)
set(HMN_TEST_SLOW 0)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(HMN_TEST_EMULATED 1)
endif()
if(HMN_TEST_EMULATED OR HMN_SANITIZE)
  set(HMN_TEST_SLOW 1)
endif()

function(hmn_add_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(CMAKE_CROSSCOMPILING OR HMN_SANITIZE)
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  # The address sanitizer of gcc 12 guesses the address of the thread-local variables of a library that was loaded late,
  # and its leak check crashes if the guess is wrong.
  string(CONCAT sanitizers "ASAN_OPTIONS=intercept_tls_get_addr=0;UBSAN_OPTIONS=print_stacktrace=1;"
    "TSAN_OPTIONS=halt_on_error=1:die_after_fork=0")
  string(REGEX MATCH "^[a-z0-9_-]+" area ${name})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  # COST makes the longest suites start first, so that no processor waits for the last one.
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 77
    SKIP_REGULAR_EXPRESSION "ModuleNotFoundError: No module named 'jsonschema'"
    TIMEOUT ${arg_TIMEOUT}
    COST ${arg_TIMEOUT}
    RUN_SERIAL "${arg_SERIAL}"
    LABELS "${area};${arg_LABELS}"
    ENVIRONMENT "${sanitizers};${HMN_WINE_ENVIRONMENT};${arg_ENVIRONMENT}")
  if(HMN_WINE_ENVIRONMENT)
    set_tests_properties(${name} PROPERTIES
      ENVIRONMENT_MODIFICATION "DISPLAY=unset:"
      FIXTURES_REQUIRED wine)
  endif()
endfunction()
