// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fit/architecture.hpp"
#include "cli/text/json.hpp"

namespace hmn::cli::fit {

using names = std::initializer_list<std::string_view>;  // spellings of one key in different models

// Keys of a config.json: those of its language model, then of the enclosing object, then of the
// nested ones of DBRX, MPT and Kimi Linear; and which of them have been read.
class config_keys {
 public:
  explicit config_keys(const json::value& document);

  const std::string& type() const { return type_; }
  const architecture_facts* facts() const { return facts_; }
  bool has(trait one) const { return facts_ != nullptr && (facts_->traits & one) != 0; }
  bool is_nested() const { return text_ != &document_; }

  // Returns none if no key is present; records an invalid value as the error.
  std::optional<std::uint64_t> find(names keys);
  std::uint64_t whole(names keys, std::uint64_t otherwise = 0) {
    return find(keys).value_or(otherwise);
  }
  // Reads a key that the file should have; says what is counted in its place.
  std::uint64_t taken(names keys, std::uint64_t otherwise, precision made = precision::counted);
  std::uint64_t needed(names keys);
  std::optional<bool> truth(std::string_view key);
  const std::string* text(names keys);
  const std::vector<json::value>* list(names keys);
  // Reads a list of a value for each layer; notes that it is shorter than the layers, or that it
  // has other numbers than 0 and 1.
  const std::vector<json::value>* list_of_layers(names keys, std::size_t layers,
                                                 bool flags = false);
  const json::value* object(names keys);
  const json::value* value(names keys) { return search(keys).of; }

  // Names the keys that may change the memory and that nothing has read.
  void name_unread();
  notes noted;

  void refuse(std::string why);
  const std::string& wrong() const { return wrong_; }

 private:
  struct entry {
    std::string_view key;
    const json::value* of = nullptr;
  };
  entry search(names keys);
  void note_duplicates(const json::value& in);
  void name_unread_of(const json::value* in);

  const json::value& document_;
  const json::value* text_;
  std::string type_;
  const architecture_facts* facts_ = nullptr;
  std::set<std::string, std::less<>> read_;
  std::string wrong_;
};

}  // namespace hmn::cli::fit
