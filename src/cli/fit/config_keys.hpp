// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/fit/json_tree.hpp"

namespace hmn::cli::fit {

using names = std::initializer_list<std::string_view>;  // spellings of one key in different models

// Keys of a config.json: those of its language model, then of the enclosing object, then the nested
// ones of DBRX and MPT.
class config_keys {
 public:
  explicit config_keys(const json_tree& document);

  const std::string& type() const { return type_; }
  bool is_any_of(names types) const { return is_any_of(std::span(types.begin(), types.size())); }
  bool is_any_of(std::span<const std::string_view> types) const;
  bool is_nested() const { return text_ != &document_; }

  // Returns none if no key is present; records an invalid value as the error.
  std::optional<std::uint64_t> find(names keys);
  std::uint64_t whole(names keys, std::uint64_t otherwise = 0) {
    return find(keys).value_or(otherwise);
  }
  std::uint64_t needed(names keys);
  std::optional<bool> truth(std::string_view key) const;
  const std::string* text(names keys) const;
  const json_tree::list* list(names keys) const;
  const json_tree* object(names keys) const;
  const json_tree* value(names keys) const { return search(keys).of; }

  void refuse(std::string why);
  const std::string& wrong() const { return wrong_; }

 private:
  struct entry {
    std::string_view key;
    const json_tree* of = nullptr;
  };
  entry search(names keys) const;
  std::optional<std::uint64_t> known_default(names keys) const;

  const json_tree& document_;
  const json_tree* text_;
  std::string type_;
  std::string wrong_;
};

}  // namespace hmn::cli::fit
