// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "model/json.hpp"
#include "model/json_writer.hpp"

namespace hmn::cli {

// Parses what Python writes: repeated keys, NaN and Infinity.
Expected<json::Value> parse_json(std::string_view text, std::size_t max_values = 2'000'000,
                                 std::size_t max_depth = 32);

// Formats a value for a message, shortened if long.
std::string abbreviate(const json::Value& value);

// JSON object on one line, without blanks, with members in the order of addition.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view text) {
    return put(key, [text](json::Writer& writer) { writer.text(text); });
  }
  JsonObject& add(std::string_view key, const char* text) {
    return add(key, std::string_view(text));
  }
  JsonObject& add(std::string_view key, bool value) {
    return put(key, [value](json::Writer& writer) { writer.boolean(value); });
  }
  JsonObject& add(std::string_view key, std::integral auto number) {
    return add_raw(key, std::to_string(number));
  }
  JsonObject& add(std::string_view key, double number) {
    return add_raw(key, fmt::to_string(number));
  }
  JsonObject& add(std::string_view key, const std::vector<std::string_view>& texts) {
    return add_list(key, texts,
                    [](json::Writer& writer, std::string_view text) { writer.text(text); });
  }
  JsonObject& add(std::string_view key, const std::vector<std::uint32_t>& numbers) {
    return add_list(key, numbers,
                    [](json::Writer& writer, std::uint32_t n) { writer.number(std::uint64_t{n}); });
  }
  JsonObject& add(std::string_view key, const JsonObject& inner) {
    return add_raw(key, inner.text());
  }
  JsonObject& add(std::string_view key, const std::vector<JsonObject>& list) {
    return add_list(key, list,
                    [](json::Writer& writer, const JsonObject& o) { writer.digits(o.text()); });
  }
  // Adds a number formatted by format_digits.
  JsonObject& add_raw(std::string_view key, std::string_view digits) {
    return put(key,
               [digits](json::Writer& writer) { writer.digits(digits.empty() ? "null" : digits); });
  }
  JsonObject& add_null(std::string_view key) { return add_raw(key, ""); }
  template <class T>
  JsonObject& add(std::string_view key, const std::optional<T>& value) {
    return value ? add(key, *value) : add_null(key);
  }
  std::string text() const { return members_.empty() ? "{}" : members_ + "}"; }

 private:
  template <class Put>
  JsonObject& put(std::string_view key, Put write_value) {
    members_ += members_.empty() ? '{' : ',';
    json::Writer writer(members_);
    writer.key(key);
    write_value(writer);
    return *this;
  }
  template <class List, class Write>
  JsonObject& add_list(std::string_view key, const List& list, Write write_item) {
    return put(key, [&](json::Writer& writer) {
      writer.open('[');
      for (const auto& item : list) write_item(writer, item);
      writer.close(']');
    });
  }
  std::string members_;
};

// Returns an empty text for an unknown value.
template <class T>
std::string format_digits(const std::optional<T>& number) {
  return number ? fmt::to_string(*number) : std::string();
}

// Quotes where necessary, after RFC 4180.
std::string format_csv_cell(std::string_view text);
// Formats a line with the keys of `sample`, which all objects have, and a line of values for each
// object; items of a list are separated by blanks, and an unknown value is empty.
std::string format_csv(const JsonObject& sample, const std::vector<JsonObject>& objects);

// Returns "[…]\n".
inline std::string format_json_array(const std::vector<JsonObject>& objects) {
  std::string out;
  json::Writer writer(out);
  writer.open('[');
  for (const auto& object : objects) writer.digits(object.text());
  writer.close(']');
  return out += '\n';
}

}  // namespace hmn::cli
