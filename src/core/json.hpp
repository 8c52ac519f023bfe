// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "core/snapshot.hpp"

namespace hmn {

// A change that a reader of the old shape would not survive gets the next number.
inline constexpr std::uint32_t json_schema_version = 1;

// The whole snapshot as one JSON object on one line, without an end of line.
// docs/schema/snapshot.schema.json describes it.
void append_json(std::string& out, const snapshot& s);

}  // namespace hmn
