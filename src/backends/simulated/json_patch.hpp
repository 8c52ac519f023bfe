// SPDX-License-Identifier: MIT OR Apache-2.0
//
// RFC 6902.
#pragma once

#include <optional>
#include <string>

#include "model/json_value.hpp"

namespace hmn::json {

struct patch_error {
  std::string pointer;  // inside the patch
  std::string what;
};

// Does one operation. When it fails, `document` may be half changed.
std::optional<patch_error> apply_operation(value& document, const value& operation);

// Does all operations of a list, in order.
std::optional<patch_error> apply_patch(value& document, const value& patch);

}  // namespace hmn::json
