// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <string>

namespace hmn::cli {

// Returns the values that a diagnostic is about: "encoder load, energy". Empty: none by name, or
// all.
std::string field_words(const hypomnesis::diagnostic& of);

}  // namespace hmn::cli
