// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/json_patch.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "backends/simulated/json_pointer.hpp"
#include "model/json.hpp"

namespace hmn::json {
namespace {

constexpr std::size_t most_values = 1'000'000;
constexpr std::size_t most_bytes = 16 * 1024 * 1024;
constexpr std::size_t deepest = 64;

struct extent {
  std::size_t values = 0;  // this value and all inside it
  std::size_t bytes = 0;   // of keys and texts
  std::size_t depth = 0;
};

extent measure(const value& v);

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

bool equal(const value& a, const value& b);

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

using tokens = std::vector<std::string>;
using outcome = std::optional<patch_error>;

struct operation {
  std::string name;
  tokens path;
  tokens from;
  const value* argument = nullptr;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

outcome no_such(const char* member, const tokens& path) {
  std::string pointer;
  for (const std::string& token : path) append_token(pointer, token);
  return patch_error{member, "there is nothing at \"" + pointer + "\""};
}

outcome read_pointer(const object& members, const char* key, tokens& out) {
  const std::string member = std::string("/") + key;
  const value* v = members.find(key);
  if (v == nullptr) return patch_error{"", std::string("\"") + key + "\" is missing"};
  const auto* text = v->as<std::string>();
  std::optional<tokens> read = text != nullptr ? tokens_of(*text) : std::nullopt;
  if (!read) return patch_error{member, show(*v) + " is not a JSON pointer such as \"/devices/0\""};
  out = std::move(*read);
  return {};
}

outcome refuse_unknown(const object& members, const operation& o) {
  for (const std::string& key : members.keys) {
    const bool known = is_one_of(key, {"op", "path", "comment"}) ||
                       (key == "value" && is_one_of(o.name, {"add", "replace", "test"})) ||
                       (key == "from" && is_one_of(o.name, {"move", "copy"}));
    if (!known) return patch_error{"", "\"" + key + "\" has no meaning for \"" + o.name + "\""};
  }
  return {};
}

outcome read_operation(const value& v, operation& o) {
  const auto* members = v.as<object>();
  if (members == nullptr) return patch_error{"", show(v) + " is not an object"};
  const value* name = members->find("op");
  const auto* word = name != nullptr ? name->as<std::string>() : nullptr;
  if (word == nullptr || !is_one_of(*word, {"add", "remove", "replace", "move", "copy", "test"})) {
    return patch_error{"/op", (name != nullptr ? show(*name) : "nothing") +
                                  " is not one of add, remove, replace, move, copy, test"};
  }
  o.name = *word;
  if (outcome bad = refuse_unknown(*members, o)) return bad;
  if (is_one_of(o.name, {"move", "copy"})) {
    if (outcome bad = read_pointer(*members, "from", o.from)) return bad;
  } else if (o.name != "remove") {
    o.argument = members->find("value");
    if (o.argument == nullptr) return patch_error{"", "\"value\" is missing"};
  }
  return read_pointer(*members, "path", o.path);
}

tokens parent_of(const tokens& path) {
  return {path.begin(), path.end() - 1};
}

// Document with its size, which is kept from operation to operation: a patch takes as long as what
// it adds, removes and moves, whatever the document holds.
class patched {
 public:
  patched(value& document, std::size_t& moved)
      : document_(document), size_(measure(document)), moved_(moved) {}

  outcome perform(const operation& o) {
    if (moved_ > most_moved) {
      return patch_error{"",
                         "the operations before it move too many values; \"-\" adds to the end of "
                         "a list, which moves none"};
    }
    if (o.name == "add") return add(o.path, *o.argument);
    if (o.name == "remove") return remove(o.path, "/path");
    if (o.name == "replace") return replace(o.path, *o.argument);
    if (o.name == "test") return test(o.path, *o.argument);
    return o.name == "copy" ? copy(o) : move(o);
  }

