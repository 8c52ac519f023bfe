// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parts of the command with libraries that no other command is to wait for. They are of the same
// build.
#pragma once
#include <string>

#include "cli/expected.hpp"

namespace hmn::cli {

// Loads the module of that name, which stays loaded, and returns the address of its symbol.
expected<void*> load_symbol(const std::string& module, const char* symbol);

template <class Function>
expected<Function*> load_function(const std::string& module, const char* symbol) {
  const auto found = load_symbol(module, symbol);
  if (!found) return found.why();
  return reinterpret_cast<Function*>(*found);
}

}  // namespace hmn::cli

// Loads a function by its declaration.
#define HMN_LOAD(module, function) ::hmn::cli::load_function<decltype(function)>(module, #function)
