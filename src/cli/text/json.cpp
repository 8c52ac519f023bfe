// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/json.hpp"

#include <utility>
#include <variant>

#include "cli/text/unicode.hpp"
#include "model/text.hpp"

namespace hmn::cli {

Expected<json::Value> parse_json(std::string_view text, std::size_t most_values,
                                 std::size_t deepest) {
  auto parsed = json::parse(text, {most_values, deepest, true});
  if (auto* document = std::get_if<json::Value>(&parsed)) return std::move(*document);
  const auto& e = *std::get_if<json::SyntaxError>(&parsed);
  return failed(fmt::format("no JSON at line {}, byte {}: {}", e.line, e.column, e.what));
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out += '"';
}

namespace {

std::string plain_text(const json::Value& v) {
  if (v.is_null()) return {};
  if (const auto* text = v.text()) return escape_for_text(*text);
  std::string out;
  if (const auto* items = v.items()) {
    for (const auto& each : *items) out += (out.empty() ? "" : " ") + plain_text(each);
    return out;
  }
  json::Writer(out).value(v);
  return out;
}

}  // namespace

std::string csv_document(const JsonObject& like, const std::vector<JsonObject>& objects) {
  std::string out;
  const auto add = [&out](const JsonObject& of, bool keys_only) {
    const auto parsed = parse_json(of.text());
    const auto* const members = parsed ? parsed->members() : nullptr;
    for (std::size_t i = 0; members != nullptr && i < members->keys.size(); ++i)
      out.append(i == 0 ? "" : ",")
          .append(csv_cell(keys_only ? members->keys[i] : plain_text(members->values[i])));
    out += '\n';
  };
  add(like, true);
  for (const auto& each : objects) add(each, false);
  return out;
}

std::string shown(const json::Value& v) {
  constexpr std::size_t longest = 60;
  std::string text;
  json::Writer(text).value(v);
  if (text.size() <= longest) return text;
  text.resize(longest);
  return text.substr(0, utf8_length(text)) + "...";
}

}  // namespace hmn::cli
