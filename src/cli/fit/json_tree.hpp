// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli::fit {

// Value in a JSON document.
class json_tree {
 public:
  using member = std::pair<std::string, json_tree>;
  using list = std::vector<json_tree>;
  using object = std::vector<member>;  // in the order of the file

  json_tree() = default;
  template <class T>
  explicit json_tree(T value) : held_(std::move(value)) {}

  // Finds the last member of that name, like Python's parser; returns none for null.
  const json_tree* find(std::string_view name) const;
  std::optional<std::uint64_t> whole() const;
  std::optional<double> number() const;
  std::optional<bool> truth() const;
  const std::string* text() const { return std::get_if<std::string>(&held_); }
  const list* items() const { return std::get_if<list>(&held_); }
  const object* members() const { return std::get_if<object>(&held_); }
  list* items() { return std::get_if<list>(&held_); }
  object* members() { return std::get_if<object>(&held_); }
  bool is_null() const { return std::holds_alternative<std::monostate>(held_); }
  // Formats as JSON for a message, shortened if long.
  std::string shown() const;

 private:
  std::variant<std::monostate, bool, std::uint64_t, double, std::string, list, object> held_;
};

struct json_limits {
  std::size_t values = 2'000'000;
  std::size_t depth = 32;
};

// Parses Python's NaN and Infinity as null.
expected<json_tree> parse_json(std::string text, const json_limits& limits = {});

}  // namespace hmn::cli::fit
