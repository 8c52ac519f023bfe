// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reader of JSON, and reading back what the writer writes.
#include "model/json.hpp"

#include "fuzz.hpp"
#include "model/json_writer.hpp"

namespace json = hmn::json;

void fuzz(std::string_view input) {
  const auto parsed = json::parse(input);
  if (const auto* value = std::get_if<json::Value>(&parsed)) {
    const std::size_t values = json::count_values(*value);
    promise(values >= 1 && values <= json::ParseOptions().max_values);
    promise(!json::summarize(*value).empty());
  } else {
    const auto& error = std::get<json::SyntaxError>(parsed);
    promise(error.line >= 1 && error.column >= 1 && !error.message.empty());
  }
  const auto write = [input](std::span<char> out) {
    json::Writer writer(out);
    writer.open('[');
    writer.text(input);
    writer.close(']');
    return writer.size();
  };
  std::string text(write({}), '\0');
  promise(write(text) == text.size());
  const auto again = json::parse(text);
  const auto* list = std::get_if<json::Value>(&again);
  promise(list != nullptr && list->get_if<json::Array>()->items.size() == 1);
  promise(utf8(*list->get_if<json::Array>()->items[0].get_if<std::string>()) == utf8(input));
}
