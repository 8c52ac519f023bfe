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

// Environment variables that restrict a vendor's runtime to one device.
struct visibility {
  std::vector<variable> set;
  std::vector<const char*> unset;  // that would choose among the remaining devices
};

// Returns an empty result for a vendor without such variables; fails for a device that the runtime
// has no name for.
expected<visibility> make_visible(const hypomnesis::device& chosen,
                                  const std::vector<hypomnesis::device>& all);

}  // namespace hmn::cli
