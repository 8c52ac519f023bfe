// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace hmn::cli::fit {

// Row of a file's tensor table.
struct tensor {
  std::string name;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

}  // namespace hmn::cli::fit
