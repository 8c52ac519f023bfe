// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

#include "model/similar_word.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t max_decimals = 6;  // 10^6 TiB fits 64 bits

std::optional<std::uint64_t> parse_unit(std::string_view name) {
  if (name == "B") return 1;
  if (name == "KiB") return std::uint64_t{1} << 10;
  if (name == "MiB") return std::uint64_t{1} << 20;
  if (name == "GiB") return std::uint64_t{1} << 30;
  if (name == "TiB") return std::uint64_t{1} << 40;
  return {};
}

// Removes leading digits.
std::optional<std::uint64_t> take_digits(std::string_view& text) {
  std::uint64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

struct Fraction {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;
};

std::optional<Fraction> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return Fraction{};
  text.remove_prefix(1);
  const std::size_t before = text.size();
  const std::optional<std::uint64_t> digits = take_digits(text);
  if (!digits || before - text.size() > max_decimals) return {};
  Fraction fraction{*digits, 1};
  for (std::size_t i = text.size(); i < before; ++i) fraction.denominator *= 10;
  return fraction;
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::optional<std::uint64_t> integer = take_digits(text);
  if (!integer) return {};
  const std::optional<Fraction> fraction = take_fraction(text);
  if (!fraction) return {};
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::optional<std::uint64_t> unit = parse_unit(text);
  if (!unit || *integer > max_bytes / *unit ||
      fraction->numerator * *unit % fraction->denominator != 0)
    return {};
  const std::uint64_t rest = fraction->numerator * *unit / fraction->denominator;
  if (*integer * *unit > max_bytes - rest) return {};
  return *integer * *unit + rest;
}

namespace {

// Appends a key to a pointer of RFC 6901.
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

constexpr std::size_t max_bits = 64;

std::string suggest_key(std::string_view key, std::span<const std::string_view> known_keys) {
  const std::string_view likely = find_similar_word(key, known_keys);
  if (!likely.empty()) return "did you mean \"" + std::string(likely) + "\"?";
  std::string text = "known here:";
  for (const std::string_view name : known_keys) {
    text += ' ';
    text += name;
  }
  return text;
}

std::string format_range(std::uint64_t low, std::uint64_t high) {
  const bool is_top = high == std::numeric_limits<std::uint64_t>::max();
  return "a whole number from " + std::to_string(low) + " to " +
         (is_top ? std::string("2^64-1") : std::to_string(high));
}

std::string format_range(double low, double high) {
  const auto text = [](double d) { return std::to_string(static_cast<long long>(d)); };
  return "a number from " + text(low) + " to " + text(high);
}

// One of 64 bits; different keys may share it.
constexpr std::uint64_t key_mark(std::string_view key) {
  const unsigned last = key.empty() ? 0U : static_cast<unsigned char>(key.back());
  return std::uint64_t{1} << ((key.size() * 5 + last) % max_bits);
}

std::optional<std::uint64_t> parse_hexadecimal(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return {};
  std::uint64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + 2, last, number, 16);
  if (error != std::errc() || end != last) return {};
  return number;
}

}  // namespace

std::string JsonPath::pointer() const {
  if (parent_ == nullptr) return "";
  std::string all = parent_->pointer();
  append_token(all, key_ ? *key_ : std::string_view(std::to_string(position_)));
  return all;
}

void Problems::add(const JsonPath& path, std::string sentence) {
  if (!first_) add_at_pointer(path.pointer(), std::move(sentence));
}

void Problems::add_at_pointer(std::string pointer, std::string sentence) {
  if (!first_) first_ = Problem{std::move(pointer), std::move(sentence)};
}

void Problems::reject(const JsonPath& path, const json::Value& value, std::string_view expected) {
  if (!first_) add(path, json::summarize(value) + " is not " + std::string(expected));
}

std::optional<std::uint64_t> find_word(std::span<const Word> words, std::string_view name) {
  for (const Word& word : words) {
    if (word.name == name) return word.value;
  }
  return {};
}

std::string format_choices(std::span<const Word> words) {
  std::string all = "one of";
  for (const Word& word : words) {
    all += &word == words.data() ? " " : ", ";
    all += word.name;
  }
  return all;
}

ObjectReader::ObjectReader(const json::Value& value, const JsonPath& path, Problems& problems)
    : members_(value.get_if<json::Object>()),
      path_(path),
      problems_(problems),
      first_requested_(problems.requested_keys.size()) {
  if (members_ == nullptr) {
    problems_.reject(path, value, "an object");
    return;
  }
  for (const std::string& key : members_->keys) key_marks_ |= key_mark(key);
}

const json::Value* ObjectReader::get_nullable(std::string_view key) {
  problems_.requested_keys.push_back(key);
  const json::Value* value = (key_marks_ & key_mark(key)) == 0 ? nullptr : members_->find(key);
  const std::size_t index =
      value == nullptr ? max_bits : static_cast<std::size_t>(value - members_->values.data());
  if (index < max_bits) read_mask_ |= std::uint64_t{1} << index;
  return value;
}

