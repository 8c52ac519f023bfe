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
  Form form;
  Scale scale;
};

// Units that the tools call kB, MB and GB are powers of 1024.
constexpr Unit units[] = {
    {"b", Form::bytes, unscaled},
    {"bytes", Form::bytes, unscaled},
    {"kb", Form::bytes, {1024}},
    {"kib", Form::bytes, {1024}},
    {"mb", Form::bytes, {1048576}},
    {"mib", Form::bytes, {1048576}},
    {"gb", Form::bytes, {1073741824}},
    {"gib", Form::bytes, {1073741824}},
    {"%", Form::percent, unscaled},
    {"c", Form::celsius, unscaled},
    {"\xC2\xB0"
     "c",
     Form::celsius, unscaled},
    {"w", Form::watts, unscaled},
    {"mw", Form::watts, from_milli},
    {"uw", Form::watts, from_micro},
    {"j", Form::joules, unscaled},
    {"uj", Form::joules, from_micro},
    {"mhz", Form::megahertz, unscaled},
    {"ghz", Form::megahertz, {1000}},
    {"v", Form::volts, unscaled},
    {"mv", Form::volts, from_milli},
    {"rpm", Form::rpm, unscaled},
    {"", Form::rpm, unscaled},
};

constexpr std::string_view no_sense = ", which is implausible";
constexpr std::string_view too_large = ", which is too large";
constexpr std::string_view no_unit = ", without a unit that is known";

const Unit* find_unit(Form form, std::string_view name) {
  const std::string lower = lower_case(name);
  for (const Unit& unit : units) {
    if (unit.form == form && unit.name == lower) return &unit;
  }
  return nullptr;
}

std::string_view strip_brackets(std::string_view text) {
  text = scan::trim(text);
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  return scan::trim(text.substr(1, text.size() - 2));
}

std::string read_text(const json::Value& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  return json::summarize(value);
}

void refuse(FieldAmount& amount, std::string_view flaw, Reason reason = Reason::not_understood) {
  amount.status = Status::backend;
  amount.flaw = flaw;
  amount.reason = reason;
}

void refuse_filler(FieldAmount& amount, std::string_view flaw) {
  amount.status = Status::unsupported;
  amount.flaw = flaw;
}

// Returns the unsigned number at the end of `text`.
std::uint32_t parse_last_number(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  return scan::parse_number<std::uint32_t>(text.substr(begin)).value_or(0);
}

// Parses "1 (16.0GT/s x16)"; the raw rates of PCI Express 1 to 6.
void read_link(FieldAmount& amount) {
  constexpr std::string_view rates[] = {"2.5", "5", "8", "16", "32", "64"};
  const std::string lower = lower_case(amount.text.view());
  const std::string_view text = lower;
  const std::size_t end = text.find("gt/s x");
  const std::size_t begin = text.rfind('(', end);
  if (end == text.npos || begin == text.npos) return refuse(amount, no_sense);
  std::string_view rate = scan::trim(text.substr(begin + 1, end - begin - 1));
  if (rate.ends_with(".0")) rate.remove_suffix(2);
  const std::uint32_t width = parse_last_number(text.substr(0, text.find(')', end)));
  for (std::size_t i = 0; i < std::size(rates); ++i) {
    if (rates[i] == rate && width >= 1 && width <= 32) amount.whole = (i + 1) << 8 | width;
  }
  amount.whole != 0 ? void(amount.status = Status::ok) : refuse(amount, no_sense);
}

void read_hexadecimal(FieldAmount& amount) {
  const std::string_view text = amount.text.view();
  const auto number =
      text.starts_with("0x") ? scan::parse_number(text.substr(2), 16) : std::nullopt;
  if (!number) return refuse(amount, no_sense);
  amount.whole = *number;
  amount.status = Status::ok;
}

