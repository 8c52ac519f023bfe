// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/json.hpp"

#include <utility>
#include <variant>

#include "model/text.hpp"

namespace hmn::cli {

expected<json::value> parse_json(std::string_view text, std::size_t most_values,
                                 std::size_t deepest) {
  auto parsed = json::parse(text, {most_values, deepest, true});
  if (auto* document = std::get_if<json::value>(&parsed)) return std::move(*document);
  const auto& e = *std::get_if<json::syntax_error>(&parsed);
  return failed(fmt::format("no JSON at line {}, byte {}: {}", e.line, e.column, e.what));
}

std::string shown(const json::value& v) {
  constexpr std::size_t longest = 60;
  std::string text;
  json::writer(text).value(v);
  if (text.size() <= longest) return text;
  text.resize(longest);
  return text.substr(0, utf8_length(text)) + "...";
}

}  // namespace hmn::cli
