// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Patches of RFC 6902.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/json.hpp"

namespace hmn::json {

struct patch_error {
  std::string pointer;  // in the patch
  std::string what;
};

// Values that the patches of a file may move: a list moves what follows an item that is added or
// removed.
inline constexpr std::size_t most_moved = 16'000'000;

// Applies a list of operations in order. On failure `document` may be partially changed. `moved`
// counts on for all patches of a file.
std::optional<patch_error> apply_patch(value& document, const value& patch, std::size_t& moved);

}  // namespace hmn::json
