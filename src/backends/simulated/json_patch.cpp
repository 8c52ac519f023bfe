// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/json_patch.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "backends/simulated/json_pointer.hpp"
#include "model/json_parse.hpp"

namespace hmn::json {
namespace {

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

outcome add(value& document, const tokens& path, value v) {
  if (path.empty()) {
    document = std::move(v);
    return {};
  }
  value* parent = find(document, tokens(path.begin(), path.end() - 1));
  if (parent == nullptr) return no_such("/path", tokens(path.begin(), path.end() - 1));
  if (auto* members = parent->as<object>()) {
    members->set(path.back(), std::move(v));
    return {};
  }
  auto* list = parent->as<array>();
  if (list == nullptr) return no_such("/path", path);
  std::vector<value>& items = list->items;
  const std::optional<std::size_t> at =
      path.back() == "-" ? items.size() : position_in(items.size() + 1, path.back());
  if (!at) return no_such("/path", path);
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(*at), std::move(v));
  return {};
}

outcome remove(value& document, const tokens& path, const char* member) {
  if (find(document, path) == nullptr) return no_such(member, path);
  if (path.empty()) return patch_error{member, "the whole document cannot be removed"};
  value* parent = find(document, tokens(path.begin(), path.end() - 1));
  if (auto* members = parent->as<object>()) {
    members->erase(path.back());
  } else if (auto* list = parent->as<array>()) {
    const std::optional<std::size_t> at = position_in(list->items.size(), path.back());
    list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(*at));
  }
  return {};
}

outcome replace(value& document, const tokens& path, const value& v) {
  value* target = find(document, path);
  if (target == nullptr) return no_such("/path", path);
  *target = v;
  return {};
}

outcome test(value& document, const tokens& path, const value& v) {
  const value* target = find(document, path);
  if (target == nullptr) return no_such("/path", path);
  if (equal(*target, v)) return {};
  return patch_error{"/value", "the value there is " + show(*target) + ", not " + show(v)};
}

outcome copy(value& document, const operation& o) {
  const value* origin = find(document, o.from);
  if (origin == nullptr) return no_such("/from", o.from);
  return add(document, o.path, *origin);
}

outcome move(value& document, const operation& o) {
  const value* origin = find(document, o.from);
  if (origin == nullptr) return no_such("/from", o.from);
  if (o.path == o.from) return {};
  const bool into_itself =
      o.path.size() > o.from.size() && std::equal(o.from.begin(), o.from.end(), o.path.begin());
  if (into_itself) return patch_error{"/path", "a value cannot be moved into itself"};
  value moved = *origin;
  if (outcome bad = remove(document, o.from, "/from")) return bad;
  return add(document, o.path, std::move(moved));
}

outcome perform(value& document, const operation& o) {
  if (o.name == "add") return add(document, o.path, *o.argument);
  if (o.name == "remove") return remove(document, o.path, "/path");
  if (o.name == "replace") return replace(document, o.path, *o.argument);
  if (o.name == "test") return test(document, o.path, *o.argument);
  return o.name == "copy" ? copy(document, o) : move(document, o);
}

outcome check_extent(const value& document) {
  const extent all = measure(document);
  if (all.depth > deepest) return patch_error{"", "the document gets too deep by it"};
  if (all.values > most_values || all.bytes > most_bytes)
    return patch_error{"", "the document gets too large by it"};
  return {};
}

}  // namespace

std::optional<patch_error> apply_operation(value& document, const value& v) {
  operation o;
  if (outcome bad = read_operation(v, o)) return bad;
  if (outcome bad = perform(document, o)) return bad;
  return is_one_of(o.name, {"remove", "test"}) ? outcome() : check_extent(document);
}

std::optional<patch_error> apply_patch(value& document, const value& patch) {
  const auto* list = patch.as<array>();
  if (list == nullptr) return patch_error{"", show(patch) + " is not a list of operations"};
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    if (outcome bad = apply_operation(document, list->items[i])) {
      bad->pointer = "/" + std::to_string(i) + bad->pointer;
      return bad;
    }
  }
  return {};
}

}  // namespace hmn::json
