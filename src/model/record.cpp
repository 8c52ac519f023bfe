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
constexpr FieldType type_of = sizeof(T) == sizeof(std::uint32_t) ? FieldType::u32 : FieldType::u64;
template <>
constexpr FieldType type_of<bool> = FieldType::truth;
template <>
constexpr FieldType type_of<double> = FieldType::real;
template <>
constexpr FieldType type_of<MigInstance> = FieldType::instance;
template <>
constexpr FieldType type_of<std::string> = FieldType::text;
template <std::size_t N>
constexpr FieldType type_of<Text<N>> = FieldType::text;
template <class T>
constexpr FieldType type_of<std::optional<T>> = type_of<T>;

template <class T>
RecordValue get_member(const T& number) noexcept {
  if constexpr (type_of<T> == FieldType::u32 || type_of<T> == FieldType::u64) {
    return static_cast<std::uint64_t>(number);
  } else {
    return number;
  }
}
template <class T>
RecordValue get_member(const std::optional<T>& number) noexcept {
  return number ? get_member(*number) : RecordValue();
}
RecordValue get_member(std::string_view text) noexcept {
  return text.empty() ? RecordValue() : text;
}
RecordValue get_member(const std::string& text) noexcept {
  return get_member(std::string_view(text));
}
template <std::size_t N>
RecordValue get_member(const Text<N>& text) noexcept {
  return get_member(text.view());
}

