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
constexpr word entry(std::string_view name, E value) {
  return {name, static_cast<std::uint32_t>(value)};
}

#define HMN_WORD(name, number, text, ...) word{text, static_cast<std::uint32_t>(number)},
namespace every {
inline constexpr word note[] = {HMN_NOTES(HMN_WORD)};
inline constexpr word state[] = {HMN_STATES(HMN_WORD)};
inline constexpr word vendor[] = {HMN_VENDORS(HMN_WORD)};
inline constexpr word pool_kind[] = {HMN_POOL_KINDS(HMN_WORD)};
inline constexpr word pressure[] = {HMN_PRESSURES(HMN_WORD)};
inline constexpr word status[] = {HMN_STATUSES(HMN_WORD)};
inline constexpr word native_domain[] = {HMN_NATIVE_DOMAINS(HMN_WORD)};
}  // namespace every
inline constexpr word accounting_words[] = {HMN_ACCOUNTINGS(HMN_WORD)};
inline constexpr word device_class_words[] = {HMN_DEVICE_CLASSES(HMN_WORD)};
inline constexpr word device_form_words[] = {HMN_DEVICE_FORMS(HMN_WORD)};
inline constexpr word memory_kind_words[] = {HMN_MEMORY_KINDS(HMN_WORD)};
inline constexpr word usage_kind_words[] = {HMN_USAGE_KINDS(HMN_WORD)};
inline constexpr word throttle_words[] = {HMN_THROTTLES(HMN_WORD)};
inline constexpr word name_state_words[] = {HMN_NAME_STATES(HMN_WORD)};
#undef HMN_WORD

// The values of an enumeration that a file may use.
template <class... E>
consteval std::array<word, sizeof...(E)> pick(std::span<const word> all, E... numbers) {
  return {*std::ranges::find(all, static_cast<std::uint32_t>(numbers), &word::value)...};
}

inline constexpr auto note_words =
    pick(every::note, note::stale, note::lower_bound, note::estimated, note::truncated, note::mixed,
         note::foreign_pid);
inline constexpr auto state_words =
    pick(every::state, state::ready, state::asleep, state::lost, state::unreadable);
inline constexpr std::span<const word> vendor_words = std::span(every::vendor).subspan(1);
inline constexpr std::span<const word> pool_kind_words = std::span(every::pool_kind).subspan(1);
inline constexpr std::span<const word> pressure_words = std::span(every::pressure).subspan(1);
inline constexpr auto status_words =
    pick(every::status, status::no_memory, status::unsupported, status::no_source,
         status::no_device, status::no_process, status::permission, status::timeout,
         status::device_lost, status::backend, status::limit, status::overflow, status::asleep);
inline constexpr auto domain_words = pick(every::native_domain, native_domain::error_number,
                                          native_domain::nvml, native_domain::exit);

// The fields of a record in a machine file. Memory sizes are called "used" there, not "used_bytes",
// and may be texts such as "16GiB".
struct described_fields {
  field_list fields;
  FieldSet bits;
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
                 FieldSet bits);

// Returns each field's key and presence bit.
std::vector<word> words_of(const described_fields& of);

}  // namespace hmn::simulated
