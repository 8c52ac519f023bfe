// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/json_pointer.hpp"

#include <charconv>
#include <system_error>

namespace hmn::json {
namespace {

std::optional<std::string> unescape(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      key += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return {};
    key += token[i] == '0' ? '~' : '/';
  }
  return key;
}

value* child(value& parent, const std::string& token) {
  if (auto* members = parent.as<object>()) return members->find(token);
  if (auto* list = parent.as<array>()) {
    const std::optional<std::size_t> at = position_in(list->items.size(), token);
    return at ? &list->items[*at] : nullptr;
  }
  return nullptr;
}

}  // namespace

void append_token(std::string& pointer, std::string_view key) {
  pointer += '/';
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

std::optional<std::vector<std::string>> tokens_of(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return {};
    const std::size_t end = pointer.find('/', 1);
    std::optional<std::string> key =
        unescape(pointer.substr(1, end == pointer.npos ? end : end - 1));
    if (!key) return {};
    tokens.push_back(std::move(*key));
    pointer = end == pointer.npos ? std::string_view() : pointer.substr(end);
  }
  return tokens;
}

std::optional<std::size_t> position_in(std::size_t size, std::string_view token) {
  std::size_t at = 0;
  const char* last = token.data() + token.size();
  const auto [end, error] = std::from_chars(token.data(), last, at);
  if (error != std::errc() || end != last || at >= size) return {};
  if (token.size() > 1 && token.front() == '0') return {};
  return at;
}

value* find(value& document, const std::vector<std::string>& tokens) {
  value* at = &document;
  for (const std::string& token : tokens) {
    if (at != nullptr) at = child(*at, token);
  }
  return at;
}

}  // namespace hmn::json
