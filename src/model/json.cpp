// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "model/character.hpp"
#include "model/decimal.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "model/sort.hpp"
#include "model/text.hpp"

namespace hmn::json {
namespace {

constexpr std::size_t longest_shown = 48;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Returns whether the character needs no escape in a text.
bool is_literal(char c) {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}

void append_code_point(std::string& out, std::uint32_t c) {
  constexpr std::uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
  unsigned left = (c < 0x80 ? 0 : 1) + (c < 0x800 ? 0 : 1) + (c < 0x10000 ? 0 : 1);
  out += static_cast<char>(leads[left] | c >> 6 * left);
  while (left-- != 0) out += static_cast<char>(0x80 | (c >> 6 * left & 0x3F));
}

class Parser {
 public:
  Parser(std::string_view text, const Rules& by) : text_(text), rules_(by) {}

  bool document(Value& out) {
    if (text_.substr(0, 3) == byte_order_mark) at_ = 3;
    if (!is_utf8() || !any(out, 1)) return false;
    skip_space();
    return at_ == text_.size() || fail("nothing may follow the document");
  }

  std::size_t front(Value& out) { return any(out, 1) ? at_ : 0; }

  [[nodiscard]] SyntaxError error() const {
    SyntaxError e;
    e.key = key_;
    const std::string_view before = text_.substr(0, failed_at_);
    e.line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_end = before.rfind('\n');
    e.column = line_end == before.npos ? before.size() + 1 : before.size() - line_end;
    e.what = what_;
    return e;
  }

 private:
  bool fail(std::string_view what) { return fail_at(at_, what); }
  bool fail_at(std::size_t at, std::string_view what) {
    failed_at_ = at;
    what_ = what;
    return false;
  }

  // Rejects a NUL byte too, which JSON has no use for.
  bool is_utf8() {
    const std::size_t valid = utf8_length(text_);
    return valid == text_.size() || fail_at(valid, "a byte that is not UTF-8");
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  bool any(Value& out, std::size_t depth) {
    skip_space();
    if (depth > rules_.deepest) {
      return fail(compose({"nested deeper than ", rules_.deepest, " levels"}));
    }
    if (++values_ > rules_.most_values) {
      return fail(compose({"more than ", rules_.most_values, " values"}));
    }
    switch (peek()) {
      case '{':
        return members(out, depth);
      case '[':
        return items(out, depth);
      case '"':
        return string(out.become<std::string>());
      case 't':
        out.become<bool>() = true;
        return word("true");
      case 'f':
        out.become<bool>();
        return word("false");
      case 'n':
        return word("null");
      default:
        return numeral(out);
    }
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return fail("not a JSON value");
    at_ += expected.size();
    return true;
  }

  bool items(Value& out, std::size_t depth) {
    Array& list = out.become<Array>();
    ++at_;
    skip_space();
    if (!take(']')) {
      do {
        if (!any(list.items.emplace_back(), depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take(']')) return fail("expected ',' or ']' in a list");
    }
    return true;
  }

  bool members(Value& out, std::size_t depth) {
    Object& all = out.become<Object>();
    const std::size_t begin = at_++;
    skip_space();
    if (!take('}')) {
      do {
        if (!member(all, depth)) return false;
      } while (take(','));
      if (!take('}')) return fail("expected ',' or '}' in an object");
    }
    return rules_.is_lenient || are_unique(all.keys, begin);
  }

  bool member(Object& all, std::size_t depth) {
    skip_space();
    if (peek() != '"') return fail("expected a key in double quotes");
    const std::size_t begin = at_;
    if (!string(all.keys.emplace_back())) return false;
    key_ = text_.substr(begin + 1, at_ - begin - 2);
    skip_space();
    if (!take(':')) return fail("expected ':' after a key");
    if (!any(all.values.emplace_back(), depth + 1)) return false;
    skip_space();
    return true;
  }

  bool are_unique(const std::vector<std::string>& keys, std::size_t begin) {
    constexpr std::size_t few = 16;
    const std::size_t twice = keys.size() <= few ? first_of_few(keys) : first_of_many(keys);
    if (twice == keys.size()) return true;
    return fail_at(begin, "the key " + quoted(keys[twice]) + " stands twice in this object");
  }

  // Return the position of a repeated key, or the number of keys.
  static std::size_t first_of_few(const std::vector<std::string>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::find(keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, keys.end(), keys[i]) !=
          keys.end())
        return i;
    }
    return keys.size();
  }
  static std::size_t first_of_many(const std::vector<std::string>& keys) {
    const auto sorted = sorted_positions(
        keys.size(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    const auto twice = std::ranges::adjacent_find(
        sorted, [&](std::uint32_t a, std::uint32_t b) { return keys[a] == keys[b]; });
    return twice == sorted.end() ? keys.size() : *twice;
  }

  bool string(std::string& out) {
    const std::size_t begin = at_++;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!escape(out)) return false;
      } else if (!is_literal(c)) {
        return fail("a control character in a text; write it as \\u00XX");
      } else {
        const std::size_t first = at_;
        while (at_ < text_.size() && is_literal(text_[at_])) ++at_;
        out += text_.substr(first, at_ - first);
      }
    }
    return fail_at(begin, "a text that does not end");
  }

  bool escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    ++at_;
    const std::size_t which = letters.find(peek());
    if (at_ < text_.size() && which != letters.npos) {
      out += meant[which];
      ++at_;
      return true;
    }
    return take('u') ? code_point(out) : fail("no such escape in a text");
  }

