// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/cell.hpp"

#include <charconv>

#include "model/scan.hpp"

namespace hmn::nvidia_smi {
namespace {

struct spelling {
  std::string_view text;  // lower case
  status means;
};

constexpr spelling known_spellings[] = {
    {"n/a", status::unsupported},
    {"not supported", status::unsupported},
    {"not available", status::unsupported},
    {"not found", status::unsupported},
    {"requested functionality has been deprecated", status::unsupported},
    {"function not found", status::unsupported},
    {"no data", status::empty},
    {"insufficient permissions", status::permission},
    {"insufficient permission", status::permission},
    {"no permission", status::permission},
    {"gpu is lost", status::device_lost},
    {"gpu requires reset", status::backend},
    {"unknown error", status::backend},
    {"error", status::backend},
    {"err!", status::backend},
    {"timeout", status::timeout},
};

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_spelt(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct amount {
  std::string_view number;
  std::string_view unit;
};

// Splits "8192 MiB", "8192"; a unit that contradicts the header leaves no number.
amount split(std::string_view cell, std::string_view header_unit) {
  const std::string_view number = scan::take_word(cell);
  const std::string_view unit = scan::trim(cell);
  if (unit.empty()) return {number, header_unit};
  if (!header_unit.empty() && unit != header_unit) return {{}, unit};
  return {number, unit};
}

std::optional<std::uint64_t> factor_of(std::string_view unit) {
  if (unit == "B") return 1;
  if (unit == "KiB") return 1ULL << 10;
  if (unit == "MiB") return 1ULL << 20;
  if (unit == "GiB") return 1ULL << 30;
  return std::nullopt;
}

// Rejects "inf", "nan", "-1" and "1e9", which from_chars alone would accept.
std::optional<double> decimal(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result r =
      std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (r.ec != std::errc() || r.ptr != end) return std::nullopt;
  return value;
}

// Drops what was read of a cell that has no value.
template <class T>
measured<T> known(std::string_view cell, std::optional<T> value) {
  const status s = status_of_cell(cell);
  if (s != status::ok) return {std::nullopt, s};
  return {value, value ? status::ok : status::backend};
}

}  // namespace

status status_of_cell(std::string_view cell) noexcept {
  cell = scan::trim(cell);
  if (cell.empty()) return status::empty;
  const bool bracketed = cell.size() >= 2 && cell.front() == '[' && cell.back() == ']';
  const std::string_view inside = bracketed ? cell.substr(1, cell.size() - 2) : cell;
  for (const spelling& s : known_spellings) {
    if (is_spelt(inside, s.text)) return s.means;
  }
  return bracketed ? status::backend : status::ok;
}

measured<std::uint64_t> bytes_of(std::string_view cell, std::string_view header_unit) noexcept {
  const amount a = split(cell, header_unit);
  const auto factor = factor_of(a.unit);
  const auto count = scan::number(a.number);
  return known(cell, factor && count ? scan::product(*count, *factor) : std::nullopt);
}

measured<double> number_of(std::string_view cell, std::string_view header_unit,
                           std::string_view expected_unit) noexcept {
  const amount a = split(cell, header_unit);
  return known(cell, a.unit == expected_unit ? decimal(a.number) : std::nullopt);
}

measured<std::uint32_t> count_of(std::string_view cell, std::string_view header_unit,
                                 std::string_view expected_unit) noexcept {
  const amount a = split(cell, header_unit);
  return known(cell,
               a.unit == expected_unit ? scan::number<std::uint32_t>(a.number) : std::nullopt);
}

measured<std::uint64_t> hexadecimal_of(std::string_view cell) noexcept {
  const std::string_view text = scan::trim(cell);
  const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
  return known(cell, has_prefix ? scan::number(text.substr(2), 16) : std::nullopt);
}

measured<std::uint32_t> p_state_of(std::string_view cell) noexcept {
  const std::string_view text = scan::trim(cell);
  auto state = text.starts_with('P') ? scan::number<std::uint32_t>(text.substr(1)) : std::nullopt;
  if (state > 15U) state.reset();
  return known(cell, state);
}

}  // namespace hmn::nvidia_smi
