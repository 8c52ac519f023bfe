// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/information.hpp"

#include <algorithm>

#include "model/scan.hpp"

namespace hmn::nvml {
namespace {

// A GPU that was not initialised since boot has "GPU-????????-????-…".
std::string_view known_uuid(std::string_view uuid) noexcept {
  return uuid.starts_with("GPU-") && uuid.find('?') == uuid.npos ? uuid : std::string_view();
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

// "550.163.01", not "x86_64" or a date.
bool is_version(std::string_view word) noexcept {
  const bool allowed = std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
  return allowed && word.find('.') != word.npos && is_digit(word.front()) && is_digit(word.back());
}

}  // namespace

gpu_information parse_information(std::string_view text) noexcept {
  gpu_information found;
  while (!text.empty()) {
    std::string_view value = scan::take_line(text);
    const std::string_view key = scan::trim(scan::take_until(value, ':'));
    value = scan::trim(value);
    if (key == "Model" && value != "Unknown") found.model = value;
    if (key == "GPU UUID") found.uuid = known_uuid(value);
  }
  return found;
}

std::string_view parse_driver_version(std::string_view text) noexcept {
  std::string_view line = scan::take_line(text);
  if (!line.starts_with("NVRM version:")) return {};
  for (std::string_view word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
    if (is_version(word)) return word;
  }
  return {};
}

}  // namespace hmn::nvml
