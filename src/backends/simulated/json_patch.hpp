// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Patches of RFC 6902.
#pragma once

#include <optional>
#include <string>

#include "model/json_value.hpp"

namespace hmn::json {

struct patch_error {
  std::string pointer;  // in the patch
  std::string what;
};

// Applies a list of operations in order. On failure `document` may be partially changed.
std::optional<patch_error> apply_patch(value& document, const value& patch);

}  // namespace hmn::json