// "THROTTLED" stands for any bit of the firmware, also that of the hotspot.
void read_throttle(FieldAmount& amount) {
  const std::string lower = lower_case(amount.text.view());
  if (lower == "throttled") {
    amount.status = Status::unsupported;
    amount.reason = Reason::ambiguous;
    amount.flaw = ": the firmware of RDNA 3 and 4 always has a reason for that, also when idle";
    return;
  }
  if (lower != "unthrottled") return refuse(amount, no_sense);
  amount.status = Status::ok;
}

// Missing values are 2^16 - 1 and 2^32 - 1 in the driver's tables.
void check_range(Form form, FieldAmount& amount) {
  const bool may_be_negative = form == Form::celsius;
  if (!(amount.number >= 0 || may_be_negative))
    return refuse(amount, ", below 0", Reason::implausible);
  if (form != Form::bytes && (amount.number == 65535 || amount.number == 4294967295.0)) {
    return refuse_filler(amount, ", a placeholder without a value");
  }
  if (form == Form::percent && amount.number > 100) {
    return refuse(amount, ", more than 100 %", Reason::implausible);
  }
  if (form == Form::joules && amount.number == 0) refuse_filler(amount, ": it does not count");
}

void convert(Form form, FieldAmount& amount, bool is_whole, const Scale& scale) {
  amount.number = scale.apply(amount.number);
  if (!(amount.number - amount.number == 0)) return refuse(amount, no_sense);  // NaN, infinite
  amount.status = Status::ok;
  check_range(form, amount);
  if (form != Form::bytes || !amount.has_value()) return;
  if (is_whole) {
    const auto bytes =
        scan::checked_multiply(amount.whole, static_cast<std::uint64_t>(scale.multiplier));
    bytes ? void(amount.whole = *bytes) : refuse(amount, too_large, Reason::implausible);
  } else if (amount.number < 9e18) {
    amount.whole = static_cast<std::uint64_t>(amount.number + 0.5);
    amount.is_rounded = true;
  } else {
    refuse(amount, too_large, Reason::implausible);
  }
}

void read_amount(Form form, FieldAmount& amount, std::string_view outer_unit) {
  const std::string_view text = strip_brackets(amount.text.view());
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, amount.number);
  if (result.ec != std::errc()) return refuse(amount, no_sense);
  const std::string_view digits =
      text.substr(0, static_cast<std::size_t>(result.ptr - text.data()));
  const auto whole = scan::parse_number(digits);
  amount.whole = whole.value_or(0);
  const std::string_view own_unit = scan::trim(text.substr(digits.size()));
  const Unit* const outer = find_unit(form, outer_unit);
  const Unit* const inner = own_unit.empty() ? outer : find_unit(form, own_unit);
  if (inner == nullptr) return refuse(amount, no_unit);
  if (!outer_unit.empty() && (outer == nullptr || outer->scale != inner->scale)) {
    return refuse(amount, no_unit);
  }
  convert(form, amount, whole.has_value(), inner->scale);
}

}  // namespace

bool is_missing_value(std::string_view text) noexcept {
  text = scan::trim(text);
  return text.empty() || text.starts_with("N/A") || text.starts_with("n/a") || text == "unknown" ||
         text == "None" || text == "null";
}

FieldAmount read_field_amount(Form form, const json::Value& value, std::string_view key_unit) {
  FieldAmount amount;
  const json::Value* content = &value;
  std::string own_unit;
  if (const auto* parts = value.get_if<json::Object>()) {
    if (const json::Value* inner = parts->find("value")) content = inner;
    if (const json::Value* name = parts->find("unit")) own_unit = read_text(*name);
  }
  amount.text.assign(scan::trim(read_text(*content)));
  if (is_missing_value(amount.text.view())) {
    amount.status = Status::unsupported;
    return amount;
  }
  amount.status = Status::ok;
  if (form == Form::hexadecimal) read_hexadecimal(amount);
  if (form == Form::link) read_link(amount);
  if (form == Form::throttle) read_throttle(amount);
  if (form >= Form::bytes) read_amount(form, amount, own_unit.empty() ? key_unit : own_unit);
  return amount;
}

}  // namespace hmn::amd_tool
