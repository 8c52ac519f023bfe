// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "model/device.hpp"
#include "model/group_memory.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/tables.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"

namespace hmn {
namespace {

template <class T>
struct kept {
  static_assert(sizeof(T) == sizeof(std::uint32_t) || sizeof(T) == sizeof(std::uint64_t));
  static constexpr auto as = sizeof(T) == sizeof(std::uint32_t) ? field_type::u32 : field_type::u64;
  static constexpr std::size_t c_size = sizeof(T);
};
template <>
struct kept<bool> {
  static constexpr auto as = field_type::truth;
  static constexpr std::size_t c_size = sizeof(std::uint32_t);
};
template <class T>
struct kept<std::optional<T>> {
  static constexpr auto as = std::is_same_v<T, double>            ? field_type::optional_real
                             : sizeof(T) == sizeof(std::uint32_t) ? field_type::optional_u32
                                                                  : field_type::optional_u64;
  static constexpr std::size_t c_size = sizeof(T);
};
template <>
struct kept<std::optional<mig_instance>> {
  static constexpr auto as = field_type::instance;
  static constexpr std::size_t c_size = sizeof(std::uint32_t);
};
template <std::size_t N>
struct kept<text<N>> {
  static constexpr auto as = field_type::bounded_text;
  static constexpr std::size_t c_size = N;
};

template <class T, class C>
consteval field_type type_of() {
  static_assert(kept<T>::c_size == sizeof(C), "a field is kept in another size than in the header");
  return kept<T>::as;
}

// All C++ libraries keep in an optional its value, then whether there is one.
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
consteval std::uint16_t known_at(std::size_t offset) {
  if constexpr (is_optional<T>) {
    offset += sizeof(typename T::value_type);
  } else if constexpr (kept<T>::as == field_type::bounded_text) {
    offset += sizeof(text_head);
  } else {
    offset = 0;
  }
  return static_cast<std::uint16_t>(offset);
}

constexpr std::size_t present_offset = offsetof(hmn_pool, present);
constexpr std::size_t notes_offset = offsetof(hmn_pool, notes);

template <class T>
T at(const void* base, std::size_t offset) noexcept {
  T value;
  std::memcpy(static_cast<void*>(&value), static_cast<const unsigned char*>(base) + offset,
              sizeof value);
  return value;
}

template <class T>
void put(void* base, std::size_t offset, const T& value) noexcept {
  std::memcpy(static_cast<unsigned char*>(base) + offset, &value, sizeof value);
}

text_view text_at(const field& f, const void* record) noexcept {
  return text_view(static_cast<const unsigned char*>(record) + f.offset);
}

// Of a field that is no string.
bool has_value(const field& f, const void* record) noexcept {
  return f.known_at == 0 || at<unsigned char>(record, f.known_at) != 0;
}

// Copies a value that is known. Returns whether it is a text that was cut.
bool copy_value(const field& f, const void* record, void* c_struct) noexcept {
  if (f.type >= field_type::u64) {
    put(c_struct, f.c_offset, at<std::uint64_t>(record, f.offset));
  } else if (f.type >= field_type::u32) {
    put(c_struct, f.c_offset, at<std::uint32_t>(record, f.offset));
  } else if (f.type == field_type::truth) {
    put(c_struct, f.c_offset, std::uint32_t{at<bool>(record, f.offset)});
  } else {
    const text_view text = text_at(f, record);
    std::memcpy(static_cast<unsigned char*>(c_struct) + f.c_offset, text.c_str(),
                text.view().size() + 1);
    return text.was_cut();
  }
  return false;
}

}  // namespace

#define HMN_FIELD(member, c_member, bit, type, counts, words)        \
  {#c_member,                                                        \
   type_of<decltype(inside::member), decltype(outside::c_member)>(), \
   unit::counts,                                                     \
   offsetof(inside, member),                                         \
   known_at<decltype(inside::member)>(offsetof(inside, member)),     \
   offsetof(outside, c_member),                                      \
   bit},
#define HMN_TEXT_FIELD(member) \
  {#member, field_type::string, unit::none, offsetof(inside, member), 0, 0, 0},
#define HMN_FIELDS_OF(record, ...)                               \
  template <>                                                    \
  field_list fields_of<record>() noexcept {                      \
    using inside = record;                                       \
    using outside = hmn_##record;                                \
    static_assert(std::is_standard_layout_v<inside>);            \
    static_assert(offsetof(outside, present) == present_offset); \
    static_assert(offsetof(outside, notes) == notes_offset);     \
    static constexpr field in_order[] = {__VA_ARGS__};           \
    return in_order;                                             \
  }
HMN_FIELDS_OF(process_memory, HMN_PROCESS_MEMORY_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(system_memory, HMN_SYSTEM_MEMORY_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(device, HMN_DEVICE_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(pool, HMN_POOL_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(telemetry, HMN_TELEMETRY_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(metric, HMN_METRIC_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(usage, HMN_USAGE_FIELDS(HMN_FIELD, HMN_TEXT_FIELD))
HMN_FIELDS_OF(group, HMN_GROUP_FIELDS(HMN_FIELD, HMN_TEXT_FIELD))
#undef HMN_FIELDS_OF
#undef HMN_TEXT_FIELD
#undef HMN_FIELD

const field& field_of(field_list fields, std::uint32_t bit) noexcept {
  return *std::ranges::find(fields, bit, &field::bit);
}

word_list words_for(unit u) noexcept {
  switch (u) {
    case unit::source:
    case unit::sources:
      return words::sources();
    case unit::device_kind:
      return words::device_kinds();
    case unit::memory_kind:
      return words::memory_kinds();
    case unit::state:
      return words::states();
    case unit::vendor:
      return words::vendors();
    case unit::pool_kind:
      return words::pool_kinds();
    case unit::accounting:
      return words::accountings();
    case unit::pressure:
      return words::pressures();
    case unit::name_state:
      return words::name_states();
    case unit::notes:
      return words::notes();
    case unit::throttles:
      return words_of_metric(static_cast<std::uint32_t>(metric_id::throttle_ns))->instances;
    case unit::usage_kinds:
      return words::usage_kinds();
    default:
      return {};
  }
}

bool is_set_of_bits(unit u) noexcept {
  return u == unit::notes || u == unit::throttles || u == unit::usage_kinds;
}

bool is_known(const field& f, const void* record) noexcept {
  if (f.type == field_type::string) return !text_in(f, record).empty();
  return has_value(f, record);
}

std::uint64_t number_in(const field& f, const void* record) noexcept {
  switch (f.type) {
    case field_type::u32:
    case field_type::optional_u32:
      return is_known(f, record) ? at<std::uint32_t>(record, f.offset) : 0;
    case field_type::u64:
    case field_type::optional_u64:
      return is_known(f, record) ? at<std::uint64_t>(record, f.offset) : 0;
    case field_type::truth:
      return at<bool>(record, f.offset) ? 1 : 0;
    default:
      return 0;
  }
}

double real_in(const field& f, const void* record) noexcept {
  return at<std::optional<double>>(record, f.offset).value_or(0);
}

std::string_view text_in(const field& f, const void* record) noexcept {
  if (f.type == field_type::bounded_text) return text_at(f, record).view();
  const void* const member = static_cast<const unsigned char*>(record) + f.offset;
  return *static_cast<const std::string*>(member);
}

std::optional<mig_instance> instance_in(const field& f, const void* record) noexcept {
  return at<std::optional<mig_instance>>(record, f.offset);
}

void set_number(const field& f, void* record, std::uint64_t value) noexcept {
  if (f.type == field_type::optional_u32) {
    put(record, f.offset, std::optional(static_cast<std::uint32_t>(value)));
  } else {
    put(record, f.offset, std::optional(value));
  }
}

void set_real(const field& f, void* record, double value) noexcept {
  put(record, f.offset, std::optional(value));
}

void forget(field_list fields, std::uint32_t bits, void* record) noexcept {
  for (const field& f : fields) {
    if ((f.bit & bits) == 0) continue;
    if (f.type == field_type::optional_u32) {
      put(record, f.offset, std::optional<std::uint32_t>());
    } else {
      put(record, f.offset, std::optional<std::uint64_t>());
    }
  }
}

namespace {

bool is_same_value(const field& f, const void* a, const void* b) noexcept {
  switch (f.type) {
    case field_type::bounded_text:
    case field_type::string:
      return text_in(f, a) == text_in(f, b);
    case field_type::optional_real:
      return real_in(f, a) == real_in(f, b);
    case field_type::instance:
      return instance_in(f, a) == instance_in(f, b);
    default:
      return number_in(f, a) == number_in(f, b);
  }
}

}  // namespace

bool is_same_record(field_list fields, const void* a, const void* b) noexcept {
  for (const field& f : fields) {
    if (is_known(f, a) != is_known(f, b) || !is_same_value(f, a, b)) return false;
  }
  return true;
}

std::uint32_t present_bits(field_list fields, std::uint32_t among, const void* record) noexcept {
  std::uint32_t bits = 0;
  for (const field& f : fields) {
    if ((f.bit & among) != 0 && is_known(f, record)) bits |= f.bit;
  }
  return bits;
}

std::uint32_t take_missing(field_list fields, std::uint32_t bits, void* into,
                           const void* from) noexcept {
  std::uint32_t taken = 0;
  for (const field& f : fields) {
    if ((f.bit & bits) == 0 || is_known(f, into) || !is_known(f, from)) continue;
    const std::size_t size = f.type == field_type::bounded_text ? text_at(f, from).size_in_memory()
                                                                : f.known_at + 1U - f.offset;
    std::memcpy(static_cast<unsigned char*>(into) + f.offset,
                static_cast<const unsigned char*>(from) + f.offset, size);
    taken |= f.bit;
  }
  return taken;
}

void copy_out(field_list fields, const void* record, void* c_struct,
              std::uint32_t wanted) noexcept {
  hmn_flags present = 0;
  hmn_flags notes = 0;
  for (const field& f : fields) {
    if (f.c_offset == 0 || !has_value(f, record)) continue;
    present |= f.bit;
    if (copy_value(f, record, c_struct)) notes |= HMN_NOTE_TRUNCATED;
  }
  if ((wanted & ~present) != 0) notes |= HMN_NOTE_PARTIAL;
  put(c_struct, present_offset, present);
  put(c_struct, notes_offset, at<hmn_flags>(c_struct, notes_offset) | notes);
}

}  // namespace hmn