template <class T>
void set_member(T&, const RecordValue&) noexcept {}
template <class T>
void set_member(std::optional<T>& number, const RecordValue& to) noexcept {
  number.reset();
  if constexpr (type_of<T> == FieldType::real) {
    if (const double* const real = std::get_if<double>(&to)) number = *real;
  } else if constexpr (type_of<T> != FieldType::instance) {
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
bool copy_member(const MigInstance& instance, std::uint32_t&, Struct& out) noexcept {
  out.gpu_instance = instance.gpu;
  out.compute_instance = instance.compute;
  return false;
}
template <class T, class C, class Struct>
bool copy_member(const std::optional<T>& known, C& out, Struct& whole) noexcept {
  return copy_member(*known, out, whole);
}
template <std::size_t N, class Struct>
bool copy_member(const Text<N>& text, char (&out)[N], Struct&) noexcept {
  std::memcpy(out, text.c_str(), text.view().size() + 1);
  return text.was_cut();
}

template <class Record, auto member>
constexpr Field make_field(std::string_view key, Unit counts, FieldSet bit) noexcept {
  using type = std::remove_cvref_t<decltype(std::declval<Record>().*member)>;
  return {
      key,
      type_of<type>,
      counts,
      bit,
      [](const void* r) { return get_member(static_cast<const Record*>(r)->*member); },
      [](void* r, const RecordValue& to) { set_member(static_cast<Record*>(r)->*member, to); },
      [](void* into, const void* from) {
        static_cast<Record*>(into)->*member = static_cast<const Record*>(from)->*member;
      },
      nullptr,
  };
}

template <class Record, auto member, class C, auto c_member>
constexpr Field make_field(std::string_view key, Unit counts, FieldSet bit) noexcept {
  Field f = make_field<Record, member>(key, counts, bit);
  f.copy = [](const void* from, void* to) {
    C& out = *static_cast<C*>(to);
    return copy_member(static_cast<const Record*>(from)->*member, out.*c_member, out);
  };
  return f;
}

}  // namespace

#define HMN_FIELD(member, c_member, bit, type, counts, words) \
  make_field<Inside, &Inside::member, Outside, &Outside::c_member>(#c_member, Unit::counts, bit),
#define HMN_TEXT_FIELD(member) make_field<Inside, &Inside::member>(#member, Unit::none, 0),
#define HMN_FIELDS_OF(record, c_record, ...)           \
  template <>                                          \
  FieldList fields_of<record>() noexcept {             \
    using Inside = record;                             \
    using Outside = c_record;                          \
    static constexpr Field in_order[] = {__VA_ARGS__}; \
    return in_order;                                   \
  }
HMN_FIELDS_OF(ProcessMemory, hmn_process_memory, HMN_PROCESS_MEMORY_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(SystemMemory, hmn_system_memory, HMN_SYSTEM_MEMORY_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(Device, hmn_device, HMN_DEVICE_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(Pool, hmn_pool, HMN_POOL_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(Telemetry, hmn_telemetry, HMN_TELEMETRY_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(Metric, hmn_metric, HMN_METRIC_FIELDS(HMN_FIELD))
HMN_FIELDS_OF(Usage, hmn_usage, HMN_USAGE_FIELDS(HMN_FIELD, HMN_TEXT_FIELD))
HMN_FIELDS_OF(Group, hmn_group, HMN_GROUP_FIELDS(HMN_FIELD, HMN_TEXT_FIELD))
#undef HMN_FIELDS_OF
#undef HMN_TEXT_FIELD
#undef HMN_FIELD

const Field& field_of(FieldList fields, FieldSet bit) noexcept {
  return *std::ranges::find(fields, bit, &Field::bit);
}

WordList words_for(Unit u) noexcept {
  switch (u) {
    case Unit::source:
    case Unit::sources:
      return words::sources();
    case Unit::device_class:
      return words::device_classes();
    case Unit::device_form:
      return words::device_forms();
    case Unit::memory_kind:
      return words::memory_kinds();
    case Unit::state:
      return words::states();
    case Unit::vendor:
      return words::vendors();
    case Unit::pool_kind:
      return words::pool_kinds();
    case Unit::accounting:
      return words::accountings();
    case Unit::pressure:
      return words::pressures();
    case Unit::name_state:
      return words::name_states();
    case Unit::notes:
      return words::notes();
    case Unit::throttles:
      return words_of_metric(static_cast<std::uint32_t>(MetricId::throttle_ns))->instances;
    case Unit::usage_kinds:
      return words::usage_kinds();
    default:
      return {};
  }
}

bool is_set_of_bits(Unit u) noexcept {
  return u == Unit::notes || u == Unit::throttles || u == Unit::usage_kinds;
}

bool is_known(const Field& f, const void* record) noexcept {
  return !std::holds_alternative<std::monostate>(f.get(record));
}

std::uint64_t number_in(const Field& f, const void* record) noexcept {
  const RecordValue value = f.get(record);
  const auto* const number = std::get_if<std::uint64_t>(&value);
  return number != nullptr ? *number : 0;
}

void forget(FieldList fields, FieldSet bits, void* record) noexcept {
  for (const Field& f : fields) {
    if ((f.bit & bits) != 0) f.set(record, {});
  }
}

bool is_same_record(FieldList fields, const void* a, const void* b) noexcept {
  return std::ranges::all_of(fields, [&](const Field& f) { return f.get(a) == f.get(b); });
}

FieldSet present_bits(FieldList fields, FieldSet among, const void* record) noexcept {
  FieldSet bits = 0;
  for (const Field& f : fields) {
    if ((f.bit & among) != 0 && is_known(f, record)) bits |= f.bit;
  }
  return bits;
}

FieldSet take_missing(FieldList fields, FieldSet bits, void* into, const void* from) noexcept {
  FieldSet taken = 0;
  for (const Field& f : fields) {
    if ((f.bit & bits) == 0 || is_known(f, into) || !is_known(f, from)) continue;
    f.take(into, from);
    taken |= f.bit;
  }
  return taken;
}

Copied copy_fields(FieldList fields, const void* record, void* c_struct) noexcept {
  Copied done;
  for (const Field& f : fields) {
    if (f.copy == nullptr || !is_known(f, record)) continue;
    done.present |= f.bit;
    if (f.copy(record, c_struct)) done.was_cut = true;
  }
  return done;
}

}  // namespace hmn
