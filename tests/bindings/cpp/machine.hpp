// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef HMN_TESTS_BINDINGS_MACHINE_HPP
#define HMN_TESTS_BINDINGS_MACHINE_HPP
#include <hypomnesis.hpp>

// Opens a context on a machine of tests/bindings/machines.
inline hypomnesis::context open_machine(const std::string& file,
                                        hypomnesis::context_options options = {}) {
  if (options.deadline.count() == 0) options.deadline = std::chrono::minutes(1);
  hypomnesis::context context(options);
  context.set_path(hypomnesis::path_kind::simulation, std::string(HMN_TEST_MACHINES) + "/" + file);
  return context;
}

// Returns the status of the exception that the call throws; ok if it throws none.
template <class Call>
hypomnesis::status_code catch_status(Call call) {
  try {
    call();
  } catch (const hypomnesis::error& error) {
    return error.status();
  }
  return hypomnesis::status_code::ok;
}

inline constexpr auto everything = static_cast<hypomnesis::part>(127);

#endif
