// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

#include "model/likely_word.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t most_decimals = 6;  // 10^6 TiB fits 64 bits

std::optional<std::uint64_t> unit_of(std::string_view name) {
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
  std::uint64_t over = 0;
  std::uint64_t under = 1;
};

std::optional<Fraction> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return Fraction{};
  text.remove_prefix(1);
  const std::size_t before = text.size();
  const std::optional<std::uint64_t> digits = take_digits(text);
  if (!digits || before - text.size() > most_decimals) return {};
  Fraction f{*digits, 1};
  for (std::size_t i = text.size(); i < before; ++i) f.under *= 10;
  return f;
}

}  // namespace

std::optional<std::uint64_t> bytes_of(std::string_view text) {
  const std::optional<std::uint64_t> whole = take_digits(text);
  if (!whole) return {};
  const std::optional<Fraction> part = take_fraction(text);
  if (!part) return {};
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::optional<std::uint64_t> unit = unit_of(text);
  if (!unit || *whole > most_bytes / *unit || part->over * *unit % part->under != 0) return {};
  const std::uint64_t rest = part->over * *unit / part->under;
  if (*whole * *unit > most_bytes - rest) return {};
  return *whole * *unit + rest;
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

constexpr std::size_t most_bits = 64;

std::string advice_on(std::string_view key, std::span<const std::string_view> known) {
  const std::string_view likely = likely_word(key, known);
  if (!likely.empty()) return "did you mean \"" + std::string(likely) + "\"?";
  std::string all = "known here:";
  for (const std::string_view k : known) {
    all += ' ';
    all += k;
  }
  return all;
}

std::string range_text(std::uint64_t low, std::uint64_t high) {
  const bool is_top = high == std::numeric_limits<std::uint64_t>::max();
  return "a whole number from " + std::to_string(low) + " to " +
         (is_top ? std::string("2^64-1") : std::to_string(high));
}

std::string range_text(double low, double high) {
  const auto text = [](double d) { return std::to_string(static_cast<long long>(d)); };
  return "a number from " + text(low) + " to " + text(high);
}

// One of 64 bits; different keys may share it.
constexpr std::uint64_t mark_of(std::string_view key) {
  const unsigned last = key.empty() ? 0U : static_cast<unsigned char>(key.back());
  return std::uint64_t{1} << ((key.size() * 5 + last) % most_bits);
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return {};
  std::uint64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + 2, last, number, 16);
  if (error != std::errc() || end != last) return {};
  return number;
}

}  // namespace

std::string Place::pointer() const {
  if (parent_ == nullptr) return "";
  std::string all = parent_->pointer();
  append_token(all, key_ ? *key_ : std::string_view(std::to_string(position_)));
  return all;
}

void Problems::add(const Place& at, std::string sentence) {
  if (!first_) add_at(at.pointer(), std::move(sentence));
}

void Problems::add_at(std::string pointer, std::string sentence) {
  if (!first_) first_ = Problem{std::move(pointer), std::move(sentence)};
}

void Problems::refuse(const Place& at, const json::Value& v, std::string_view expected) {
  if (!first_) add(at, json::show(v) + " is not " + std::string(expected));
}

std::optional<std::uint64_t> find_word(std::span<const Word> words, std::string_view name) {
  for (const Word& w : words) {
    if (w.name == name) return w.value;
  }
  return {};
}

std::string list_of(std::span<const Word> words) {
  std::string all = "one of";
  for (const Word& w : words) {
    all += &w == words.data() ? " " : ", ";
    all += w.name;
  }
  return all;
}

ObjectReader::ObjectReader(const json::Value& v, const Place& at, Problems& found)
    : members_(v.as<json::Object>()), at_(at), found_(found), first_asked_(found.asked.size()) {
  if (members_ == nullptr) {
    found_.refuse(at, v, "an object");
    return;
  }
  for (const std::string& key : members_->keys) has_ |= mark_of(key);
}

const json::Value* ObjectReader::get_or_null(std::string_view key) {
  found_.asked.push_back(key);
  const json::Value* v = (has_ & mark_of(key)) == 0 ? nullptr : members_->find(key);
  const std::size_t at =
      v == nullptr ? most_bits : static_cast<std::size_t>(v - members_->values.data());
  if (at < most_bits) used_ |= std::uint64_t{1} << at;
  return v;
}

const json::Value* ObjectReader::get(std::string_view key) {
  const json::Value* v = get_or_null(key);
  return v == nullptr || v->is_null() ? nullptr : v;
}

