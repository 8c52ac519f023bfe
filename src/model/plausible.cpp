// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/plausible.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include "model/compose.hpp"
#include "model/decimal.hpp"
#include "model/record.hpp"

namespace hmn {
namespace {

// Both ends are possible.
struct range {
  double least;
  double most;
};

struct unit_limit {
  short_text<4> of_metric;  // unit in model/metrics.def
  range possible;
};

// Indexed by unit, from bytes to volts.
//
// Memory: 256 TiB, four times that of the largest hosts. Temperature: electronics are specified for
// -55 to 125 C (MIL-STD-883), and silicon stops working far below 300. Power: 100 kW, a full rack;
// energy: that for 300 years. Clocks: 100 GHz; effective rates of graphics memory reach 36.
constexpr unit_limit limits[] = {
    {"", {0, 0x1p48}},   // bytes; those of metrics count traffic
    {"%", {0, 100}},     // percent
    {"C", {-100, 300}},  // celsius
    {"W", {0, 1e5}},     // watts
    {"J", {0, 1e15}},    // joules
    {"MHz", {0, 1e5}},   // megahertz
    {"RPM", {0, 1e5}},   // rpm
    {"V", {0, 1000}},    // volts
    // Of fields with another range than their unit.
    {"", {0, 1000}},    // speed of fans, which may run above their rated speed
    {"", {0, 0x1p57}},  // address space, of five levels of page tables
};

constexpr std::size_t position(unit u) noexcept {
  return static_cast<std::size_t>(u) - static_cast<std::size_t>(unit::bytes);
}
constexpr std::size_t fan_percent = position(unit::volts) + 1;
constexpr std::size_t address_space = fan_percent + 1;
constexpr std::size_t none = address_space + 1;
static_assert(none == std::size(limits));

constexpr std::uint64_t rounding = 2 * 1024 * 1024;  // tools print whole MiB

struct exception {
  std::uint32_t fields = 0;
  std::size_t limit = none;
};

// Parts are at most as large as the whole before them in the record.
struct rules {
  std::uint32_t wholes = 0;
  std::uint32_t parts = 0;
  std::array<exception, 2> exceptions{};
};

constexpr rules of_pool{
    pool_field::total,
    pool_field::free | pool_field::used | pool_field::reserved | pool_field::usable,
    {}};
constexpr rules of_telemetry{
    0,
    0,
    {{{telemetry_field::fan_percent, fan_percent},
      {telemetry_field::pcie_rx_bytes | telemetry_field::pcie_tx_bytes, none}}}};
// A process cannot use more than the device has.
constexpr rules of_usage{
    0, usage_field::used | usage_field::peak_used | usage_field::allocated, {}};
constexpr rules of_system_memory{
    HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_SWAP_TOTAL,
    HMN_SYSTEM_MEMORY_HAS_AVAILABLE | HMN_SYSTEM_MEMORY_HAS_SWAP_FREE,
    {{{HMN_SYSTEM_MEMORY_HAS_COMMITTED | HMN_SYSTEM_MEMORY_HAS_COMMIT_LIMIT, address_space}}}};

enum class role : std::uint8_t { other, whole, part };

// Row of model/fields.def with its limit.
struct limited_field {
  std::uint16_t offset = 0;  // in the record
  field_type type = field_type::string;
  std::uint8_t limit = none;
  enum role role = role::other;
};

template <class T>
constexpr field_type optional_type = field_type::string;
template <>
constexpr field_type optional_type<std::optional<std::uint32_t>> = field_type::optional_u32;
template <>
constexpr field_type optional_type<std::optional<std::uint64_t>> = field_type::optional_u64;
template <>
constexpr field_type optional_type<std::optional<double>> = field_type::optional_real;

template <class T>
consteval limited_field limited(std::size_t offset, std::uint32_t bit, unit u, const rules& by) {
  limited_field f;
  f.offset = static_cast<std::uint16_t>(offset);
  f.type = optional_type<T>;
  if (f.type == field_type::string) return f;
  if (u >= unit::bytes && u <= unit::volts) f.limit = static_cast<std::uint8_t>(position(u));
  for (const exception& e : by.exceptions) {
    if ((e.fields & bit) != 0) f.limit = static_cast<std::uint8_t>(e.limit);
  }
  if ((by.wholes & bit) != 0) f.role = role::whole;
  if ((by.parts & bit) != 0) f.role = role::part;
  return f;
}

// Known value; none for another type.
template <class T>
std::optional<double> read(const void* record, const limited_field& f) noexcept {
  std::optional<T> v;
  std::memcpy(static_cast<void*>(&v), static_cast<const unsigned char*>(record) + f.offset,
              sizeof v);
  return v ? std::optional(static_cast<double>(*v)) : std::nullopt;
}

std::optional<double> value_of(const limited_field& f, const void* record) noexcept {
  if (f.type == field_type::optional_u64) return read<std::uint64_t>(record, f);
  if (f.type == field_type::optional_real) return read<double>(record, f);
  return read<std::uint32_t>(record, f);
}

constexpr bool is_in(double value, const range& possible) noexcept {
  return value >= possible.least && value <= possible.most;  // false for NaN
}

piece number(double value, std::array<char, 32>& text) noexcept {
  constexpr double most = 0x1p53;
  const bool is_whole =
      is_in(value, {-most, most}) && static_cast<double>(static_cast<std::int64_t>(value)) == value;
  if (is_whole) return static_cast<std::int64_t>(value);
  const char* const end = write_shortest(text.data(), value);
  return std::string_view(text.data(), static_cast<std::size_t>(end - text.data()));
}

// Makes every failure of this module. `of` names what has the limit; "": none has.
failure implausible(source from, std::string_view name, double value, const range& possible,
                    std::string_view of) {
  std::array<char, 32> reported, limit;
  const bool is_below = value < possible.least;
  return {status::backend,
          from,
          {},
          {"the driver reported ", name, " ", number(value, reported),
           is_below ? ", below " : ", above ", of,
           number(is_below ? possible.least : possible.most, limit), ": implausible"},
          reason::implausible};
}

struct whole {
  std::string_view name;
  std::optional<double> size;
};

// `fields` and `limits_of` have the same order.
void check(field_list fields, const limited_field* limits_of, void* record, source from,
           whole before, when_dropped report) {
  for (const field& f : fields) {
    const limited_field& l = *limits_of++;
    if (l.limit == none) continue;
    if (l.role == role::whole) before = {};
    const std::optional<double> value = value_of(l, record);
    if (!value) continue;
    range possible = limits[l.limit].possible;
    const bool is_part = l.role == role::part && before.size;
    if (is_part) possible.most = std::min(possible.most, *before.size);
    if (!is_in(*value, possible)) {
      report(f.bit, implausible(from, f.key, *value, possible, is_part ? before.name : ""));
      forget(fields, f.bit, record);
    } else if (l.role == role::whole) {
      before = {"the total of ", value};
    }
  }
}

range range_of(const metric_words& m) noexcept {
  if (m.id == metric_id::fan_percent) return limits[fan_percent].possible;
  for (const unit_limit& l : limits) {
    if (!m.unit.empty() && l.of_metric.view() == m.unit.view()) return l.possible;
  }
  constexpr double largest = std::numeric_limits<double>::max();
  return {-largest, largest};
}

}  // namespace

#define HMN_LIMITED(member, c_member, bit, type, counts, words) \
  limited<type>(offsetof(inside, member), bit, unit::counts, by),
#define HMN_UNLIMITED(member) limited_field(),
#define HMN_CHECK(r, of_record, before, ...)                 \
  using inside = std::remove_cvref_t<decltype(r)>;           \
  static constexpr rules by = of_record;                     \
  static constexpr limited_field in_order[] = {__VA_ARGS__}; \
  check(fields_of<inside>(), in_order, &(r), (r).from, before, report)

void drop_implausible(pool& p, when_dropped to) {
  // A free that the driver does not report follows from used.
  const auto report = [&](std::uint32_t field, const failure& why) {
    if (field == pool_field::used && !p.free) field |= pool_field::free;
    to(field, why);
  };
  HMN_CHECK(p, of_pool, {}, HMN_POOL_FIELDS(HMN_LIMITED));
  if (!p.total || !p.free || !p.used || *p.free + *p.used <= *p.total + rounding) return;
  const range possible{0, static_cast<double>(*p.total)};
  report(pool_field::used,
         implausible(p.from, "free_bytes + used_bytes", static_cast<double>(*p.free + *p.used),
                     possible, "the total of "));
  p.used.reset();
}

void drop_implausible(telemetry& t, when_dropped report) {
  HMN_CHECK(t, of_telemetry, {}, HMN_TELEMETRY_FIELDS(HMN_LIMITED));
}

void drop_implausible(usage& row, std::optional<std::uint64_t> total, when_dropped report) {
  whole device{"the device's ", {}};
  if (total) device.size = static_cast<double>(*total);
  HMN_CHECK(row, of_usage, device, HMN_USAGE_FIELDS(HMN_LIMITED, HMN_UNLIMITED));
}

void drop_implausible(system_memory& m, when_dropped report) {
  HMN_CHECK(m, of_system_memory, {}, HMN_SYSTEM_MEMORY_FIELDS(HMN_LIMITED));
}

#undef HMN_CHECK
#undef HMN_UNLIMITED
#undef HMN_LIMITED

void drop_implausible(std::vector<metric>& all, when_dropped report) {
  std::erase_if(all, [&](const metric& m) {
    const metric_words* const words = words_of_metric(static_cast<std::uint32_t>(m.id));
    if (!m.value || words == nullptr) return false;
    const range possible = range_of(*words);
    if (is_in(*m.value, possible)) return false;
    report(static_cast<std::uint32_t>(m.id),
           implausible(m.from, words->name, *m.value, possible, ""));
    return true;
  });
}

}  // namespace hmn
