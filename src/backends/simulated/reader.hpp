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
std::optional<std::uint64_t> parse_bytes(std::string_view text);

inline constexpr std::uint32_t max_u32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();

// Location of a value: a chain of keys on the stack, which costs nothing unless an error is
// reported.
class JsonPath {
 public:
  JsonPath() = default;
  JsonPath(const JsonPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  JsonPath(const JsonPath& parent, std::size_t position) : parent_(&parent), position_(position) {}

  [[nodiscard]] std::string pointer() const;

 private:
  const JsonPath* parent_ = nullptr;
  std::optional<std::string_view> key_;
  std::size_t position_ = 0;
};

struct Problem {
  std::string pointer;
  std::string sentence;
};

class Problems {
 public:
  void add(const JsonPath& path, std::string sentence);
  void add_at_pointer(std::string pointer, std::string sentence);
  // Reports "<value> is not <expected>".
  void reject(const JsonPath& path, const json::Value& value, std::string_view expected);
  [[nodiscard]] const std::optional<Problem>& first() const noexcept { return first_; }
  // Keys requested by the current readers. A stack, since an object is read while its parent
  // is.
  std::vector<std::string_view> requested_keys;

 private:
  std::optional<Problem> first_;
};

struct Word {
  std::string_view name;
  std::uint64_t value;
};

// Reads one object. A key that was never requested is an error in finish(). A null member counts as
// absent.
class ObjectReader {
 public:
  ObjectReader(const json::Value& value, const JsonPath& path, Problems& problems);
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  ~ObjectReader() { problems_.requested_keys.resize(first_requested_); }

  [[nodiscard]] const JsonPath& path() const noexcept { return path_; }
  [[nodiscard]] Problems& problems() noexcept { return problems_; }

  const json::Value* get(std::string_view key);
  const json::Value* get_nullable(std::string_view key);
  std::optional<std::uint64_t> integer(std::string_view key, std::uint64_t low, std::uint64_t high);
  std::optional<std::uint32_t> integer32(std::string_view key);
  // Accepts a text such as "0x10de", too.
  std::optional<std::uint64_t> id(std::string_view key, std::uint64_t high);
  std::optional<std::uint64_t> bytes(std::string_view key);
  std::optional<double> real(std::string_view key, double low, double high);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string_view> text(std::string_view key);
  std::optional<std::uint32_t> choice(std::string_view key, std::span<const Word> words);
  // Reads a list of words: their values or-ed.
  std::optional<std::uint64_t> flags(std::string_view key, std::span<const Word> words);

  // Returns the length of a list; 0 if it is none.
  [[nodiscard]] std::size_t length(std::string_view key) const noexcept;
  // Calls visit(value, path) for each item of a list.
  template <class F>
  void for_each(std::string_view key, F visit) {
    const json::Value* value = get(key);
    if (value == nullptr) return;
    const JsonPath path(path_, key);
    const auto* list = value->get_if<json::Array>();
    if (list == nullptr) return problems_.reject(path, *value, "a list");
    for (std::size_t i = 0; i < list->items.size(); ++i) visit(list->items[i], JsonPath(path, i));
  }

  void report_missing(std::string_view key, std::string_view expected);
  void finish();

 private:
  void reject(std::string_view key, const json::Value& value, std::string_view expected);

  const json::Object* members_;
  const JsonPath& path_;
  Problems& problems_;
  std::size_t first_requested_;
  std::uint64_t read_mask_ = 0;  // bit n: member n was requested; of the first 64
  std::uint64_t key_marks_ = 0;  // marks of all members: most keys that are asked for are absent
};

std::optional<std::uint64_t> find_word(std::span<const Word> words, std::string_view name);
std::string format_choices(std::span<const Word> words);

}  // namespace hmn::simulated
