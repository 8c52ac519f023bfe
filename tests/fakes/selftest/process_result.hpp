// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace selftest {

struct ProcessResult {
  std::string out, err;
  int exit_code = -1;
  int signal = 0;
};

// Runs to the end of its output, or kills it when `limit` has passed.
ProcessResult run(const std::string& program, const std::vector<std::string>& arguments,
                  std::chrono::milliseconds limit = std::chrono::seconds(10),
                  bool keep_output = true);

}  // namespace selftest
