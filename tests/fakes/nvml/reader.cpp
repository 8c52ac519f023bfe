// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reader.hpp"

#include <fnmatch.h>

#include <charconv>
#include <limits>

namespace fake_nvml {
namespace {

unsigned long long unit_of(std::string_view suffix, const std::string& place) {
  if (suffix.empty() || suffix == " B") return 1;
  if (suffix == " KiB") return 1ULL << 10;
  if (suffix == " MiB") return 1ULL << 20;
  if (suffix == " GiB") return 1ULL << 30;
  refuse(place, "unknown unit \"" + std::string(suffix) + "\"");
}

unsigned long long number_in(std::string_view text, const std::string& place) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  unsigned long long value = 0;
  const auto end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  if (error != std::errc{}) refuse(place, "not a number");
  return value * unit_of({rest, static_cast<std::size_t>(end - rest)}, place);
}

}  // namespace

unsigned long long number_from(const json& value, const std::string& place) {
  if (value.is_number_unsigned()) return value.get<unsigned long long>();
  if (value.is_string()) return number_in(value.get_ref<const std::string&>(), place);
  refuse(place, "not a number, \"0x…\" or \"N MiB\"");
}

unsigned small_from(const json& value, const std::string& place) {
  const auto number = number_from(value, place);
  if (number > std::numeric_limits<unsigned>::max()) refuse(place, "wider than 32 bits");
  return static_cast<unsigned>(number);
}

Status status_from(const json& value, const std::string& place) {
  if (value.is_number_integer()) return static_cast<Status>(value.get<int>());
  if (value.is_string())
    if (const auto code = status_named(value.get_ref<const std::string&>())) return *code;
  refuse(place, "not a return code");
}

std::vector<Call> calls_from(const json& value, const std::string& place) {
  const auto pattern = text_from(value, place);
  std::vector<Call> found;
  for (unsigned i = 0; i < call_count; ++i) {
    const auto c = static_cast<Call>(i);
    if (fnmatch(pattern.c_str(), name_of(c).data(), 0) == 0) found.push_back(c);
  }
  if (found.empty()) refuse(place, "no symbol is called " + pattern);
  return found;
}

std::optional<Status> error_in(const json& value, const std::string& place) {
  if (value.is_null()) return error_not_supported;
  if (!value.is_object() || value.size() != 1 || !value.contains("error")) return std::nullopt;
  return status_from(value["error"], place + ".error");
}

}  // namespace fake_nvml
