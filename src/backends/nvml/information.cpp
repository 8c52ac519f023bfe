// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/information.hpp"

#include <algorithm>

namespace hmn::nvml {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string_view take_line(std::string_view& text) noexcept {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// A GPU that was not initialised since boot has "GPU-????????-????-…".
std::string_view known_uuid(std::string_view uuid) noexcept {
  return uuid.starts_with("GPU-") && uuid.find('?') == uuid.npos ? uuid : std::string_view();
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// "550.163.01", not "x86_64" or a date.
bool is_version(std::string_view word) noexcept {
  const bool allowed =
      std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; });
  return allowed && word.find('.') != word.npos && is_digit(word.front()) && is_digit(word.back());
}

}  // namespace

gpu_information parse_information(std::string_view text) noexcept {
  gpu_information found;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "Model" && value != "Unknown") found.model = value;
    if (key == "GPU UUID") found.uuid = known_uuid(value);
  }
  return found;
}

std::string_view parse_driver_version(std::string_view text) noexcept {
  std::string_view line = take_line(text);
  if (!line.starts_with("NVRM version:")) return {};
  while (!line.empty()) {
    line = trimmed(line);
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    if (!word.empty() && is_version(word)) return word;
    line.remove_prefix(word.size());
  }
  return {};
}

}  // namespace hmn::nvml
