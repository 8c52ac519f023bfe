// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Record fields in a machine file, from the tables of the model.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/simulated/json_text.hpp"
#include "backends/simulated/reader.hpp"
#include "model/record.hpp"

namespace hmn::simulated {

// Fields of a record in a machine file. Memory sizes are named "used" there, not "used_bytes", and
// may be texts such as "16GiB".
struct described_fields {
  field_list fields;
  std::uint32_t bits;
  bool has_short_keys;
};

described_fields described_pool() noexcept;
described_fields described_telemetry() noexcept;
described_fields described_usage() noexcept;
described_fields described_process_memory() noexcept;
described_fields described_system_memory() noexcept;

void read_fields(object_reader& o, const described_fields& of, void* record);
void write_fields(json_text& to, const described_fields& of, const void* record);

// Returns each field's key and presence bit.
std::vector<word> words_of(const described_fields& of);

}  // namespace hmn::simulated
