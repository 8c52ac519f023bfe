// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "core/snapshot.hpp"

namespace hmn {

// Version of the schema, raised by incompatible changes only.
inline constexpr std::uint32_t json_schema_version = 1;

// Appends the snapshot as a JSON object on one line, without a newline.
// docs/schema/snapshot.schema.json describes it.
void append_json(std::string& out, const snapshot& s);

}  // namespace hmn
