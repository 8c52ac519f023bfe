// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/json_value.hpp"

#include <algorithm>
#include <cstring>

#include "model/compose.hpp"
#include "model/text.hpp"

namespace hmn::json {
namespace {

constexpr std::size_t longest_shown = 48;

bool equal_objects(const object& a, const object& b) {
  if (a.keys.size() != b.keys.size()) return false;
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    const value* other = b.find(a.keys[i]);
    if (other == nullptr || !equal(a.values[i], *other)) return false;
  }
  return true;
}

bool equal_arrays(const array& a, const array& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
}

double nearest(const value& v) {
  if (const auto* whole = v.as<std::uint64_t>()) return static_cast<double>(*whole);
  return v.as<number>()->nearest;
}

bool is_number(const value& v) {
  return v.as<std::uint64_t>() != nullptr || v.as<number>() != nullptr;
}

extent measure_all(const std::vector<value>& items) {
  extent all{1, 0, 1};
  for (const value& item : items) {
    const extent one = measure(item);
    all.values += one.values;
    all.bytes += one.bytes;
    all.depth = std::max(all.depth, one.depth + 1);
  }
  return all;
}

}  // namespace

value::value() noexcept = default;
value::value(content c) noexcept : content_(std::move(c)) {}
value::value(const value& other) = default;
value::value(value&& other) noexcept = default;
value& value::operator=(const value& other) {
  return *this = value(other);
}
value& value::operator=(value&& other) noexcept = default;
value::~value() = default;

value* object::find(std::string_view key) noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string& k = keys[i];
    if (k.size() == key.size() && std::memcmp(k.data(), key.data(), key.size()) == 0) {
      return &values[i];
    }
  }
  return nullptr;
}

const value* object::find(std::string_view key) const noexcept {
  return const_cast<object*>(this)->find(key);
}

void object::set(std::string_view key, value v) {
  if (value* present = find(key)) {
    *present = std::move(v);
    return;
  }
  keys.emplace_back(key);
  values.push_back(std::move(v));
}

void object::erase(std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  if (at == keys.end()) return;
  values.erase(values.begin() + (at - keys.begin()));
  keys.erase(at);
}

bool equal(const value& a, const value& b) {
  if (is_number(a) && is_number(b)) {
    const auto* left = a.as<std::uint64_t>();
    const auto* right = b.as<std::uint64_t>();
    return left != nullptr && right != nullptr ? *left == *right : nearest(a) == nearest(b);
  }
  if (const auto* left = a.as<object>()) {
    const auto* right = b.as<object>();
    return right != nullptr && equal_objects(*left, *right);
  }
  if (const auto* left = a.as<array>()) {
    const auto* right = b.as<array>();
    return right != nullptr && equal_arrays(*left, *right);
  }
  if (const auto* left = a.as<std::string>()) {
    const auto* right = b.as<std::string>();
    return right != nullptr && *left == *right;
  }
  if (const auto* left = a.as<bool>()) {
    const auto* right = b.as<bool>();
    return right != nullptr && *left == *right;
  }
  return a.is_null() && b.is_null();
}

extent measure(const value& v) {
  if (const auto* list = v.as<array>()) return measure_all(list->items);
  if (const auto* members = v.as<object>()) {
    extent all = measure_all(members->values);
    for (const std::string& key : members->keys) all.bytes += key.size();
    return all;
  }
  if (const auto* text = v.as<std::string>()) return {1, text->size(), 1};
  return {1, 0, 1};
}

std::string quoted(std::string_view text) {
  const std::size_t cut = std::min(text.size(), longest_shown);
  std::string shown = "\"";
  for (const char c : text.substr(0, cut)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  std::string valid;
  append_utf8(valid, shown);
  return valid + (cut < text.size() ? "…\"" : "\"");
}

std::string show(const value& v) {
  if (v.is_null()) return "null";
  if (const auto* truth = v.as<bool>()) return *truth ? "true" : "false";
  if (const auto* whole = v.as<std::uint64_t>()) return compose({*whole});
  if (const auto* other = v.as<number>()) return other->text.substr(0, longest_shown);
  if (const auto* text = v.as<std::string>()) return quoted(*text);
  return v.as<array>() != nullptr ? "a list" : "an object";
}

}  // namespace hmn::json
