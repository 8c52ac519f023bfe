// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reader of JSON; and that what the writer writes is read back.
#include "model/json.hpp"

#include "fuzz.hpp"
#include "model/json_writer.hpp"

namespace json = hmn::json;

void fuzz(std::string_view input) {
  const auto parsed = json::parse(input);
  if (const auto* v = std::get_if<json::Value>(&parsed)) {
    const std::size_t values = json::count_values(*v);
    promise(values >= 1 && values <= json::Rules().most_values);
    promise(!json::show(*v).empty());
  } else {
    const auto& wrong = std::get<json::SyntaxError>(parsed);
    promise(wrong.line >= 1 && wrong.column >= 1 && !wrong.what.empty());
  }
  const auto write = [input](std::span<char> out) {
    json::Writer w(out);
    w.open('[');
    w.text(input);
    w.close(']');
    return w.size();
  };
  std::string text(write({}), '\0');
  promise(write(text) == text.size());
  const auto again = json::parse(text);
  const auto* list = std::get_if<json::Value>(&again);
  promise(list != nullptr && list->as<json::Array>()->items.size() == 1);
  promise(utf8(*list->as<json::Array>()->items[0].as<std::string>()) == utf8(input));
}
