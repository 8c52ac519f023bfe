// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Record fields in a machine file, from the tables of the model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/simulated/reader.hpp"
#include "model/json_writer.hpp"
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
void write_fields(json::writer& to, const described_fields& of, const void* record);

// Writes a member that is known.
template <class T>
void write_known(json::writer& to, std::string_view key, const std::optional<T>& value) {
  if (value) to.member(key, value);
}
// Write the word for a value, or the words for its bits; nothing if it has none.
void write_word(json::writer& to, std::string_view key, std::span<const word> words,
                std::uint32_t value);
void write_words(json::writer& to, std::string_view key, std::span<const word> words,
                 std::uint32_t bits);

// Returns each field's key and presence bit.
std::vector<word> words_of(const described_fields& of);

}  // namespace hmn::simulated
