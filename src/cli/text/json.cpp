// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text/escape.hpp"

namespace hmn::cli {
namespace {

std::string quoted(std::string_view text) {
  std::string out(1, '"');
  out += escape_for_json(text);
  return out += '"';
}

}  // namespace

json_object& json_object::add_raw(std::string_view key, std::string_view value) {
  members_ += members_.empty() ? '{' : ',';
  members_.append(quoted(key)).append(":").append(value);
  return *this;
}

json_object& json_object::add(std::string_view key, std::string_view text) {
  return add_raw(key, quoted(text));
}

json_object& json_object::add(std::string_view key, bool value) {
  return add_raw(key, value ? "true" : "false");
}

json_object& json_object::add(std::string_view key, double number) {
  return add_raw(key, fmt::format("{}", number));
}

json_object& json_object::add(std::string_view key, const std::vector<std::string_view>& texts) {
  std::string list = "[";
  for (const auto each : texts) list.append(list.size() > 1 ? "," : "").append(quoted(each));
  return add_raw(key, list.append("]"));
}

json_object& json_object::add(std::string_view key, const std::vector<std::uint32_t>& numbers) {
  return add_raw(key, fmt::format("[{}]", fmt::join(numbers, ",")));
}

json_object& json_object::add(std::string_view key, const std::vector<json_object>& list) {
  std::string text = "[";
  for (const auto& each : list) text.append(text.size() > 1 ? "," : "").append(each.text());
  return add_raw(key, text.append("]"));
}

std::string json_document(const std::vector<json_object>& objects) {
  std::string out = "[";
  for (const auto& each : objects) out.append(out.size() > 1 ? "," : "").append(each.text());
  return out.append("]\n");
}

}  // namespace hmn::cli
