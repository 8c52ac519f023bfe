// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef HMN_TESTS_BINDINGS_MACHINE_HPP
#define HMN_TESTS_BINDINGS_MACHINE_HPP
#include <hypomnesis.hpp>

// A context on a machine of tests/bindings/machines.
inline hypomnesis::context machine(const std::string& file,
                                   const hypomnesis::context_options& options = {}) {
  hypomnesis::context made(options);
  made.set_path(hypomnesis::path_kind::simulation, std::string(HMN_TEST_MACHINES) + "/" + file);
  return made;
}

inline constexpr auto everything = static_cast<hypomnesis::part>(127);

#endif
