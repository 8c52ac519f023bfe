// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reader.hpp"

#include <fnmatch.h>

#include <charconv>
#include <limits>

namespace fake_nvml {
namespace {

unsigned long long parse_unit(std::string_view suffix, const std::string& location) {
  if (suffix.empty() || suffix == " B") return 1;
  if (suffix == " KiB") return 1ULL << 10;
  if (suffix == " MiB") return 1ULL << 20;
  if (suffix == " GiB") return 1ULL << 30;
  refuse(location, "unknown unit \"" + std::string(suffix) + "\"");
}

unsigned long long parse_number_text(std::string_view text, const std::string& location) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  unsigned long long value = 0;
  const auto end = text.data() + text.size();
  const auto [suffix, error] = std::from_chars(text.data(), end, value, is_hex ? 16 : 10);
  if (error != std::errc{}) refuse(location, "not a number");
  return value * parse_unit({suffix, static_cast<std::size_t>(end - suffix)}, location);
}

}  // namespace

unsigned long long parse_number(const json& value, const std::string& location) {
  if (value.is_number_unsigned()) return value.get<unsigned long long>();
  if (value.is_string()) return parse_number_text(value.get_ref<const std::string&>(), location);
  refuse(location, "not a number, \"0x…\" or \"N MiB\"");
}

unsigned parse_unsigned(const json& value, const std::string& location) {
  const auto number = parse_number(value, location);
  if (number > std::numeric_limits<unsigned>::max()) refuse(location, "wider than 32 bits");
  return static_cast<unsigned>(number);
}

Status parse_status(const json& value, const std::string& location) {
  if (value.is_number_integer()) return static_cast<Status>(value.get<int>());
  if (value.is_string())
    if (const auto code = find_status(value.get_ref<const std::string&>())) return *code;
  refuse(location, "not a return code");
}

std::vector<Call> parse_calls(const json& value, const std::string& location) {
  const auto pattern = parse_text(value, location);
  std::vector<Call> functions;
  for (unsigned i = 0; i < call_count; ++i) {
    const auto function = static_cast<Call>(i);
    if (fnmatch(pattern.c_str(), function_name(function).data(), 0) == 0)
      functions.push_back(function);
  }
  if (functions.empty()) refuse(location, "no symbol is called " + pattern);
  return functions;
}

std::optional<Status> parse_error(const json& value, const std::string& location) {
  if (value.is_null()) return error_not_supported;
  if (!value.is_object() || value.size() != 1 || !value.contains("error")) return std::nullopt;
  return parse_status(value["error"], location + ".error");
}

}  // namespace fake_nvml
