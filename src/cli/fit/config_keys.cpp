// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

constexpr std::uint64_t largest_size = 1u << 31;

// Defaults of transformers, for keys that published configurations omit.
struct default_value {
  std::string_view type;
  std::string_view key;
  std::uint64_t value;
  bool only_nested = false;  // in LLaVA and similar, whose text_config lists differences only
};
constexpr default_value defaults[] = {
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "vocab_size", 262208},
    {"gemma3_text", "max_position_embeddings", 131072},
    {"gemma3_text", "sliding_window_pattern", 6},
    {"cohere2", "sliding_window_pattern", 4},
    {"gemma", "head_dim", 256},
    {"gemma2", "head_dim", 256},
    {"llama", "hidden_size", 4096, true},
    {"llama", "intermediate_size", 11008, true},
    {"llama", "num_hidden_layers", 32, true},
    {"llama", "num_attention_heads", 32, true},
    {"mistral", "hidden_size", 4096, true},
    {"mistral", "intermediate_size", 14336, true},
    {"mistral", "num_hidden_layers", 32, true},
    {"mistral", "num_attention_heads", 32, true},
    {"mistral", "num_key_value_heads", 8, true},
    {"mistral", "vocab_size", 32000, true},
};

const json_tree* language_part(const json_tree& document) {
  for (const std::string_view name : {"text_config", "llm_config", "language_config"})
    if (const auto* part = document.find(name))
      if (part->members() != nullptr) return part;
  return &document;
}

// Accepts 64.0 as well.
std::optional<std::uint64_t> whole_of(const json_tree& of) {
  const auto number = of.number();
  if (of.whole() || !number || !(*number >= 0) || *number > largest_size) return of.whole();
  const auto whole = static_cast<std::uint64_t>(*number);
  return static_cast<double>(whole) == *number ? std::optional(whole) : std::nullopt;
}

// Accepts a list with one equal value for each layer (Gemma 3n, Hunyuan).
std::optional<std::uint64_t> one_number(const json_tree& of) {
  const auto* each = of.items();
  if (each == nullptr || each->empty()) return whole_of(of);
  const auto first = whole_of(each->front());
  const auto is_other = [&first](const json_tree& one) { return whole_of(one) != first; };
  return std::any_of(each->begin(), each->end(), is_other) ? std::nullopt : first;
}

}  // namespace

config_keys::config_keys(const json_tree& document)
    : document_(document), text_(language_part(document)) {
  if (const auto* type = text_->find("model_type"))
    if (type->text() != nullptr) type_ = *type->text();
}

bool config_keys::is_any_of(std::span<const std::string_view> types) const {
  for (const auto each : types)
    if (each == type_) return true;
  return false;
}

config_keys::entry config_keys::search(names keys) const {
  for (const auto* part :
       {text_, &document_, text_->find("attn_config"), text_->find("ffn_config")})
    for (const auto key : keys)
      if (const auto* there = part != nullptr ? part->find(key) : nullptr) return {key, there};
  return {};
}

std::optional<std::uint64_t> config_keys::known_default(names keys) const {
  for (const auto& each : defaults)
    for (const auto key : keys)
      if (each.type == type_ && each.key == key && (is_nested() || !each.only_nested))
        return each.value;
  return std::nullopt;
}

std::optional<std::uint64_t> config_keys::find(names keys) {
  const auto [key, given] = search(keys);
  if (given == nullptr) return known_default(keys);
  const auto number = one_number(*given);
  if (number && *number <= largest_size) return number;
  refuse(fmt::format("\"{}\" is {}: expected a whole number up to {}", key, given->shown(),
                     largest_size));
  return std::nullopt;
}

std::uint64_t config_keys::needed(names keys) {
  const auto number = whole(keys);
  if (number != 0) return number;
  const auto [key, given] = search(keys);
  refuse(fmt::format("\"{}\" is {}: expected a whole number above 0",
                     given != nullptr ? key : *keys.begin(), given != nullptr ? "0" : "missing"));
  return 0;
}

std::optional<bool> config_keys::truth(std::string_view key) const {
  const auto* found = value({key});
  return found != nullptr ? found->truth() : std::nullopt;
}

const std::string* config_keys::text(names keys) const {
  const auto* found = value(keys);
  return found != nullptr ? found->text() : nullptr;
}

const json_tree::list* config_keys::list(names keys) const {
  const auto* found = value(keys);
  return found != nullptr ? found->items() : nullptr;
}

const json_tree* config_keys::object(names keys) const {
  const auto* found = value(keys);
  return found != nullptr && found->members() != nullptr ? found : nullptr;
}

void config_keys::refuse(std::string why) {
  if (wrong_.empty()) wrong_ = std::move(why);
}

}  // namespace hmn::cli::fit
