// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reader of JSON; and that what the writer writes is read back.
#include "model/json_parse.hpp"

#include "core/json_writer.hpp"
#include "fuzz.hpp"

namespace json = hmn::json;

void fuzz(std::string_view input) {
  const auto parsed = json::parse(input);
  if (const auto* v = std::get_if<json::value>(&parsed)) {
    const json::extent e = json::measure(*v);
    promise(e.values >= 1 && e.values <= json::most_values && e.depth <= json::deepest);
    promise(json::equal(*v, *v));
    promise(!json::show(*v).empty());
  } else {
    const auto& wrong = std::get<json::syntax_error>(parsed);
    promise(wrong.line >= 1 && wrong.column >= 1 && !wrong.what.empty());
  }
  const auto write = [input](std::span<char> out) {
    hmn::json_writer w(out);
    w.open('[');
    w.text(input);
    w.close(']');
    return w.size();
  };
  std::string text(write({}), '\0');
  promise(write(text) == text.size());
  const auto again = json::parse(text);
  const auto* list = std::get_if<json::value>(&again);
  promise(list != nullptr && list->as<json::array>()->items.size() == 1);
  promise(*list->as<json::array>()->items[0].as<std::string>() == utf8(input));
}
