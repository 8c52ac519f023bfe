// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <istream>
#include <ostream>

// Each start of a program that includes <iostream> initialises the standard streams, until gcc 13
// left that to the runtime: a twentieth of a start, for nothing. CLI11 only declares that it writes
// to them.
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE < 13 && !defined(_GLIBCXX_IOSTREAM)
#define _GLIBCXX_IOSTREAM 1  // NOLINT(bugprone-reserved-identifier)
namespace std {              // NOLINT(cert-dcl58-cpp)
extern istream cin;
extern ostream cout;
extern ostream cerr;
}  // namespace std
#endif

// Its validators are objects that each start would make; hmn uses none. Each is declared as a
// function instead: `const T *name()`.
#define ExistingFile *existing_file()
#define ExistingDirectory *existing_directory()
#define ExistingPath *existing_path()
#define NonexistentPath *nonexistent_path()
#define ValidIPV4 *valid_ipv4()
#define Number(...) *number()
#define NonNegativeNumber(...) *non_negative_number()
#define PositiveNumber(...) *positive_number()
#include <CLI/CLI.hpp>
#undef ExistingFile
#undef ExistingDirectory
#undef ExistingPath
#undef NonexistentPath
#undef ValidIPV4
#undef Number
#undef NonNegativeNumber
#undef PositiveNumber