const json::Value* ObjectReader::get(std::string_view key) {
  const json::Value* value = get_nullable(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void ObjectReader::reject(std::string_view key, const json::Value& value,
                          std::string_view expected) {
  problems_.reject(JsonPath(path_, key), value, expected);
}

std::optional<std::uint64_t> ObjectReader::integer(std::string_view key, std::uint64_t low,
                                                   std::uint64_t high) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  const auto* number = value->get_if<std::uint64_t>();
  if (number != nullptr && *number >= low && *number <= high) return *number;
  reject(key, *value, format_range(low, high));
  return {};
}

std::optional<std::uint32_t> ObjectReader::integer32(std::string_view key) {
  const auto number = integer(key, 0, std::numeric_limits<std::uint32_t>::max());
  if (!number) return {};
  return static_cast<std::uint32_t>(*number);
}

std::optional<std::uint64_t> ObjectReader::id(std::string_view key, std::uint64_t high) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  std::optional<std::uint64_t> number;
  if (const auto* text = value->get_if<std::string>()) number = parse_hexadecimal(*text);
  if (const auto* plain = value->get_if<std::uint64_t>()) number = *plain;
  if (number && *number <= high) return number;
  reject(key, *value, format_range(0, high) + ", or such a number as a text like \"0x10de\"");
  return {};
}

std::optional<std::uint64_t> ObjectReader::bytes(std::string_view key) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  if (const auto* number = value->get_if<std::uint64_t>()) return *number;
  const auto* text = value->get_if<std::string>();
  const std::optional<std::uint64_t> size = text != nullptr ? parse_bytes(*text) : std::nullopt;
  if (size) return size;
  reject(key, *value, "a size: whole bytes from 0 to 2^64-1, or a text such as \"16GiB\"");
  return {};
}

std::optional<double> ObjectReader::real(std::string_view key, double low, double high) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  std::optional<double> number;
  if (const auto* integer = value->get_if<std::uint64_t>()) number = static_cast<double>(*integer);
  if (const auto* other = value->get_if<json::Number>()) number = other->nearest;
  if (number && *number >= low && *number <= high) return number;
  reject(key, *value, format_range(low, high));
  return {};
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  if (const auto* b = value->get_if<bool>()) return *b;
  reject(key, *value, "true or false");
  return {};
}

std::optional<std::string_view> ObjectReader::text(std::string_view key) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  if (const auto* s = value->get_if<std::string>()) return *s;
  reject(key, *value, "a text");
  return {};
}

std::optional<std::uint32_t> ObjectReader::choice(std::string_view key,
                                                  std::span<const Word> words) {
  const json::Value* value = get(key);
  if (value == nullptr) return {};
  const auto* name = value->get_if<std::string>();
  const auto number = name != nullptr ? find_word(words, *name) : std::nullopt;
  if (!number) reject(key, *value, format_choices(words));
  return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

std::optional<std::uint64_t> ObjectReader::flags(std::string_view key,
                                                 std::span<const Word> words) {
  if (get(key) == nullptr) return {};
  std::uint64_t bits = 0;
  for_each(key, [&](const json::Value& value, const JsonPath& path) {
    const auto* name = value.get_if<std::string>();
    const auto bit = name != nullptr ? find_word(words, *name) : std::nullopt;
    if (!bit) return problems_.reject(path, value, format_choices(words));
    bits |= *bit;
  });
  return bits;
}

std::size_t ObjectReader::length(std::string_view key) const noexcept {
  const json::Value* value = members_ == nullptr ? nullptr : members_->find(key);
  const auto* list = value != nullptr ? value->get_if<json::Array>() : nullptr;
  return list != nullptr ? list->items.size() : 0;
}

void ObjectReader::report_missing(std::string_view key, std::string_view expected) {
  problems_.add(path_, "\"" + std::string(key) + "\" is missing: " + std::string(expected));
}

void ObjectReader::finish() {
  if (members_ == nullptr || problems_.first()) return;
  const auto known_keys =
      std::span<const std::string_view>(problems_.requested_keys).subspan(first_requested_);
  for (std::size_t i = 0; i < members_->keys.size(); ++i) {
    const std::string& key = members_->keys[i];
    if (i < max_bits && (read_mask_ >> i & 1) != 0) continue;
    if (key == "comment" || std::ranges::find(known_keys, key) != known_keys.end()) continue;
    const json::Value key_value{json::Value::Content(key)};
    problems_.add(path_, "the key " + json::summarize(key_value) + " is not known; " +
                             suggest_key(key, known_keys));
  }
}

}  // namespace hmn::simulated
