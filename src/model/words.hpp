// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Words for enumerators, metrics and fields, from the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/metric.hpp"

namespace hmn {

struct numbered_word {
  std::int32_t number;
  const char* word;
};
using word_list = std::span<const numbered_word>;

namespace words {
word_list statuses() noexcept;
word_list sources() noexcept;
word_list native_domains() noexcept;
word_list notes() noexcept;
word_list subjects() noexcept;
word_list reasons() noexcept;
word_list accountings() noexcept;
word_list device_classes() noexcept;
word_list device_forms() noexcept;
word_list memory_kinds() noexcept;
word_list states() noexcept;
word_list vendors() noexcept;
word_list pool_kinds() noexcept;
word_list pressures() noexcept;
word_list usage_kinds() noexcept;
word_list name_states() noexcept;
}  // namespace words

// Returns a NUL-terminated word; nullptr for an unknown number.
const char* word_of(word_list list, std::int64_t number) noexcept;
// Returns "unknown" for a number that is not in the list.
const char* word_or_unknown(word_list list, std::int64_t number) noexcept;
// Returns no number for "".
std::optional<std::int32_t> number_of(word_list list, std::string_view word) noexcept;

// Returns "HMN_E_RANGE"; "HMN_E_?" for an unknown status. NUL-terminated.
const char* status_name(std::int32_t status) noexcept;

// Returns "NVIDIA"; "" for an unknown vendor. NUL-terminated.
const char* vendor_name(std::uint32_t vendor) noexcept;

struct named_field {
  FieldSet bit;
  std::string_view words;  // "": part of another value, as a window is
};

// Returns the fields that diagnostics of a subject (HMN_COLLECT_*) are about, with words for
// people.
std::span<const named_field> named_fields(std::uint32_t subject_bit) noexcept;

struct metric_words {
  metric_id id;
  const char* name;
  const char* unit;  // "": a plain number
  NumberKind kind;
  bool has_instances;
  word_list instances;  // empty: numbered instances, or none
};

// Returns nullptr for an unknown metric.
const metric_words* words_of_metric(std::uint32_t id) noexcept;
const metric_words* words_of_metric(std::string_view name) noexcept;
// Returns the metric with the next number; nullptr after the last.
const metric_words* next_metric(std::uint32_t id) noexcept;
// Returns "" for an instance without a name. NUL-terminated.
const char* instance_name(std::uint32_t metric, std::uint32_t instance) noexcept;

}  // namespace hmn