  bool code_point(std::string& out) {
    const std::size_t begin = at_ - 2;
    std::optional<std::uint32_t> c = hex4();
    if (!c) return fail_at(begin, "\\u needs four hexadecimal digits");
    if (*c >= 0xD800 && *c < 0xDC00 && take('\\') && take('u')) {
      const std::optional<std::uint32_t> low = hex4();
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        c = 0x10000 + ((*c - 0xD800) << 10) + (*low - 0xDC00);
      }
    }
    if (*c >= 0xD800 && *c < 0xE000) return fail_at(begin, "half of a surrogate pair");
    append_code_point(out, *c);
    return true;
  }

  std::optional<std::uint32_t> hex4() {
    const std::string_view digits = text_.substr(at_, 4);
    if (digits.size() != 4) return {};
    at_ += 4;
    return scan::number<std::uint32_t>(digits, 16);
  }

  bool skip_digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ > begin;
  }

  // Follows the grammar of RFC 8259, section 6.
  bool skip_numeral() {
    take('-');
    if (!take('0') && !skip_digits()) return false;
    if (take('.') && !skip_digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return skip_digits();
    }
    return true;
  }

  bool skip_no_number() {
    if (!rules_.is_lenient) return false;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    return false;
  }

  bool numeral(Value& out) {
    const std::size_t begin = at_;
    if (!skip_no_number() && !skip_numeral()) return fail_at(begin, "not a JSON value");
    const std::string_view digits = text_.substr(begin, at_ - begin);
    if (const auto whole = scan::number(digits)) {
      out.become<std::uint64_t>() = *whole;
      return true;
    }
    Number& n = out.become<Number>();
    n.text = digits;
    const std::optional<double> as_real = read_decimal(digits);
    if (as_real && std::isfinite(*as_real)) {
      n.nearest = *as_real;
    } else {
      if (!rules_.is_lenient) return fail_at(begin, "a number that no double can hold");
      n.nearest = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  }

  std::string_view text_;
  const Rules& rules_;
  std::string_view key_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::size_t failed_at_ = 0;
  std::string what_;
};

}  // namespace

Value::Value() noexcept = default;
Value::Value(Content c) noexcept : content_(std::move(c)) {}
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) {
  return *this = Value(other);
}
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

std::optional<std::uint64_t> Value::whole() const noexcept {
  const auto* number = as<std::uint64_t>();
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> Value::real() const noexcept {
  if (const auto* number = as<std::uint64_t>()) return static_cast<double>(*number);
  const auto* other = as<json::Number>();
  return other != nullptr ? std::optional(other->nearest) : std::nullopt;
}

std::optional<bool> Value::truth() const noexcept {
  const auto* truth = as<bool>();
  return truth != nullptr ? std::optional(*truth) : std::nullopt;
}

const std::vector<Value>* Value::items() const noexcept {
  const auto* list = as<Array>();
  return list != nullptr ? &list->items : nullptr;
}

const Value* Value::find(std::string_view key) const noexcept {
  const auto* all = members();
  const Value* found = all != nullptr ? all->find(key) : nullptr;
  return found == nullptr || found->is_null() ? nullptr : found;
}

Value* Object::find(std::string_view key) noexcept {
  for (std::size_t i = keys.size(); i-- != 0;) {
    const std::string& k = keys[i];
    if (k.size() == key.size() && std::memcmp(k.data(), key.data(), key.size()) == 0) {
      return &values[i];
    }
  }
  return nullptr;
}

const Value* Object::find(std::string_view key) const noexcept {
  return const_cast<Object*>(this)->find(key);
}

void Object::set(std::string_view key, Value v) {
  if (Value* present = find(key)) {
    *present = std::move(v);
    return;
  }
  keys.emplace_back(key);
  values.push_back(std::move(v));
}

void Object::erase(std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  if (at == keys.end()) return;
  values.erase(values.begin() + (at - keys.begin()));
  keys.erase(at);
}

std::size_t count_values(const Value& v) noexcept {
  const auto* members = v.members();
  const auto* items = members != nullptr ? &members->values : v.items();
  std::size_t count = 1;
  if (items != nullptr) {
    for (const Value& item : *items) count += count_values(item);
  }
  return count;
}

std::string quoted(std::string_view text) {
  const std::size_t cut = std::min(text.size(), longest_shown);
  std::string shown = "\"";
  for (const char c : text.substr(0, cut)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  std::string valid;
  append_utf8(valid, shown);
  return valid + (cut < text.size() ? "…\"" : "\"");
}

std::string show(const Value& v) {
  if (v.is_null()) return "null";
  if (const auto* truth = v.as<bool>()) return *truth ? "true" : "false";
  if (const auto* whole = v.as<std::uint64_t>()) return compose({*whole});
  if (const auto* other = v.as<Number>()) return other->text.substr(0, longest_shown);
  if (const auto* text = v.as<std::string>()) return quoted(*text);
  return v.as<Array>() != nullptr ? "a list" : "an object";
}

std::variant<Value, SyntaxError> parse(std::string_view text, const Rules& by) {
  Parser p(text, by);
  Value document;
  if (!p.document(document)) return p.error();
  return document;
}

std::variant<Value, SyntaxError> parse_front(std::string_view text, std::size_t& length) {
  constexpr Rules lenient{.is_lenient = true};
  Parser p(text, lenient);
  Value front;
  length = p.front(front);
  if (length == 0) return p.error();
  return front;
}

}  // namespace hmn::json
