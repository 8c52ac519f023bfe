// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/amount.hpp"

#include <charconv>

#include "model/character.hpp"
#include "model/scale.hpp"
#include "model/scan.hpp"

namespace hmn::amd_tool {
namespace {

struct Unit {
  std::string_view name;
  Form of;
  Scale to;
};

// Units that the tools call kB, MB and GB are powers of 1024.
constexpr Unit units[] = {
    {"b", Form::bytes, as_is},
    {"bytes", Form::bytes, as_is},
    {"kb", Form::bytes, {1024}},
    {"kib", Form::bytes, {1024}},
    {"mb", Form::bytes, {1048576}},
    {"mib", Form::bytes, {1048576}},
    {"gb", Form::bytes, {1073741824}},
    {"gib", Form::bytes, {1073741824}},
    {"%", Form::percent, as_is},
    {"c", Form::celsius, as_is},
    {"\xC2\xB0"
     "c",
     Form::celsius, as_is},
    {"w", Form::watts, as_is},
    {"mw", Form::watts, from_milli},
    {"uw", Form::watts, from_micro},
    {"j", Form::joules, as_is},
    {"uj", Form::joules, from_micro},
    {"mhz", Form::megahertz, as_is},
    {"ghz", Form::megahertz, {1000}},
    {"v", Form::volts, as_is},
    {"mv", Form::volts, from_milli},
    {"rpm", Form::rpm, as_is},
    {"", Form::rpm, as_is},
};

constexpr std::string_view no_sense = ", which makes no sense";
constexpr std::string_view too_large = ", which is too large";
constexpr std::string_view no_unit = ", without a unit that is known";

const Unit* find_unit(Form of, std::string_view name) {
  const std::string small = lower_case(name);
  for (const Unit& u : units) {
    if (u.of == of && u.name == small) return &u;
  }
  return nullptr;
}

std::string_view without_brackets(std::string_view text) {
  text = scan::trim(text);
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  return scan::trim(text.substr(1, text.size() - 2));
}

std::string text_of(const json::Value& v) {
  if (const auto* text = v.as<std::string>()) return *text;
  return json::show(v);
}

void refuse(FieldAmount& f, std::string_view flaw, Reason stated = Reason::not_understood) {
  f.why = Status::backend;
  f.flaw = flaw;
  f.stated = stated;
}

void refuse_filler(FieldAmount& f, std::string_view flaw) {
  f.why = Status::unsupported;
  f.flaw = flaw;
}

// Returns the unsigned number at the end of `text`.
std::uint32_t last_number(std::string_view text) {
  std::size_t from = text.size();
  while (from > 0 && is_digit(text[from - 1])) --from;
  return scan::number<std::uint32_t>(text.substr(from)).value_or(0);
}

// Parses "1 (16.0GT/s x16)"; the raw rates of PCI Express 1 to 6.
void read_link(FieldAmount& f) {
  constexpr std::string_view rates[] = {"2.5", "5", "8", "16", "32", "64"};
  const std::string small = lower_case(f.text.view());
  const std::string_view text = small;
  const std::size_t end = text.find("gt/s x");
  const std::size_t begin = text.rfind('(', end);
  if (end == text.npos || begin == text.npos) return refuse(f, no_sense);
  std::string_view rate = scan::trim(text.substr(begin + 1, end - begin - 1));
  if (rate.ends_with(".0")) rate.remove_suffix(2);
  const std::uint32_t width = last_number(text.substr(0, text.find(')', end)));
  for (std::size_t i = 0; i < std::size(rates); ++i) {
    if (rates[i] == rate && width >= 1 && width <= 32) f.whole = (i + 1) << 8 | width;
  }
  f.whole != 0 ? void(f.why = Status::ok) : refuse(f, no_sense);
}

void read_hexadecimal(FieldAmount& f) {
  const std::string_view text = f.text.view();
  const auto number = text.starts_with("0x") ? scan::number(text.substr(2), 16) : std::nullopt;
  if (!number) return refuse(f, no_sense);
  f.whole = *number;
  f.why = Status::ok;
}

// "THROTTLED" stands for any bit of the firmware, also that of the hotspot.
void read_throttle(FieldAmount& f) {
  const std::string small = lower_case(f.text.view());
  if (small == "throttled") {
    f.why = Status::unsupported;
    f.stated = Reason::ambiguous;
    f.flaw = ": the firmware of RDNA 3 and 4 always has a reason for that, also when idle";
    return;
  }
  if (small != "unthrottled") return refuse(f, no_sense);
  f.why = Status::ok;
}

// The driver's tables have 2^16 - 1 and 2^32 - 1 in place of missing values.
void check(Form as, FieldAmount& f) {
  const bool may_be_negative = as == Form::celsius;
  if (!(f.number >= 0 || may_be_negative)) return refuse(f, ", below 0", Reason::implausible);
  if (as != Form::bytes && (f.number == 65535 || f.number == 4294967295.0)) {
    return refuse_filler(f, ", which stands for nothing");
  }
  if (as == Form::percent && f.number > 100) {
    return refuse(f, ", more than 100 %", Reason::implausible);
  }
  if (as == Form::joules && f.number == 0) refuse_filler(f, ": it does not count");
}

void convert(Form as, FieldAmount& f, bool is_whole, const Scale& by) {
  f.number = by.of(f.number);
  if (!(f.number - f.number == 0)) return refuse(f, no_sense);  // NaN, infinite
  f.why = Status::ok;
  check(as, f);
  if (as != Form::bytes || !f.has_value()) return;
  if (is_whole) {
    const auto bytes = scan::product(f.whole, static_cast<std::uint64_t>(by.times));
    bytes ? void(f.whole = *bytes) : refuse(f, too_large, Reason::implausible);
  } else if (f.number < 9e18) {
    f.whole = static_cast<std::uint64_t>(f.number + 0.5);
    f.is_rounded = true;
  } else {
    refuse(f, too_large, Reason::implausible);
  }
}

void read_amount(Form as, FieldAmount& f, std::string_view outer_unit) {
  const std::string_view text = without_brackets(f.text.view());
  const char* const end = text.data() + text.size();
  const auto real = std::from_chars(text.data(), end, f.number);
  if (real.ec != std::errc()) return refuse(f, no_sense);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(real.ptr - text.data()));
  const auto whole = scan::number(digits);
  f.whole = whole.value_or(0);
  const std::string_view own = scan::trim(text.substr(digits.size()));
  const Unit* const outer = find_unit(as, outer_unit);
  const Unit* const inner = own.empty() ? outer : find_unit(as, own);
  if (inner == nullptr) return refuse(f, no_unit);
  if (!outer_unit.empty() && (outer == nullptr || outer->to != inner->to)) {
    return refuse(f, no_unit);
  }
  convert(as, f, whole.has_value(), inner->to);
}

}  // namespace

bool is_word_for_nothing(std::string_view text) noexcept {
  text = scan::trim(text);
  return text.empty() || text.starts_with("N/A") || text.starts_with("n/a") || text == "unknown" ||
         text == "None" || text == "null";
}

FieldAmount read_field_amount(Form as, const json::Value& v, std::string_view unit_of_key) {
  FieldAmount f;
  const json::Value* said = &v;
  std::string own_unit;
  if (const auto* parts = v.as<json::Object>()) {
    if (const json::Value* inner = parts->find("value")) said = inner;
    if (const json::Value* name = parts->find("unit")) own_unit = text_of(*name);
  }
  f.text.assign(scan::trim(text_of(*said)));
  if (is_word_for_nothing(f.text.view())) {
    f.why = Status::unsupported;
    return f;
  }
  f.why = Status::ok;
  if (as == Form::hexadecimal) read_hexadecimal(f);
  if (as == Form::link) read_link(f);
  if (as == Form::throttle) read_throttle(f);
  if (as >= Form::bytes) read_amount(as, f, own_unit.empty() ? unit_of_key : own_unit);
  return f;
}

}  // namespace hmn::amd_tool
