// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef HMN_TESTS_BINDINGS_MACHINE_HPP
#define HMN_TESTS_BINDINGS_MACHINE_HPP
#include <hypomnesis.hpp>

// A context on a machine of tests/bindings/machines.
inline hypomnesis::context machine(const std::string& file,
                                   hypomnesis::context_options options = {}) {
  if (options.deadline.count() == 0) options.deadline = std::chrono::minutes(1);
  hypomnesis::context made(options);
  made.set_path(hypomnesis::path_kind::simulation, std::string(HMN_TEST_MACHINES) + "/" + file);
  return made;
}

inline constexpr auto everything = static_cast<hypomnesis::part>(127);

#endif
