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

class Value;

// Number other than an integer from 0 to 2^64-1, with its original text.
struct Number {
  double nearest = 0;
  std::string text;
};

struct Array {
  std::vector<Value> items;
};

// Members in the order of the file.
struct Object {
  std::vector<std::string> keys;
  std::vector<Value> values;

  // Of repeated keys, the last one counts.
  [[nodiscard]] Value* find(std::string_view key) noexcept;
  [[nodiscard]] const Value* find(std::string_view key) const noexcept;
  void set(std::string_view key, Value value);
  void erase(std::string_view key);
};

class Value {
 public:
  using Content =
      std::variant<std::monostate, bool, std::uint64_t, Number, std::string, Array, Object>;

  Value() noexcept;
  explicit Value(Content c) noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  template <class T>
  [[nodiscard]] T* get_if() noexcept {
    return std::get_if<T>(&content_);
  }
  template <class T>
  [[nodiscard]] const T* get_if() const noexcept {
    return std::get_if<T>(&content_);
  }
  // Replaces the content by an empty one of this type. std::variant's own way can throw.
  template <class T>
  T& emplace() noexcept {
    std::destroy_at(&content_);
    return *std::get_if<T>(std::construct_at(&content_, std::in_place_type<T>));
  }
  [[nodiscard]] bool is_null() const noexcept { return get_if<std::monostate>() != nullptr; }

  // Return nothing for a value of another kind.
  [[nodiscard]] std::optional<std::uint64_t> integer() const noexcept;
  [[nodiscard]] std::optional<double> real() const noexcept;
  [[nodiscard]] std::optional<bool> boolean() const noexcept;
  [[nodiscard]] const std::string* text() const noexcept { return get_if<std::string>(); }
  [[nodiscard]] const std::vector<Value>* items() const noexcept;
  [[nodiscard]] const Object* members() const noexcept { return get_if<Object>(); }
  // Returns the member of an object; null counts as absent.
  [[nodiscard]] const Value* find(std::string_view key) const noexcept;

 private:
  Content content_;
};

// Counts the value and all inside it.
std::size_t count_values(const Value& value) noexcept;

// Formats a text for a message, in quotes; a long one is cut.
std::string quote(std::string_view text);

// Formats a value for a message: a short one as written, a long one cut, a list or an object as
// that word.
std::string summarize(const Value& value);

// What a parser accepts: the default is strict, the output of other programs needs leniency.
struct ParseOptions {
  std::size_t max_values = 1'000'000;
  std::size_t max_depth = 64;  // levels
  // Accepts what Python and other programs write: repeated keys, NaN and Infinity, and numbers that
  // no double holds; these have NaN as their nearest double.
  bool is_lenient = false;
};

struct SyntaxError {
  std::size_t line = 1;
  std::size_t column = 1;  // in bytes
  std::string message;
  std::string key;  // the last key before it, as written; empty: none
};

// Parses a document of RFC 8259, with or without a byte order mark. Stricter rules: no duplicate
// keys in an object, no number that a double cannot hold.
std::variant<Value, SyntaxError> parse(std::string_view text, const ParseOptions& options = {});

// Parses the value at the start of `text`, which is UTF-8, by lenient rules. Stores the number of
// bytes used in `length`.
std::variant<Value, SyntaxError> parse_front(std::string_view text, std::size_t& length);

}  // namespace hmn::json
