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
constexpr FieldType member_type = sizeof(T) == sizeof(std::uint32_t) ? FieldType::u32
                                                                     : FieldType::u64;
template <>
constexpr FieldType member_type<bool> = FieldType::boolean;
template <>
constexpr FieldType member_type<double> = FieldType::real;
template <>
constexpr FieldType member_type<MigInstance> = FieldType::instance;
template <>
constexpr FieldType member_type<std::string> = FieldType::text;
template <std::size_t N>
constexpr FieldType member_type<Text<N>> = FieldType::text;
template <class T>
constexpr FieldType member_type<std::optional<T>> = member_type<T>;

template <class T>
RecordValue get_member(const T& number) noexcept {
  if constexpr (member_type<T> == FieldType::u32 || member_type<T> == FieldType::u64) {
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
void set_member(std::optional<T>& number, const RecordValue& value) noexcept {
  number.reset();
  if constexpr (member_type<T> == FieldType::real) {
    if (const double* const real = std::get_if<double>(&value)) number = *real;
  } else if constexpr (member_type<T> != FieldType::instance) {
    if (const auto* const integer = std::get_if<std::uint64_t>(&value))
      number = static_cast<T>(*integer);
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
bool copy_member(const MigInstance& instance, std::uint32_t&, Struct& c_struct) noexcept {
  c_struct.gpu_instance = instance.gpu;
  c_struct.compute_instance = instance.compute;
  return false;
}
template <class T, class C, class Struct>
bool copy_member(const std::optional<T>& member, C& out, Struct& c_struct) noexcept {
  return copy_member(*member, out, c_struct);
}
template <std::size_t N, class Struct>
bool copy_member(const Text<N>& text, char (&out)[N], Struct&) noexcept {
  std::memcpy(out, text.c_str(), text.view().size() + 1);
  return text.was_cut();
}

template <class Record, auto member>
constexpr Field make_field(std::string_view key, Unit unit, FieldSet bit) noexcept {
  using type = std::remove_cvref_t<decltype(std::declval<Record>().*member)>;
  return {
      key,
      member_type<type>,
      unit,
      bit,
      [](const void* record) { return get_member(static_cast<const Record*>(record)->*member); },
      [](void* record, const RecordValue& value) {
        set_member(static_cast<Record*>(record)->*member, value);
      },
      [](void* target, const void* source) {
        static_cast<Record*>(target)->*member = static_cast<const Record*>(source)->*member;
      },
      nullptr,
  };
}

template <class Record, auto member, class C, auto c_member>
constexpr Field make_field(std::string_view key, Unit unit, FieldSet bit) noexcept {
  Field field = make_field<Record, member>(key, unit, bit);
  field.copy_to_c = [](const void* record, void* c_struct) {
    C& out = *static_cast<C*>(c_struct);
    return copy_member(static_cast<const Record*>(record)->*member, out.*c_member, out);
  };
  return field;
}

}  // namespace

#define HMN_FIELD(member, c_member, bit, type, counts, words)                                     \
  make_field<CppRecord, &CppRecord::member, CRecord, &CRecord::c_member>(#c_member, Unit::counts, \
                                                                         bit),
#define HMN_TEXT_FIELD(member) make_field<CppRecord, &CppRecord::member>(#member, Unit::none, 0),
#define HMN_RECORD_FIELDS(record, c_record, ...)    \
  template <>                                       \
  FieldList record_fields<record>() noexcept {      \
    using CppRecord = record;                       \
    using CRecord = c_record;                       \
    static constexpr Field table[] = {__VA_ARGS__}; \
    return table;                                   \
  }
HMN_RECORD_FIELDS(ProcessMemory, hmn_process_memory, HMN_PROCESS_MEMORY_FIELDS(HMN_FIELD))
HMN_RECORD_FIELDS(SystemMemory, hmn_system_memory, HMN_SYSTEM_MEMORY_FIELDS(HMN_FIELD))
HMN_RECORD_FIELDS(Device, hmn_device, HMN_DEVICE_FIELDS(HMN_FIELD))
HMN_RECORD_FIELDS(Pool, hmn_pool, HMN_POOL_FIELDS(HMN_FIELD))
HMN_RECORD_FIELDS(Telemetry, hmn_telemetry, HMN_TELEMETRY_FIELDS(HMN_FIELD))
HMN_RECORD_FIELDS(Metric, hmn_metric, HMN_METRIC_FIELDS(HMN_FIELD))
HMN_RECORD_FIELDS(Usage, hmn_usage, HMN_USAGE_FIELDS(HMN_FIELD, HMN_TEXT_FIELD))
HMN_RECORD_FIELDS(Group, hmn_group, HMN_GROUP_FIELDS(HMN_FIELD, HMN_TEXT_FIELD))
#undef HMN_RECORD_FIELDS
#undef HMN_TEXT_FIELD
#undef HMN_FIELD

const Field& find_field(FieldList fields, FieldSet bit) noexcept {
  return *std::ranges::find(fields, bit, &Field::bit);
}

WordList unit_words(Unit unit) noexcept {
  switch (unit) {
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
      return find_metric_info(static_cast<std::uint32_t>(MetricId::throttle_ns))->instances;
    case Unit::usage_kinds:
      return words::usage_kinds();
    default:
      return {};
  }
}

bool is_bitmask(Unit unit) noexcept {
  return unit == Unit::notes || unit == Unit::throttles || unit == Unit::usage_kinds;
}

bool is_known(const Field& field, const void* record) noexcept {
  return !std::holds_alternative<std::monostate>(field.get(record));
}

std::uint64_t get_number(const Field& field, const void* record) noexcept {
  const RecordValue value = field.get(record);
  const auto* const number = std::get_if<std::uint64_t>(&value);
  return number != nullptr ? *number : 0;
}

void clear_fields(FieldList fields, FieldSet bits, void* record) noexcept {
  for (const Field& field : fields) {
    if ((field.bit & bits) != 0) field.set(record, {});
  }
}

bool is_same_record(FieldList fields, const void* a, const void* b) noexcept {
  return std::ranges::all_of(fields,
                             [&](const Field& field) { return field.get(a) == field.get(b); });
}

FieldSet present_bits(FieldList fields, FieldSet mask, const void* record) noexcept {
  FieldSet bits = 0;
  for (const Field& field : fields) {
    if ((field.bit & mask) != 0 && is_known(field, record)) bits |= field.bit;
  }
  return bits;
}

FieldSet fill_missing(FieldList fields, FieldSet bits, void* target, const void* source) noexcept {
  FieldSet filled = 0;
  for (const Field& field : fields) {
    if ((field.bit & bits) == 0 || is_known(field, target) || !is_known(field, source)) continue;
    field.assign(target, source);
    filled |= field.bit;
  }
  return filled;
}

CopyResult copy_fields(FieldList fields, const void* record, void* c_struct) noexcept {
  CopyResult result;
  for (const Field& field : fields) {
    if (field.copy_to_c == nullptr || !is_known(field, record)) continue;
    result.present |= field.bit;
    if (field.copy_to_c(record, c_struct)) result.was_cut = true;
  }
  return result;
}

}  // namespace hmn
