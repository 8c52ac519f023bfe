// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Words and record fields of a machine file, from the tables of the model.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/reader.hpp"
#include "model/json_writer.hpp"
#include "model/record.hpp"
#include "model/tables.hpp"

namespace hmn::simulated {

template <class E>
constexpr Word make_word(std::string_view name, E value) {
  return {name, static_cast<std::uint32_t>(value)};
}

#define HMN_WORD(name, number, text, ...) Word{text, static_cast<std::uint32_t>(number)},
namespace every {
inline constexpr Word note[] = {HMN_NOTES(HMN_WORD)};
inline constexpr Word state[] = {HMN_STATES(HMN_WORD)};
inline constexpr Word vendor[] = {HMN_VENDORS(HMN_WORD)};
inline constexpr Word pool_kind[] = {HMN_POOL_KINDS(HMN_WORD)};
inline constexpr Word pressure[] = {HMN_PRESSURES(HMN_WORD)};
inline constexpr Word status[] = {HMN_STATUSES(HMN_WORD)};
inline constexpr Word native_domain[] = {HMN_NATIVE_DOMAINS(HMN_WORD)};
}  // namespace every
inline constexpr Word accounting_words[] = {HMN_ACCOUNTINGS(HMN_WORD)};
inline constexpr Word device_class_words[] = {HMN_DEVICE_CLASSES(HMN_WORD)};
inline constexpr Word device_form_words[] = {HMN_DEVICE_FORMS(HMN_WORD)};
inline constexpr Word memory_kind_words[] = {HMN_MEMORY_KINDS(HMN_WORD)};
inline constexpr Word usage_kind_words[] = {HMN_USAGE_KINDS(HMN_WORD)};
inline constexpr Word throttle_words[] = {HMN_THROTTLES(HMN_WORD)};
inline constexpr Word name_state_words[] = {HMN_NAME_STATES(HMN_WORD)};
#undef HMN_WORD

// The values of an enumeration that a file may use.
template <class... E>
consteval std::array<Word, sizeof...(E)> pick(std::span<const Word> all, E... numbers) {
  return {*std::ranges::find(all, static_cast<std::uint32_t>(numbers), &Word::value)...};
}

inline constexpr auto note_words =
    pick(every::note, note::stale, note::lower_bound, note::estimated, note::truncated, note::mixed,
         note::foreign_pid);
inline constexpr auto state_words =
    pick(every::state, State::ready, State::asleep, State::lost, State::unreadable);
inline constexpr std::span<const Word> vendor_words = std::span(every::vendor).subspan(1);
inline constexpr std::span<const Word> pool_kind_words = std::span(every::pool_kind).subspan(1);
inline constexpr std::span<const Word> pressure_words = std::span(every::pressure).subspan(1);
inline constexpr auto status_words =
    pick(every::status, Status::no_memory, Status::unsupported, Status::no_source,
         Status::no_device, Status::no_process, Status::permission, Status::timeout,
         Status::device_lost, Status::backend, Status::limit, Status::overflow, Status::asleep);
inline constexpr auto domain_words =
    pick(every::native_domain, NativeDomain::error_number, NativeDomain::nvml, NativeDomain::exit);

// The fields of a record in a machine file. Memory sizes are called "used" there, not "used_bytes",
// and may be texts such as "16GiB".
struct RecordSchema {
  FieldList fields;
  FieldSet bits;
  bool has_short_keys;
};

RecordSchema pool_schema() noexcept;
RecordSchema telemetry_schema() noexcept;
RecordSchema usage_schema() noexcept;
RecordSchema process_memory_schema() noexcept;
RecordSchema system_memory_schema() noexcept;

void read_fields(ObjectReader& reader, const RecordSchema& schema, void* record);
void write_fields(json::Writer& writer, const RecordSchema& schema, const void* record);

// Writes a member that is known.
template <class T>
void write_if_known(json::Writer& writer, std::string_view key, const std::optional<T>& value) {
  if (value) writer.member(key, value);
}
// Write the word for a value, or the words for its bits; nothing if it has none.
void write_word(json::Writer& writer, std::string_view key, std::span<const Word> words,
                std::uint32_t value);
void write_words(json::Writer& writer, std::string_view key, std::span<const Word> words,
                 FieldSet bits);

// Returns each field's key and presence bit.
std::vector<Word> field_words(const RecordSchema& schema);

}  // namespace hmn::simulated
