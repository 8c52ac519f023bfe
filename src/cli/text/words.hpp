// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// The names that the output gives to the header's enumerations; nothing for unknown.
namespace hmn::cli {

using word = std::optional<std::string_view>;

word kind_word(std::uint32_t kind) noexcept;
word memory_kind_word(std::uint32_t kind) noexcept;
word state_word(std::uint32_t state) noexcept;
word pool_word(std::uint32_t pool) noexcept;
word accounting_word(std::uint32_t accounting) noexcept;
word name_state_word(std::uint32_t state) noexcept;
word vendor_word(std::uint32_t vendor) noexcept;
word vendor_name(std::uint32_t vendor) noexcept;  // as it writes itself
word source_word(std::uint32_t backend) noexcept;
// In JSON, where a number that is unknown is null, a word that is unknown says so.
inline std::string_view or_unknown(word of) noexcept {
  return of.value_or("unknown");
}
std::vector<std::string_view> usage_kind_words(hmn_flags kinds);
std::vector<std::string_view> note_words(hmn_flags notes);

}  // namespace hmn::cli
