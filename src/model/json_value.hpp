// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

 private:
  content content_;
};

bool equal(const value& a, const value& b);

struct extent {
  std::size_t values = 0;  // this value and all inside it
  std::size_t bytes = 0;   // of keys and texts
  std::size_t depth = 0;
};
extent measure(const value& v);

// Formats a text for a message, in quotes; a long one is cut.
std::string quoted(std::string_view text);

// Formats a value for a message: a short one as written, a long one cut, a list or an object as
// that word.
std::string show(const value& v);

}  // namespace hmn::json