void ObjectReader::refuse(std::string_view key, const json::Value& v, std::string_view expected) {
  found_.refuse(Place(at_, key), v, expected);
}

std::optional<std::uint64_t> ObjectReader::whole(std::string_view key, std::uint64_t low,
                                                 std::uint64_t high) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  const auto* number = v->as<std::uint64_t>();
  if (number != nullptr && *number >= low && *number <= high) return *number;
  refuse(key, *v, range_text(low, high));
  return {};
}

std::optional<std::uint32_t> ObjectReader::whole32(std::string_view key) {
  const auto number = whole(key, 0, std::numeric_limits<std::uint32_t>::max());
  if (!number) return {};
  return static_cast<std::uint32_t>(*number);
}

std::optional<std::uint64_t> ObjectReader::id(std::string_view key, std::uint64_t high) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  std::optional<std::uint64_t> number;
  if (const auto* text = v->as<std::string>()) number = hexadecimal(*text);
  if (const auto* plain = v->as<std::uint64_t>()) number = *plain;
  if (number && *number <= high) return number;
  refuse(key, *v, range_text(0, high) + ", or such a number as a text like \"0x10de\"");
  return {};
}

std::optional<std::uint64_t> ObjectReader::bytes(std::string_view key) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  if (const auto* number = v->as<std::uint64_t>()) return *number;
  const auto* text = v->as<std::string>();
  const std::optional<std::uint64_t> size = text != nullptr ? bytes_of(*text) : std::nullopt;
  if (size) return size;
  refuse(key, *v, "a size: whole bytes from 0 to 2^64-1, or a text such as \"16GiB\"");
  return {};
}

std::optional<double> ObjectReader::real(std::string_view key, double low, double high) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  std::optional<double> number;
  if (const auto* whole = v->as<std::uint64_t>()) number = static_cast<double>(*whole);
  if (const auto* other = v->as<json::Number>()) number = other->nearest;
  if (number && *number >= low && *number <= high) return number;
  refuse(key, *v, range_text(low, high));
  return {};
}

std::optional<bool> ObjectReader::truth(std::string_view key) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  if (const auto* b = v->as<bool>()) return *b;
  refuse(key, *v, "true or false");
  return {};
}

std::optional<std::string_view> ObjectReader::text(std::string_view key) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  if (const auto* s = v->as<std::string>()) return *s;
  refuse(key, *v, "a text");
  return {};
}

std::optional<std::uint32_t> ObjectReader::one_word(std::string_view key,
                                                    std::span<const Word> words) {
  const json::Value* v = get(key);
  if (v == nullptr) return {};
  const auto* name = v->as<std::string>();
  const auto found = name != nullptr ? find_word(words, *name) : std::nullopt;
  if (!found) refuse(key, *v, list_of(words));
  return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
}

std::optional<std::uint64_t> ObjectReader::any_words(std::string_view key,
                                                     std::span<const Word> words) {
  if (get(key) == nullptr) return {};
  std::uint64_t bits = 0;
  each(key, [&](const json::Value& v, const Place& here) {
    const auto* name = v.as<std::string>();
    const auto found = name != nullptr ? find_word(words, *name) : std::nullopt;
    if (!found) return found_.refuse(here, v, list_of(words));
    bits |= *found;
  });
  return bits;
}

std::size_t ObjectReader::length(std::string_view key) const noexcept {
  const json::Value* v = members_ == nullptr ? nullptr : members_->find(key);
  const auto* list = v != nullptr ? v->as<json::Array>() : nullptr;
  return list != nullptr ? list->items.size() : 0;
}

void ObjectReader::missing(std::string_view key, std::string_view expected) {
  found_.add(at_, "\"" + std::string(key) + "\" is missing: " + std::string(expected));
}

void ObjectReader::finish() {
  if (members_ == nullptr || found_.first()) return;
  const auto known = std::span<const std::string_view>(found_.asked).subspan(first_asked_);
  for (std::size_t i = 0; i < members_->keys.size(); ++i) {
    const std::string& key = members_->keys[i];
    if (i < most_bits && (used_ >> i & 1) != 0) continue;
    if (key == "comment" || std::ranges::find(known, key) != known.end()) continue;
    const json::Value shown{json::Value::Content(key)};
    found_.add(at_, "the key " + json::show(shown) + " is not known; " + advice_on(key, known));
  }
}

}  // namespace hmn::simulated
