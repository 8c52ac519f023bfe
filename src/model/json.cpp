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

constexpr std::size_t max_excerpt = 48;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Returns whether the character needs no escape in a text.
bool is_literal(char c) {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}

void append_code_point(std::string& out, std::uint32_t code_point) {
  constexpr std::uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
  unsigned remaining =
      (code_point < 0x80 ? 0 : 1) + (code_point < 0x800 ? 0 : 1) + (code_point < 0x10000 ? 0 : 1);
  out += static_cast<char>(leads[remaining] | code_point >> 6 * remaining);
  while (remaining-- != 0) out += static_cast<char>(0x80 | (code_point >> 6 * remaining & 0x3F));
}

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : text_(text), options_(options) {}

  bool parse_document(Value& out) {
    if (text_.substr(0, 3) == byte_order_mark) position_ = 3;
    if (!check_utf8() || !parse_value(out, 1)) return false;
    skip_space();
    return position_ == text_.size() || fail("nothing may follow the document");
  }

  std::size_t parse_leading_value(Value& out) { return parse_value(out, 1) ? position_ : 0; }

  [[nodiscard]] SyntaxError error() const {
    SyntaxError result;
    result.key = key_;
    const std::string_view before = text_.substr(0, error_position_);
    result.line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_end = before.rfind('\n');
    result.column = line_end == before.npos ? before.size() + 1 : before.size() - line_end;
    result.message = message_;
    return result;
  }

 private:
  bool fail(std::string_view message) { return fail_at(position_, message); }
  bool fail_at(std::size_t position, std::string_view message) {
    error_position_ = position;
    message_ = message;
    return false;
  }

  // Rejects a NUL byte too, which JSON has no use for.
  bool check_utf8() {
    const std::size_t valid = utf8_length(text_);
    return valid == text_.size() || fail_at(valid, "a byte that is not UTF-8");
  }

  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++position_;
  }

  bool parse_value(Value& out, std::size_t depth) {
    skip_space();
    if (depth > options_.max_depth) {
      return fail(compose({"nested deeper than ", options_.max_depth, " levels"}));
    }
    if (++values_ > options_.max_values) {
      return fail(compose({"more than ", options_.max_values, " values"}));
    }
    switch (peek()) {
      case '{':
        return parse_members(out, depth);
      case '[':
        return parse_items(out, depth);
      case '"':
        return parse_string(out.emplace<std::string>());
      case 't':
        out.emplace<bool>() = true;
        return expect_word("true");
      case 'f':
        out.emplace<bool>();
        return expect_word("false");
      case 'n':
        return expect_word("null");
      default:
        return parse_numeral(out);
    }
  }

  bool expect_word(std::string_view expected) {
    if (text_.substr(position_, expected.size()) != expected) return fail("not a JSON value");
    position_ += expected.size();
    return true;
  }

  bool parse_items(Value& out, std::size_t depth) {
    Array& list = out.emplace<Array>();
    ++position_;
    skip_space();
    if (!take(']')) {
      do {
        if (!parse_value(list.items.emplace_back(), depth + 1)) return false;
        skip_space();
      } while (take(','));
      if (!take(']')) return fail("expected ',' or ']' in a list");
    }
    return true;
  }

  bool parse_members(Value& out, std::size_t depth) {
    Object& object = out.emplace<Object>();
    const std::size_t begin = position_++;
    skip_space();
    if (!take('}')) {
      do {
        if (!parse_member(object, depth)) return false;
      } while (take(','));
      if (!take('}')) return fail("expected ',' or '}' in an object");
    }
    return options_.is_lenient || check_unique(object.keys, begin);
  }

  bool parse_member(Object& object, std::size_t depth) {
    skip_space();
    if (peek() != '"') return fail("expected a key in double quotes");
    const std::size_t begin = position_;
    if (!parse_string(object.keys.emplace_back())) return false;
    key_ = text_.substr(begin + 1, position_ - begin - 2);
    skip_space();
    if (!take(':')) return fail("expected ':' after a key");
    if (!parse_value(object.values.emplace_back(), depth + 1)) return false;
    skip_space();
    return true;
  }

  bool check_unique(const std::vector<std::string>& keys, std::size_t begin) {
    constexpr std::size_t few = 16;
    const std::size_t duplicate =
        keys.size() <= few ? find_duplicate_by_scan(keys) : find_duplicate_by_sort(keys);
    if (duplicate == keys.size()) return true;
    return fail_at(begin, "the key " + quote(keys[duplicate]) + " appears twice in this object");
  }

  // Return the position of a repeated key, or the number of keys.
  static std::size_t find_duplicate_by_scan(const std::vector<std::string>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::find(keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, keys.end(), keys[i]) !=
          keys.end())
        return i;
    }
    return keys.size();
  }
  static std::size_t find_duplicate_by_sort(const std::vector<std::string>& keys) {
    const auto sorted = sort_positions(
        keys.size(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    const auto duplicate = std::ranges::adjacent_find(
        sorted, [&](std::uint32_t a, std::uint32_t b) { return keys[a] == keys[b]; });
    return duplicate == sorted.end() ? keys.size() : *duplicate;
  }

  bool parse_string(std::string& out) {
    const std::size_t begin = position_++;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"') {
        ++position_;
        return true;
      }
      if (c == '\\') {
        if (!parse_escape(out)) return false;
      } else if (!is_literal(c)) {
        return fail("a control character in a text; write it as \\u00XX");
      } else {
        const std::size_t first = position_;
        while (position_ < text_.size() && is_literal(text_[position_])) ++position_;
        out += text_.substr(first, position_ - first);
      }
    }
    return fail_at(begin, "a text that does not end");
  }

  bool parse_escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view characters = "\"\\/\b\f\n\r\t";
    ++position_;
    const std::size_t index = letters.find(peek());
    if (position_ < text_.size() && index != letters.npos) {
      out += characters[index];
      ++position_;
      return true;
    }
    return take('u') ? parse_code_point(out) : fail("no such escape in a text");
  }

  bool parse_code_point(std::string& out) {
    const std::size_t begin = position_ - 2;
    std::optional<std::uint32_t> code_point = parse_hex4();
    if (!code_point) return fail_at(begin, "\\u needs four hexadecimal digits");
    if (*code_point >= 0xD800 && *code_point < 0xDC00 && take('\\') && take('u')) {
      const std::optional<std::uint32_t> low = parse_hex4();
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        code_point = 0x10000 + ((*code_point - 0xD800) << 10) + (*low - 0xDC00);
      }
    }
    if (*code_point >= 0xD800 && *code_point < 0xE000)
      return fail_at(begin, "half of a surrogate pair");
    append_code_point(out, *code_point);
    return true;
  }

  std::optional<std::uint32_t> parse_hex4() {
    const std::string_view digits = text_.substr(position_, 4);
    if (digits.size() != 4) return {};
    position_ += 4;
    return scan::parse_number<std::uint32_t>(digits, 16);
  }

  bool skip_digits() {
    const std::size_t begin = position_;
    while (is_digit(peek())) ++position_;
    return position_ > begin;
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

  bool skip_non_finite() {
    if (!options_.is_lenient) return false;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return true;
    }
    return false;
  }

  bool parse_numeral(Value& out) {
    const std::size_t begin = position_;
    if (!skip_non_finite() && !skip_numeral()) return fail_at(begin, "not a JSON value");
    const std::string_view digits = text_.substr(begin, position_ - begin);
    if (const auto integer = scan::parse_number(digits)) {
      out.emplace<std::uint64_t>() = *integer;
      return true;
    }
    Number& number = out.emplace<Number>();
    number.text = digits;
    const std::optional<double> real = read_decimal(digits);
    if (real && std::isfinite(*real)) {
      number.nearest = *real;
    } else {
      if (!options_.is_lenient) return fail_at(begin, "a number that no double can hold");
      number.nearest = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  }

  std::string_view text_;
  const ParseOptions& options_;
  std::string_view key_;
  std::size_t position_ = 0;
  std::size_t values_ = 0;
  std::size_t error_position_ = 0;
  std::string message_;
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

std::optional<std::uint64_t> Value::integer() const noexcept {
  const auto* number = get_if<std::uint64_t>();
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> Value::real() const noexcept {
  if (const auto* number = get_if<std::uint64_t>()) return static_cast<double>(*number);
  const auto* real = get_if<json::Number>();
  return real != nullptr ? std::optional(real->nearest) : std::nullopt;
}

std::optional<bool> Value::boolean() const noexcept {
  const auto* flag = get_if<bool>();
  return flag != nullptr ? std::optional(*flag) : std::nullopt;
}

const std::vector<Value>* Value::items() const noexcept {
  const auto* list = get_if<Array>();
  return list != nullptr ? &list->items : nullptr;
}

const Value* Value::find(std::string_view key) const noexcept {
  const auto* object = members();
  const Value* member = object != nullptr ? object->find(key) : nullptr;
  return member == nullptr || member->is_null() ? nullptr : member;
}

Value* Object::find(std::string_view key) noexcept {
  for (std::size_t i = keys.size(); i-- != 0;) {
    const std::string& candidate = keys[i];
    if (candidate.size() == key.size() &&
        std::memcmp(candidate.data(), key.data(), key.size()) == 0) {
      return &values[i];
    }
  }
  return nullptr;
}

const Value* Object::find(std::string_view key) const noexcept {
  return const_cast<Object*>(this)->find(key);
}

void Object::set(std::string_view key, Value value) {
  if (Value* member = find(key)) {
    *member = std::move(value);
    return;
  }
  keys.emplace_back(key);
  values.push_back(std::move(value));
}

void Object::erase(std::string_view key) {
  const auto it = std::ranges::find(keys, key);
  if (it == keys.end()) return;
  values.erase(values.begin() + (it - keys.begin()));
  keys.erase(it);
}

std::size_t count_values(const Value& value) noexcept {
  const auto* members = value.members();
  const auto* items = members != nullptr ? &members->values : value.items();
  std::size_t count = 1;
  if (items != nullptr) {
    for (const Value& item : *items) count += count_values(item);
  }
  return count;
}

std::string quote(std::string_view text) {
  const std::size_t length = std::min(text.size(), max_excerpt);
  std::string result = "\"";
  for (const char c : text.substr(0, length))
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  std::string valid;
  append_utf8(valid, result);
  return valid + (length < text.size() ? "…\"" : "\"");
}

std::string summarize(const Value& value) {
  if (value.is_null()) return "null";
  if (const auto* flag = value.get_if<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = value.get_if<std::uint64_t>()) return compose({*integer});
  if (const auto* real = value.get_if<Number>()) return real->text.substr(0, max_excerpt);
  if (const auto* text = value.get_if<std::string>()) return quote(*text);
  return value.get_if<Array>() != nullptr ? "a list" : "an object";
}

std::variant<Value, SyntaxError> parse(std::string_view text, const ParseOptions& options) {
  Parser parser(text, options);
  Value document;
  if (!parser.parse_document(document)) return parser.error();
  return document;
}

std::variant<Value, SyntaxError> parse_front(std::string_view text, std::size_t& length) {
  constexpr ParseOptions lenient{.is_lenient = true};
  Parser parser(text, lenient);
  Value front;
  length = parser.parse_leading_value(front);
  if (length == 0) return parser.error();
  return front;
}

}  // namespace hmn::json
