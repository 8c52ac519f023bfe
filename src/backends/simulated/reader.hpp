// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Strict reader of a JSON document. It keeps the first error and its location.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/json.hpp"

namespace hmn::simulated {

// Parses "16GiB", "1.5 TiB" or "512 B" as bytes; returns nothing if it is malformed, not a whole
// number of bytes or does not fit 64 bits.
std::optional<std::uint64_t> bytes_of(std::string_view text);

inline constexpr std::uint32_t most32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t most64 = std::numeric_limits<std::uint64_t>::max();

// Location of a value: a chain of keys on the stack, which costs nothing unless an error is
// reported.
class Place {
 public:
  Place() = default;
  Place(const Place& parent, std::string_view key) : parent_(&parent), key_(key) {}
  Place(const Place& parent, std::size_t position) : parent_(&parent), position_(position) {}

  [[nodiscard]] std::string pointer() const;

 private:
  const Place* parent_ = nullptr;
  std::optional<std::string_view> key_;
  std::size_t position_ = 0;
};

struct Problem {
  std::string pointer;
  std::string sentence;
};

class Problems {
 public:
  void add(const Place& at, std::string sentence);
  void add_at(std::string pointer, std::string sentence);
  // Reports "<value> is not <expected>".
  void refuse(const Place& at, const json::Value& v, std::string_view expected);
  [[nodiscard]] const std::optional<Problem>& first() const noexcept { return first_; }
  // Keys that the current readers have asked for. A stack, since an object is read while its parent
  // is.
  std::vector<std::string_view> asked;

 private:
  std::optional<Problem> first_;
};

struct Word {
  std::string_view name;
  std::uint64_t value;
};

// Reads one object. A key that was never asked for is an error in finish(). A null member counts as
// absent.
class ObjectReader {
 public:
  ObjectReader(const json::Value& v, const Place& at, Problems& found);
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  ~ObjectReader() { found_.asked.resize(first_asked_); }

  [[nodiscard]] const Place& at() const noexcept { return at_; }
  [[nodiscard]] Problems& found() noexcept { return found_; }

  const json::Value* get(std::string_view key);
  const json::Value* get_or_null(std::string_view key);
  std::optional<std::uint64_t> whole(std::string_view key, std::uint64_t low, std::uint64_t high);
  std::optional<std::uint32_t> whole32(std::string_view key);
  // Accepts a text such as "0x10de", too.
  std::optional<std::uint64_t> id(std::string_view key, std::uint64_t high);
  std::optional<std::uint64_t> bytes(std::string_view key);
  std::optional<double> real(std::string_view key, double low, double high);
  std::optional<bool> truth(std::string_view key);
  std::optional<std::string_view> text(std::string_view key);
  std::optional<std::uint32_t> one_word(std::string_view key, std::span<const Word> words);
  // Reads a list of words: their values or-ed.
  std::optional<std::uint64_t> any_words(std::string_view key, std::span<const Word> words);

  // Returns the length of a list; 0 if it is none.
  [[nodiscard]] std::size_t length(std::string_view key) const noexcept;
  // Calls f(value, place) for each item of a list.
  template <class F>
  void each(std::string_view key, F f) {
    const json::Value* v = get(key);
    if (v == nullptr) return;
    const Place here(at_, key);
    const auto* list = v->as<json::Array>();
    if (list == nullptr) return found_.refuse(here, *v, "a list");
    for (std::size_t i = 0; i < list->items.size(); ++i) f(list->items[i], Place(here, i));
  }

  void missing(std::string_view key, std::string_view expected);
  void finish();

 private:
  void refuse(std::string_view key, const json::Value& v, std::string_view expected);

  const json::Object* members_;
  const Place& at_;
  Problems& found_;
  std::size_t first_asked_;
  std::uint64_t used_ = 0;  // bit n: member n was asked for; of the first 64
  std::uint64_t has_ = 0;   // marks of all members: most keys that are asked for are absent
};

std::optional<std::uint64_t> find_word(std::span<const Word> words, std::string_view name);
std::string list_of(std::span<const Word> words);

}  // namespace hmn::simulated
