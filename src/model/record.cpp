// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/record.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

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
constexpr field_type type_of = sizeof(T) == sizeof(std::uint32_t) ? field_type::u32
                                                                  : field_type::u64;
template <>
constexpr field_type type_of<bool> = field_type::truth;
template <>
constexpr field_type type_of<double> = field_type::real;
template <>
constexpr field_type type_of<mig_instance> = field_type::instance;
template <>
constexpr field_type type_of<std::string> = field_type::text;
template <std::size_t N>
constexpr field_type type_of<text<N>> = field_type::text;
template <class T>
constexpr field_type type_of<std::optional<T>> = type_of<T>;

template <class T>
record_value get_member(const T& number) noexcept {
  if constexpr (type_of<T> == field_type::u32 || type_of<T> == field_type::u64) {
    return static_cast<std::uint64_t>(number);
  } else {
    return number;
  }
}
template <class T>
record_value get_member(const std::optional<T>& number) noexcept {
  return number ? get_member(*number) : record_value();
}
record_value get_member(std::string_view text) noexcept {
  return text.empty() ? record_value() : text;
}
record_value get_member(const std::string& text) noexcept {
  return get_member(std::string_view(text));
}
template <std::size_t N>
record_value get_member(const text<N>& text) noexcept {
  return get_member(text.view());
}

template <class T>
void set_member(T&, const record_value&) noexcept {}
template <class T>
void set_member(std::optional<T>& number, const record_value& to) noexcept {
  number.reset();
  if constexpr (type_of<T> == field_type::real) {
    if (const double* const real = std::get_if<double>(&to)) number = *real;
  } else if constexpr (type_of<T> != field_type::instance) {
    if (const auto* const whole = std::get_if<std::uint64_t>(&to)) number = static_cast<T>(*whole);
  }
}

// Returns whether it is a text that was cut.
template <class T, class C, class Struct>
bool copy_member(const T& number, C& out, Struct&) noexcept {
  static_assert(sizeof(T) == sizeof(C) || std::is_same_v<T, bool>);
  static_assert(std::is_floating_point_v<T> == std::is_floating_point_v<C>);
  out = static_cast<C>(number);
  return false;
}
template <class Struct>
bool copy_member(const mig_instance& instance, std::uint32_t&, Struct& out) noexcept {
  out.gpu_instance = instance.gpu;
  out.compute_instance = instance.compute;
  return false;
}
template <class T, class C, class Struct>
bool copy_member(const std::optional<T>& known, C& out, Struct& whole) noexcept {
  return copy_member(*known, out, whole);
}
template <std::size_t N, class Struct>
bool copy_member(const text<N>& text, char (&out)[N], Struct&) noexcept {
  std::memcpy(out, text.c_str(), text.view().size() + 1);
  return text.was_cut();
}

template <class Record, auto member>
constexpr field make_field(std::string_view key, unit counts, FieldSet bit) noexcept {
  using type = std::remove_cvref_t<decltype(std::declval<Record>().*member)>;
  return {
      key,
      type_of<type>,
      counts,
      bit,
      [](const void* r) { return get_member(static_cast<const Record*>(r)->*member); },
      [](void* r, const record_value& to) { set_member(static_cast<Record*>(r)->*member, to); },
      [](void* into, const void* from) {
        static_cast<Record*>(into)->*member = static_cast<const Record*>(from)->*member;
      },
      nullptr,
  };
}

template <class Record, auto member, class C, auto c_member>
constexpr field make_field(std::string_view key, unit counts, FieldSet bit) noexcept {
  field f = make_field<Record, member>(key, counts, bit);
  f.copy = [](const void* from, void* to) {
    C& out = *static_cast<C*>(to);
    return copy_member(static_cast<const Record*>(from)->*member, out.*c_member, out);
  };
  return f;
}

}  // namespace

#define HMN_FIELD(member, c_member, bit, type, counts, words) \
  make_field<inside, &inside::member, outside, &outside::c_member>(#c_member, unit::counts, bit),
#define HMN_TEXT_FIELD(member) make_field<inside, &inside::member>(#member, unit::none, 0),
#define HMN_FIELDS_OF(record, ...)                     \
  template <>                                          \
  field_list fields_of<record>() noexcept {            \
    using inside = record;                             \
    using outside = hmn_##record;                      \
    static constexpr field in_order[] = {__VA_ARGS__}; \
    return in_order;                                   \
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

const field& field_of(field_list fields, FieldSet bit) noexcept {
  return *std::ranges::find(fields, bit, &field::bit);
}

word_list words_for(unit u) noexcept {
  switch (u) {
    case unit::source:
    case unit::sources:
      return words::sources();
    case unit::device_class:
      return words::device_classes();
    case unit::device_form:
      return words::device_forms();
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
  return !std::holds_alternative<std::monostate>(f.get(record));
}

std::uint64_t number_in(const field& f, const void* record) noexcept {
  const record_value value = f.get(record);
  const auto* const number = std::get_if<std::uint64_t>(&value);
  return number != nullptr ? *number : 0;
}

void forget(field_list fields, FieldSet bits, void* record) noexcept {
  for (const field& f : fields) {
    if ((f.bit & bits) != 0) f.set(record, {});
  }
}

bool is_same_record(field_list fields, const void* a, const void* b) noexcept {
  return std::ranges::all_of(fields, [&](const field& f) { return f.get(a) == f.get(b); });
}

FieldSet present_bits(field_list fields, FieldSet among, const void* record) noexcept {
  FieldSet bits = 0;
  for (const field& f : fields) {
    if ((f.bit & among) != 0 && is_known(f, record)) bits |= f.bit;
  }
  return bits;
}

FieldSet take_missing(field_list fields, FieldSet bits, void* into,
                           const void* from) noexcept {
  FieldSet taken = 0;
  for (const field& f : fields) {
    if ((f.bit & bits) == 0 || is_known(f, into) || !is_known(f, from)) continue;
    f.take(into, from);
    taken |= f.bit;
  }
  return taken;
}

copied copy_fields(field_list fields, const void* record, void* c_struct) noexcept {
  copied done;
  for (const field& f : fields) {
    if (f.copy == nullptr || !is_known(f, record)) continue;
    done.present |= f.bit;
    if (f.copy(record, c_struct)) done.was_cut = true;
  }
  return done;
}

}  // namespace hmn
