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

struct NumberedWord {
  std::int32_t number;
  const char* word;
};
using WordList = std::span<const NumberedWord>;

namespace words {
WordList statuses() noexcept;
WordList sources() noexcept;
WordList native_domains() noexcept;
WordList notes() noexcept;
WordList subjects() noexcept;
WordList reasons() noexcept;
WordList accountings() noexcept;
WordList device_classes() noexcept;
WordList device_forms() noexcept;
WordList memory_kinds() noexcept;
WordList states() noexcept;
WordList vendors() noexcept;
WordList pool_kinds() noexcept;
WordList pressures() noexcept;
WordList usage_kinds() noexcept;
WordList name_states() noexcept;
}  // namespace words

// Returns a NUL-terminated word; nullptr for an unknown number.
const char* lookup_word(WordList list, std::int64_t number) noexcept;
// Returns "unknown" for a number that is not in the list.
const char* word_or_unknown(WordList list, std::int64_t number) noexcept;
// Returns none for an unknown word and for "".
std::optional<std::int32_t> lookup_number(WordList list, std::string_view word) noexcept;

// Returns "HMN_E_RANGE"; "HMN_E_?" for an unknown status. NUL-terminated.
const char* status_name(std::int32_t status) noexcept;

// Returns "NVIDIA"; "" for an unknown vendor. NUL-terminated.
const char* vendor_name(std::uint32_t vendor) noexcept;

struct FieldLabel {
  FieldSet bit;
  std::string_view words;  // "": part of another value, as a window is
};

// Returns the fields that diagnostics of a subject (HMN_COLLECT_*) may concern, with words for
// people.
std::span<const FieldLabel> field_labels(std::uint32_t subject_bit) noexcept;

struct MetricInfo {
  MetricId id;
  const char* name;
  const char* unit;  // "": a plain number
  NumberKind kind;
  bool has_instances;
  WordList instances;  // empty: numbered instances, or none
};

// Returns nullptr for an unknown metric.
const MetricInfo* find_metric_info(std::uint32_t id) noexcept;
const MetricInfo* find_metric_info(std::string_view name) noexcept;
// Returns the metric with the next number; nullptr after the last.
const MetricInfo* next_metric(std::uint32_t id) noexcept;
// Returns "" for an instance without a name. NUL-terminated.
const char* instance_name(std::uint32_t metric, std::uint32_t instance) noexcept;

}  // namespace hmn
