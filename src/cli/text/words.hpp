// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// Words that the output uses for the C header's enumerations; none: unknown.
namespace hmn::cli {

using Word = std::optional<std::string_view>;

Word class_word(hypomnesis::device_class device_class) noexcept;
Word form_word(hypomnesis::device_form form) noexcept;
Word memory_kind_word(hypomnesis::device_memory kind) noexcept;
Word state_word(hypomnesis::run_state state) noexcept;
Word pool_word(hypomnesis::pool_kind pool) noexcept;
Word accounting_word(hypomnesis::accounting_kind accounting) noexcept;
Word name_state_word(hypomnesis::name_status state) noexcept;
Word vendor_word(hypomnesis::vendor_id vendor) noexcept;
Word vendor_name(hypomnesis::vendor_id vendor) noexcept;  // spelled as the vendor does
Word subject_word(hypomnesis::part subject) noexcept;
Word domain_word(hypomnesis::domain domain) noexcept;  // of a native code
Word source_word(hypomnesis::backend_id backend) noexcept;
// Returns "unknown" for JSON, where an unknown number is null.
inline std::string_view or_unknown(Word word) noexcept {
  return word.value_or("unknown");
}
// Returns the sign of a missing value in a table: "-" where the device or its driver does not have
// it, "?" where it is not known.
constexpr std::string_view missing_sign(bool is_unsupported) noexcept {
  return is_unsupported ? "-" : "?";
}
std::vector<std::string_view> usage_kind_words(hypomnesis::usage_kind kinds);
std::vector<std::string_view> note_words(hypomnesis::note notes);

}  // namespace hmn::cli
