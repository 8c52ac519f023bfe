// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli {

struct variable {
  const char* name;
  std::string value;
};

// Environment variables by which a vendor's runtime is told to use one device alone.
struct visibility {
  std::vector<variable> set;
  std::vector<const char*> unset;  // that would choose among what is left
};

// Empty for a vendor that has none; fails where the device has no name that the runtime knows.
expected<visibility> make_visible(const hypomnesis::device& chosen,
                                  const std::vector<hypomnesis::device>& all);

}  // namespace hmn::cli
