// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/json.hpp"

#include <utility>
#include <variant>

#include "cli/text/unicode.hpp"
#include "model/text.hpp"

namespace hmn::cli {

Expected<json::Value> parse_json(std::string_view text, std::size_t max_values,
                                 std::size_t max_depth) {
  auto result = json::parse(text, {max_values, max_depth, true});
  if (auto* document = std::get_if<json::Value>(&result)) return std::move(*document);
  const auto& error = *std::get_if<json::SyntaxError>(&result);
  return make_failure(
      fmt::format("no JSON at line {}, byte {}: {}", error.line, error.column, error.message));
}

std::string format_csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out += '"';
}

namespace {

std::string format_plain_text(const json::Value& value) {
  if (value.is_null()) return {};
  if (const auto* text = value.text()) return escape_for_text(*text);
  std::string out;
  if (const auto* items = value.items()) {
    for (const auto& item : *items) out += (out.empty() ? "" : " ") + format_plain_text(item);
    return out;
  }
  json::Writer(out).value(value);
  return out;
}

}  // namespace

std::string format_csv(const JsonObject& sample, const std::vector<JsonObject>& objects) {
  std::string out;
  const auto append_line = [&out](const JsonObject& object, bool keys_only) {
    const auto document = parse_json(object.text());
    const auto* const members = document ? document->members() : nullptr;
    for (std::size_t i = 0; members != nullptr && i < members->keys.size(); ++i)
      out.append(i == 0 ? "" : ",")
          .append(format_csv_cell(keys_only ? members->keys[i]
                                            : format_plain_text(members->values[i])));
    out += '\n';
  };
  append_line(sample, true);
  for (const auto& object : objects) append_line(object, false);
  return out;
}

std::string abbreviate(const json::Value& value) {
  constexpr std::size_t max_length = 60;
  std::string text;
  json::Writer(text).value(value);
  if (text.size() <= max_length) return text;
  text.resize(max_length);
  return text.substr(0, utf8_length(text)) + "...";
}

}  // namespace hmn::cli
