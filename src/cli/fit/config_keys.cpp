// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

const json::value* language_part(const json::value& document) {
  for (const std::string_view name : {"text_config", "llm_config", "language_config"})
    if (const auto* part = document.find(name))
      if (part->members() != nullptr) return part;
  return &document;
}

// Accepts 64.0 as well.
std::optional<std::uint64_t> whole_of(const json::value& of) {
  const auto number = of.real();
  if (of.whole() || !number || !(*number >= 0) || *number > largest_size) return of.whole();
  const auto whole = static_cast<std::uint64_t>(*number);
  return static_cast<double>(whole) == *number ? std::optional(whole) : std::nullopt;
}

// Accepts a list with one equal value for each layer (Gemma 3n, Hunyuan).
std::optional<std::uint64_t> one_number(const json::value& of) {
  const auto* each = of.items();
  if (each == nullptr || each->empty()) return whole_of(of);
  const auto first = whole_of(each->front());
  const auto is_other = [&first](const json::value& one) { return whole_of(one) != first; };
  return std::any_of(each->begin(), each->end(), is_other) ? std::nullopt : first;
}

}  // namespace

config_keys::config_keys(const json::value& document)
    : document_(document), text_(language_part(document)) {
  if (const auto* type = text_->find("model_type"))
    if (type->text() != nullptr) type_ = *type->text();
  facts_ = facts_of_config(type_);
  note_duplicates(document_);
  if (is_nested()) note_duplicates(*text_);
}

void config_keys::note_duplicates(const json::value& in) {
  std::set<std::string_view> seen;
  for (const std::string& key : in.members()->keys)
    if (!seen.insert(key).second)
      noted.add(fmt::format("\"{}\" is there twice: the last one is counted", key),
                precision::about);
}

config_keys::entry config_keys::search(names keys) {
  for (const auto key : keys) read_.emplace(key);
  entry found;
  for (const auto* part :
       {text_, &document_, text_->find("attn_config"), text_->find("ffn_config")}) {
    if (part == nullptr || found.of != nullptr) continue;
    for (const auto key : keys) {
      const auto* there = part->find(key);
      if (there == nullptr) continue;
      if (found.of == nullptr) {
        found = {key, there};
      } else if (shown(*found.of) != shown(*there)) {
        noted.add(fmt::format("\"{}\" is {}, \"{}\" is {}: the former is counted", found.key,
                              shown(*found.of), key, shown(*there)),
                  precision::about);
      }
    }
  }
  return found;
}

std::optional<std::uint64_t> config_keys::find(names keys) {
  const auto [key, given] = search(keys);
  if (given == nullptr) {
    for (const auto each : keys)
      if (const auto usual = default_of(type_, each, is_nested())) {
        noted.add(fmt::format("\"{}\" is missing: {} is counted, the default of \"{}\"", each,
                              *usual, type_));
        return usual;
      }
    return std::nullopt;
  }
  const auto number = one_number(*given);
  if (number && *number <= largest_size) return number;
  refuse(fmt::format("\"{}\" is {}: expected a whole number up to {}", key, shown(*given),
                     largest_size));
  return std::nullopt;
}

std::uint64_t config_keys::taken(names keys, std::uint64_t otherwise, precision made) {
  if (const auto found = find(keys)) return *found;
  if (wrong_.empty())
    noted.add(fmt::format("\"{}\" is missing: {} is counted", *keys.begin(), otherwise), made);
  return otherwise;
}

std::uint64_t config_keys::needed(names keys) {
  const auto number = whole(keys);
  if (number != 0) return number;
  const auto [key, given] = search(keys);
  refuse(fmt::format("\"{}\" is {}: expected a whole number above 0",
                     given != nullptr ? key : *keys.begin(), given != nullptr ? "0" : "missing"));
  return 0;
}

std::optional<bool> config_keys::truth(std::string_view key) {
  const auto* found = value({key});
  if (found != nullptr && !found->truth())
    noted.add(fmt::format("\"{}\" is {}: expected true or false", key, shown(*found)),
              precision::about);
  return found != nullptr ? found->truth() : std::nullopt;
}

const std::string* config_keys::text(names keys) {
  const auto* found = value(keys);
  return found != nullptr ? found->text() : nullptr;
}

const std::vector<json::value>* config_keys::list(names keys) {
  const auto* found = value(keys);
  return found != nullptr ? found->items() : nullptr;
}

const std::vector<json::value>* config_keys::list_of_layers(names keys, std::size_t layers,
                                                            bool flags) {
  const auto [key, found] = search(keys);
  const auto* all = found != nullptr ? found->items() : nullptr;
  if (all != nullptr && all->size() < layers)
    noted.add(fmt::format("\"{}\" has {} values for {} layers", key, all->size(), layers),
              precision::about);
  const auto is_other = [](const json::value& each) { return each.whole().value_or(2) > 1; };
  if (all != nullptr && flags && std::any_of(all->begin(), all->end(), is_other))
    noted.add(fmt::format("\"{}\" has values other than 0 and 1", key), precision::about);
  return all;
}

const json::value* config_keys::object(names keys) {
  const auto* found = value(keys);
  return found != nullptr && found->members() != nullptr ? found : nullptr;
}

void config_keys::name_unread_of(const json::value* in) {
  if (in == nullptr || in->members() == nullptr) return;
  const json::object& all = *in->members();
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    const std::string& key = all.keys[i];
    if (!all.values[i].is_null() && read_.find(key) == read_.end() &&
        may_change_memory_in_config(key))
      noted.add(fmt::format("\"{}\" is not understood", key), precision::about);
  }
}

void config_keys::name_unread() {
  name_unread_of(text_);
  if (is_nested()) return;
  for (const std::string_view part : {"attn_config", "ffn_config", "linear_attn_config"})
    name_unread_of(text_->find(part));
}

void config_keys::refuse(std::string why) {
  if (wrong_.empty()) wrong_ = std::move(why);
}

}  // namespace hmn::cli::fit
