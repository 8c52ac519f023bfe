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

#include <CLI/CLI.hpp>
