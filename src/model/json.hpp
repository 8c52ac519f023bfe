// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values of JSON documents, and their parser. Numbers are exact up to 2^64-1, keys keep their
// order, and no locale matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hmn::json {

class value;

// Number other than an integer from 0 to 2^64-1, with its original text.
struct number {
  double nearest = 0;
  std::string text;
};

struct array {
  std::vector<value> items;
};

// Members in the order of the file.
struct object {
  std::vector<std::string> keys;
  std::vector<value> values;

  // Of repeated keys, the last one counts.
  [[nodiscard]] value* find(std::string_view key) noexcept;
  [[nodiscard]] const value* find(std::string_view key) const noexcept;
  void set(std::string_view key, value v);
  void erase(std::string_view key);
};

class value {
 public:
  using content =
      std::variant<std::monostate, bool, std::uint64_t, number, std::string, array, object>;

  value() noexcept;
  explicit value(content c) noexcept;
  value(const value& other);
  value(value&& other) noexcept;
  value& operator=(const value& other);
  value& operator=(value&& other) noexcept;
  ~value();

  template <class T>
  [[nodiscard]] T* as() noexcept {
    return std::get_if<T>(&content_);
  }
  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&content_);
  }
  // Replaces the content by an empty one of this type. std::variant's own way can throw.
  template <class T>
  T& become() noexcept {
    std::destroy_at(&content_);
    return *std::get_if<T>(std::construct_at(&content_, std::in_place_type<T>));
  }
  [[nodiscard]] bool is_null() const noexcept { return as<std::monostate>() != nullptr; }

  // Return nothing for a value of another kind.
  [[nodiscard]] std::optional<std::uint64_t> whole() const noexcept;
  [[nodiscard]] std::optional<double> real() const noexcept;
  [[nodiscard]] std::optional<bool> truth() const noexcept;
  [[nodiscard]] const std::string* text() const noexcept { return as<std::string>(); }
  [[nodiscard]] const std::vector<value>* items() const noexcept;
  [[nodiscard]] const object* members() const noexcept { return as<object>(); }
  // Returns the member of an object; null counts as absent.
  [[nodiscard]] const value* find(std::string_view key) const noexcept;

 private:
  content content_;
};

// Counts the value and all inside it.
std::size_t count_values(const value& v) noexcept;

// Formats a text for a message, in quotes; a long one is cut.
std::string quoted(std::string_view text);

// Formats a value for a message: a short one as written, a long one cut, a list or an object as
// that word.
std::string show(const value& v);

// What a parser accepts: the default is strict, the output of other programs needs leniency.
struct rules {
  std::size_t most_values = 1'000'000;
  std::size_t deepest = 64;  // levels
  // Accepts what Python and other programs write: repeated keys, NaN and Infinity, and numbers that
  // no double holds; these have NaN as their nearest double.
  bool is_lenient = false;
};

struct syntax_error {
  std::size_t line = 1;
  std::size_t column = 1;  // in bytes
  std::string what;
  std::string key;  // the last key before it, as written; empty: none
};

// Parses a document of RFC 8259, with or without a byte order mark. Stricter rules: no duplicate
// keys in an object, no number that a double cannot hold.
std::variant<value, syntax_error> parse(std::string_view text, const rules& by = {});

// Parses the value at the start of `text`, which is UTF-8, by lenient rules. Stores in `length` the
// number of bytes used.
std::variant<value, syntax_error> parse_front(std::string_view text, std::size_t& length);

}  // namespace hmn::json
