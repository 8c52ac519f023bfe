// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

// JSON object on one line, without blanks, with members in the order of addition.
class json_object {
 public:
  json_object& add(std::string_view key, std::string_view text);
  json_object& add(std::string_view key, const char* text) {
    return add(key, std::string_view(text));
  }
  json_object& add(std::string_view key, bool value);
  json_object& add(std::string_view key, std::unsigned_integral auto number) {
    return add_raw(key, std::to_string(std::uint64_t{number}));
  }
  json_object& add(std::string_view key, std::signed_integral auto number) {
    return add_raw(key, std::to_string(std::int64_t{number}));
  }
  json_object& add(std::string_view key, double number);
  json_object& add(std::string_view key, const std::vector<std::string_view>& texts);
  json_object& add(std::string_view key, const std::vector<std::uint32_t>& numbers);
  json_object& add(std::string_view key, const json_object& inner) {
    return add_raw(key, inner.text());
  }
  json_object& add(std::string_view key, const std::vector<json_object>& list);
  // Adds a number formatted by digits_of.
  json_object& add_digits(std::string_view key, const std::string& digits) {
    return add_raw(key, digits.empty() ? "null" : digits);
  }
  json_object& add_null(std::string_view key) { return add_raw(key, "null"); }
  template <class T>
  json_object& add(std::string_view key, const std::optional<T>& value) {
    return value ? add(key, *value) : add_null(key);
  }
  std::string text() const { return members_.empty() ? "{}" : members_ + "}"; }

 private:
  json_object& add_raw(std::string_view key, std::string_view value);
  std::string members_;
};

// Returns none for an unknown value.
template <class T>
std::string digits_of(const std::optional<T>& number) {
  return number ? fmt::to_string(*number) : std::string();
}

// Returns "[…]\n".
std::string json_document(const std::vector<json_object>& objects);

}  // namespace hmn::cli