 private:
  outcome add(const tokens& path, value v) {
    if (path.empty()) return replace(path, v);
    value* parent = find(document_, parent_of(path));
    if (parent == nullptr) return no_such("/path", parent_of(path));
    if (auto* members = parent->as<object>()) {
      if (members->find(path.back()) != nullptr) return replace(path, v);
      size_.bytes += path.back().size();
      const extent added = measure(v);
      members->set(path.back(), std::move(v));
      return grow(path, added);
    }
    auto* list = parent->as<array>();
    if (list == nullptr) return no_such("/path", path);
    std::vector<value>& items = list->items;
    const std::optional<std::size_t> at =
        path.back() == "-" ? items.size() : position_in(items.size() + 1, path.back());
    if (!at) return no_such("/path", path);
    const extent added = measure(v);
    moved_ += items.size() - *at;
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(*at), std::move(v));
    return grow(path, added);
  }

  outcome remove(const tokens& path, const char* member) {
    const value* const target = find(document_, path);
    if (target == nullptr) return no_such(member, path);
    if (path.empty()) return patch_error{member, "the whole document cannot be removed"};
    shrink(*target);
    value* parent = find(document_, parent_of(path));
    if (auto* members = parent->as<object>()) {
      size_.bytes -= path.back().size();
      members->erase(path.back());
    } else if (auto* list = parent->as<array>()) {
      const std::optional<std::size_t> at = position_in(list->items.size(), path.back());
      moved_ += list->items.size() - *at;
      list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(*at));
    }
    return {};
  }

  outcome replace(const tokens& path, const value& v) {
    value* target = find(document_, path);
    if (target == nullptr) return no_such("/path", path);
    shrink(*target);
    *target = v;
    return grow(path, measure(v));
  }

  outcome test(const tokens& path, const value& v) {
    const value* target = find(document_, path);
    if (target == nullptr) return no_such("/path", path);
    if (equal(*target, v)) return {};
    return patch_error{"/value", "the value there is " + show(*target) + ", not " + show(v)};
  }

  outcome copy(const operation& o) {
    const value* origin = find(document_, o.from);
    if (origin == nullptr) return no_such("/from", o.from);
    return add(o.path, *origin);
  }

  outcome move(const operation& o) {
    const value* origin = find(document_, o.from);
    if (origin == nullptr) return no_such("/from", o.from);
    if (o.path == o.from) return {};
    const bool into_itself =
        o.path.size() > o.from.size() && std::equal(o.from.begin(), o.from.end(), o.path.begin());
    if (into_itself) return patch_error{"/path", "a value cannot be moved into itself"};
    value moved = *origin;
    if (outcome bad = remove(o.from, "/from")) return bad;
    return add(o.path, std::move(moved));
  }

  void shrink(const value& removed) {
    const extent less = measure(removed);
    moved_ += less.values;
    size_.values -= less.values;
    size_.bytes -= less.bytes;
  }

  outcome grow(const tokens& path, const extent& more) {
    moved_ += more.values;
    size_.values += more.values;
    size_.bytes += more.bytes;
    if (path.size() + more.depth > deepest) {
      return patch_error{"", "the document gets too deep by it"};
    }
    if (size_.values > most_values || size_.bytes > most_bytes) {
      return patch_error{"", "the document gets too large by it"};
    }
    return {};
  }

  value& document_;
  extent size_;
  std::size_t& moved_;
};

}  // namespace

std::optional<patch_error> apply_patch(value& document, const value& patch, std::size_t& moved) {
  const auto* list = patch.as<array>();
  if (list == nullptr) return patch_error{"", show(patch) + " is not a list of operations"};
  patched all(document, moved);
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    operation o;
    outcome bad = read_operation(list->items[i], o);
    if (!bad) bad = all.perform(o);
    if (bad) {
      bad->pointer = "/" + std::to_string(i) + bad->pointer;
      return bad;
    }
  }
  return {};
}

}  // namespace hmn::json
