// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "core/snapshot.hpp"

namespace hmn {

// Version of the schema, raised by incompatible changes only.
inline constexpr std::uint32_t json_schema_version = 1;

// Writes the snapshot as a JSON object on one line, without a newline, and returns its size. If
// that exceeds the size of `out`, the content of `out` is unusable.
// docs/schema/snapshot.schema.json describes the object.
std::size_t write_json(std::span<char> out, const Snapshot& snapshot);

}  // namespace hmn
