// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/json_tree.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hmn::cli::fit {
namespace {

using source = nlohmann::json;

// Builds the tree from parser events and stops when a limit is exceeded.
class builder {
 public:
  explicit builder(const json_limits& limits) : limits_(limits) {}

  bool null() { return add(json_tree()); }
  bool boolean(bool value) { return add(json_tree(value)); }
  bool number_integer(source::number_integer_t value) {
    return add(json_tree(static_cast<double>(value)));
  }
  bool number_unsigned(source::number_unsigned_t value) {
    return add(json_tree(std::uint64_t{value}));
  }
  bool number_float(source::number_float_t value, const std::string&) {
    return add(json_tree(static_cast<double>(value)));
  }
  bool string(std::string& value) { return add(json_tree(std::move(value))); }
  bool binary(source::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(json_tree(json_tree::object())); }
  bool start_array(std::size_t) { return open(json_tree(json_tree::list())); }
  bool key(std::string& name) {
    open_.back()->members()->emplace_back().first = std::move(name);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string&, const source::exception&) {
    wrong_ = fmt::format("no JSON at byte {}", position);
    return false;
  }

  expected<json_tree> result(bool complete) {
    if (complete) return std::move(root_);
    return failed(wrong_);
  }

 private:
  json_tree* place() {
    if (open_.empty()) return &root_;
    if (auto* members = open_.back()->members()) return &members->back().second;
    return &open_.back()->items()->emplace_back();
  }
  bool add(json_tree value) {
    if (++count_ > limits_.values) {
      wrong_ = fmt::format("more than {} values", limits_.values);
      return false;
    }
    last_ = place();
    *last_ = std::move(value);
    return true;
  }
  bool open(json_tree value) {
    if (open_.size() == limits_.depth) {
      wrong_ = fmt::format("nested deeper than {}", limits_.depth);
      return false;
    }
    if (!add(std::move(value))) return false;
    open_.push_back(last_);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json_limits limits_;
  json_tree root_;
  std::vector<json_tree*> open_;  // stable: only the innermost one grows
  json_tree* last_ = nullptr;
  std::size_t count_ = 0;
  std::string wrong_ = "no JSON";
};

bool replace_word(std::string& text, std::size_t at, std::string_view word) {
  if (text.compare(at, word.size(), word) != 0) return false;
  text.replace(at, word.size(), std::string("null").append(word.size() - 4, ' '));
  return true;
}

constexpr std::size_t shown_bytes = 60;

// Prints until the text exceeds the shown length.
struct printer {
  std::string text;

  void put(const json_tree& value) {
    if (text.size() > shown_bytes) return;
    if (const auto* words = value.text()) {
      text += '"' + words->substr(0, shown_bytes) + '"';
    } else if (const auto* items = value.items()) {
      put_all(*items, '[', ']', [this](const json_tree& each) { put(each); });
    } else if (const auto* members = value.members()) {
      put_all(*members, '{', '}', [this](const json_tree::member& each) {
        text += '"' + each.first.substr(0, shown_bytes) + "\":";
        put(each.second);
      });
    } else if (const auto exact = value.whole()) {
      text += std::to_string(*exact);
    } else if (const auto number = value.number()) {
      text += fmt::format("{}", *number);
    } else {
      text += value.is_null() ? "null" : *value.truth() ? "true" : "false";
    }
  }
  template <class List, class Put>
  void put_all(const List& list, char open, char close, Put&& put_one) {
    text += open;
    for (const auto& each : list) {
      if (text.size() > shown_bytes) return;
      if (&each != &list.front()) text += ',';
      put_one(each);
    }
    text += close;
  }
};

// Replaces each Python number in place by "null" and blanks, so that positions stay the same.
void without_python_numbers(std::string& text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      inside = !inside;
    else if (!inside && text[i] == '-')
      replace_word(text, i, "-Infinity");
    else if (!inside && text[i] == 'I')
      replace_word(text, i, "Infinity");
    else if (!inside && text[i] == 'N' && text.compare(i, 3, "NaN") == 0)
      text.replace(i, 3, "0.5");  // not an integer, so that no reader accepts it as one
  }
}

}  // namespace

const json_tree* json_tree::find(std::string_view name) const {
  const auto* all = members();
  if (all == nullptr) return nullptr;
  for (auto each = all->rbegin(); each != all->rend(); ++each)
    if (each->first == name) return each->second.is_null() ? nullptr : &each->second;
  return nullptr;
}

std::string json_tree::shown() const {
  printer out;
  out.put(*this);
  if (out.text.size() <= shown_bytes) return std::move(out.text);
  auto end = shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(out.text[end]) & 0xC0U) == 0x80) --end;
  return out.text.substr(0, end) + "...";
}

std::optional<std::uint64_t> json_tree::whole() const {
  const auto* value = std::get_if<std::uint64_t>(&held_);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<double> json_tree::number() const {
  if (const auto exact = whole()) return static_cast<double>(*exact);
  const auto* value = std::get_if<double>(&held_);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<bool> json_tree::truth() const {
  const auto* value = std::get_if<bool>(&held_);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

expected<json_tree> parse_json(std::string text, const json_limits& limits) {
  without_python_numbers(text);
  builder tree(limits);
  const bool complete = source::sax_parse(text, &tree);
  return tree.result(complete);
}

}  // namespace hmn::cli::fit
