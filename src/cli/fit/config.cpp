// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

const json::Value* find_language_part(const json::Value& document) {
  for (const std::string_view name : {"text_config", "llm_config", "language_config"})
    if (const auto* part = document.find(name))
      if (part->members() != nullptr) return part;
  return &document;
}

// Accepts 64.0 as well.
std::optional<std::uint64_t> parse_whole(const json::Value& value) {
  const auto number = value.real();
  if (value.integer() || !number || !(*number >= 0) || *number > max_size) return value.integer();
  const auto whole = static_cast<std::uint64_t>(*number);
  return static_cast<double>(whole) == *number ? std::optional(whole) : std::nullopt;
}

// Accepts a list with one equal value for each layer (Gemma 3n, Hunyuan).
std::optional<std::uint64_t> parse_uniform_number(const json::Value& value) {
  const auto* items = value.items();
  if (items == nullptr || items->empty()) return parse_whole(value);
  const auto first = parse_whole(items->front());
  const auto is_other = [&first](const json::Value& item) { return parse_whole(item) != first; };
  return std::any_of(items->begin(), items->end(), is_other) ? std::nullopt : first;
}

}  // namespace

ConfigKeys::ConfigKeys(const json::Value& document)
    : document_(document), language_part_(find_language_part(document)) {
  if (const auto* type = language_part_->find("model_type"))
    if (type->text() != nullptr) type_ = *type->text();
  facts_ = find_config_facts(type_);
  note_duplicates(document_);
  if (is_nested()) note_duplicates(*language_part_);
}

void ConfigKeys::note_duplicates(const json::Value& section) {
  std::set<std::string_view> unique_keys;
  for (const std::string& key : section.members()->keys)
    if (!unique_keys.insert(key).second)
      notes.add(fmt::format("\"{}\" is there twice: the last one is counted", key),
                Precision::about);
}

ConfigKeys::Entry ConfigKeys::search(KeyNames keys) {
  for (const auto key : keys) read_keys_.emplace(key);
  Entry match;
  for (const auto* part : {language_part_, &document_, language_part_->find("attn_config"),
                           language_part_->find("ffn_config")}) {
    if (part == nullptr || match.value != nullptr) continue;
    for (const auto key : keys) {
      const auto* value = part->find(key);
      if (value == nullptr) continue;
      if (match.value == nullptr) {
        match = {key, value};
      } else if (abbreviate(*match.value) != abbreviate(*value)) {
        notes.add(fmt::format("\"{}\" is {}, \"{}\" is {}: the former is counted", match.key,
                              abbreviate(*match.value), key, abbreviate(*value)),
                  Precision::about);
      }
    }
  }
  return match;
}

std::optional<std::uint64_t> ConfigKeys::find(KeyNames keys) {
  const auto [key, value] = search(keys);
  if (value == nullptr) {
    for (const auto spelling : keys)
      if (const auto default_value = find_default(type_, spelling, is_nested())) {
        notes.add(fmt::format("\"{}\" is missing: {} is counted, the default of \"{}\"", spelling,
                              *default_value, type_));
        return default_value;
      }
    return std::nullopt;
  }
  const auto number = parse_uniform_number(*value);
  if (number && *number <= max_size) return number;
  refuse(fmt::format("\"{}\" is {}: expected a whole number up to {}", key, abbreviate(*value),
                     max_size));
  return std::nullopt;
}

std::uint64_t ConfigKeys::read_or_default(KeyNames keys, std::uint64_t fallback,
                                          Precision precision) {
  if (const auto number = find(keys)) return *number;
  if (error_.empty())
    notes.add(fmt::format("\"{}\" is missing: {} is counted", *keys.begin(), fallback), precision);
  return fallback;
}

std::uint64_t ConfigKeys::require(KeyNames keys) {
  const auto number = find_size(keys);
  if (!number)
    refuse(fmt::format("\"{}\" is missing: expected a whole number above 0", *keys.begin()));
  return number.value_or(0);
}

std::optional<std::uint64_t> ConfigKeys::find_size(KeyNames keys) {
  const auto number = find(keys);
  if (number == 0u)
    refuse(fmt::format("\"{}\" is 0: expected a whole number above 0", search(keys).key));
  return number;
}

std::optional<bool> ConfigKeys::truth(std::string_view key) {
  const auto* member = value({key});
  if (member != nullptr && !member->boolean())
    notes.add(fmt::format("\"{}\" is {}: expected true or false", key, abbreviate(*member)),
              Precision::about);
  return member != nullptr ? member->boolean() : std::nullopt;
}

const std::string* ConfigKeys::text(KeyNames keys) {
  const auto* member = value(keys);
  return member != nullptr ? member->text() : nullptr;
}

const std::vector<json::Value>* ConfigKeys::list(KeyNames keys) {
  const auto* member = value(keys);
  return member != nullptr ? member->items() : nullptr;
}

const std::vector<json::Value>* ConfigKeys::layer_list(KeyNames keys, std::size_t layers,
                                                       bool flags) {
  const auto [key, value] = search(keys);
  const auto* items = value != nullptr ? value->items() : nullptr;
  if (items != nullptr && items->empty()) return nullptr;
  if (items != nullptr && items->size() < layers)
    notes.add(fmt::format("\"{}\" has {} values for {} layers: they are repeated", key,
                          items->size(), layers),
              layers % items->size() == 0 ? Precision::counted : Precision::about);
  const auto is_other = [](const json::Value& item) { return item.integer().value_or(2) > 1; };
  if (items != nullptr && flags && std::any_of(items->begin(), items->end(), is_other))
    notes.add(fmt::format("\"{}\" has values other than 0 and 1", key), Precision::about);
  return items;
}

const json::Value* ConfigKeys::object(KeyNames keys) {
  const auto* member = value(keys);
  return member != nullptr && member->members() != nullptr ? member : nullptr;
}

void ConfigKeys::note_unread_members(const json::Value* section, std::string& unknown_keys) {
  if (section == nullptr || section->members() == nullptr) return;
  const json::Object& members = *section->members();
  for (std::size_t i = 0; i < members.keys.size(); ++i) {
    const std::string& key = members.keys[i];
    if (members.values[i].is_null() || read_keys_.find(key) != read_keys_.end()) continue;
    if (may_change_memory_in_config(key))
      notes.add(fmt::format("\"{}\" is not understood", key), Precision::about);
    else if (is_unknown_in_config(key) && members.values[i].text() == nullptr)
      unknown_keys += fmt::format("{}\"{}\"", unknown_keys.empty() ? "" : ", ", key);
  }
}

void ConfigKeys::note_unread_keys() {
  std::string unknown_keys;
  note_unread_members(language_part_, unknown_keys);
  if (!is_nested())
    for (const std::string_view part : {"attn_config", "ffn_config", "linear_attn_config"})
      note_unread_members(language_part_->find(part), unknown_keys);
  if (!unknown_keys.empty())
    notes.add(fmt::format("keys that are not known, and not used: {}", unknown_keys));
}

void ConfigKeys::refuse(std::string reason) {
  if (error_.empty()) error_ = std::move(reason);
}

namespace {

struct NamedMixer {
  std::string_view name;
  Mixer mixer;
  std::uint64_t ratio = 0;
};
// Values of layer_types and layers_block_type.
constexpr NamedMixer mixers[] = {
    {"full_attention", Mixer::attention},
    {"attention", Mixer::attention},
    {"global_attention", Mixer::attention},
    {"sliding_attention", Mixer::window},
    {"sliding_window_attention", Mixer::window},
    {"local_attention", Mixer::window},
    {"chunked_attention", Mixer::window},
    {"compressed_sparse_attention", Mixer::window, 4},
    {"heavily_compressed_attention", Mixer::window, 128},
    {"linear_attention", Mixer::linear},
    {"mamba", Mixer::mamba},
    {"mamba2", Mixer::mamba},
    {"ssm", Mixer::mamba},
    {"lightning_attention", Mixer::linear},
    {"kda", Mixer::linear},
    {"conv", Mixer::convolution},
    {"hybrid", Mixer::both},
    {"moe", Mixer::none},
    {"mlp", Mixer::none},
};

const NamedMixer* find_mixer(const std::string& name) {
  for (const auto& entry : mixers)
    if (entry.name == name) return &entry;
  return nullptr;
}

bool contains_number(const std::vector<json::Value>* list, std::size_t number) {
  return list != nullptr &&
         std::any_of(list->begin(), list->end(),
                     [number](const json::Value& item) { return item.integer() == number; });
}

// A list that is shorter than the layers is repeated.
const json::Value& find_layer_value(const std::vector<json::Value>& list, std::size_t layer) {
  return list[layer % list.size()];
}

std::uint64_t read_kv_heads(ConfigKeys& keys, std::uint64_t heads) {
  const auto kv_heads =
      keys.find_size({"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads"});
  const bool uses_kv_heads =
      !keys.has(one_kv_head) || keys.truth("new_decoder_architecture").value_or(false);
  const auto multi_query_attention = keys.truth("multi_query_attention");
  const auto groups = keys.find_size({"multi_query_group_num"}).value_or(1);
  const auto multi_query = keys.truth("multi_query");
  if (kv_heads && uses_kv_heads) return *kv_heads;
  if (multi_query_attention.value_or(false)) return groups;
  if (multi_query.value_or(false)) return 1;
  const bool has_none = keys.whole({"kv_lora_rank"}) != 0 || keys.has(every_layer_mamba);
  if (!kv_heads && !multi_query_attention && !multi_query && !has_none)
    keys.notes.add(fmt::format("\"num_key_value_heads\" is missing: {} is counted", heads));
  return heads;
}

AttentionShape read_attention_shape(ConfigKeys& keys, std::uint64_t hidden_size) {
  AttentionShape shape;
  shape.heads = keys.whole({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  if (shape.heads == 0) return shape;
  shape.kv_heads = read_kv_heads(keys, shape.heads);
  shape.key_size = keys.find_size({"head_dim", "kv_channels", "attention_head_dim"})
                       .value_or(hidden_size / shape.heads);
  if (shape.key_size == 0)
    keys.refuse(
        fmt::format("{} heads: expected at most {}, the hidden size", shape.heads, hidden_size));
  // 0 in DeepSeek-OCR, whose attention is not latent.
  const auto value = keys.whole({"v_head_dim"});
  shape.value_size = value != 0 ? value : shape.key_size;
  return shape;
}

class Planner {
 public:
  explicit Planner(ConfigKeys& keys) : keys_(keys) {}

  std::vector<Block> plan() {
    const auto count = keys_.require({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    if (count > max_layers)
      keys_.refuse(
          fmt::format("\"num_hidden_layers\" is {}: expected at most {}", count, max_layers));
    if (!keys_.error().empty()) return {};
    count_ = static_cast<std::size_t>(count);
    read();
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < count_ && keys_.error().empty(); ++i)
      blocks.push_back(make_block(i));
    note_disagreements(blocks);
    return blocks;
  }

 private:
  void read() {
    layer_types_ = keys_.layer_list({"layer_types", "layers_block_type"}, count_);
    has_single_functions_ =
        layer_types_ != nullptr &&
        std::any_of(layer_types_->begin(), layer_types_->end(), [](const json::Value& item) {
          return item.text() != nullptr && (*item.text() == "moe" || *item.text() == "mlp");
        });
    letters_ = keys_.text({"hybrid_override_pattern"});
    if (letters_ != nullptr && letters_->size() < count_)
      keys_.refuse(
          fmt::format("the list of layers has {} entries: expected {}", letters_->size(), count_));
    is_latent_ = keys_.whole({"kv_lora_rank"}) != 0;
    expert_count_ = read_expert_shape(keys_).count;
    read_shapes();
    read_rules();
    read_feed_forward();
    read_window();
  }

  // MiMo has other heads in layers with a window, Gemma 4 in the others.
  void read_shapes() {
    full_shape_ = window_shape_ = read_attention_shape(keys_, read_hidden_size(keys_));
    window_shape_.heads =
        keys_.find_size({"swa_num_attention_heads"}).value_or(window_shape_.heads);
    window_shape_.kv_heads =
        keys_.find_size({"swa_num_key_value_heads"}).value_or(window_shape_.kv_heads);
    window_shape_.key_size = keys_.find_size({"swa_head_dim"}).value_or(window_shape_.key_size);
    window_shape_.value_size =
        keys_.find_size({"swa_v_head_dim"}).value_or(window_shape_.value_size);
    full_shape_.key_size = keys_.find_size({"global_head_dim"}).value_or(full_shape_.key_size);
    if (full_shape_.key_size != window_shape_.key_size && keys_.value({"v_head_dim"}) == nullptr)
      full_shape_.value_size = full_shape_.key_size;
    const auto global = keys_.whole({"num_global_key_value_heads"});
    if (keys_.truth("attention_k_eq_v").value_or(false) && global != 0)
      full_shape_.kv_heads = global;
  }

  void read_rules() {
    const auto read_flags = [this](KeyNames keys) { return keys_.layer_list(keys, count_, true); };
    compress_ratios_ = keys_.layer_list({"compress_ratios"}, count_);
    attention_types_ = read_flags({"attn_type_list"});
    window_flags_ = read_flags({"hybrid_layer_pattern", "sliding_window_layout"});
    const auto* rope_flags = read_flags({"no_rope_layers"});
    if (keys_.facts() == nullptr || keys_.facts()->window.is_chunked) rope_flags_ = rope_flags;
    attention_layers_ = keys_.list({"attn_layer_indices", "full_attn_idxs"});
    attention_period_ = keys_.whole({"attn_layer_period"});
    attention_offset_ =
        attention_period_ != 0 ? keys_.read_or_default({"attn_layer_offset"}, 0) : 0;
    const auto* linear_config = keys_.object({"linear_attn_config"});
    if (linear_config != nullptr) {
      keys_.list({"full_attn_layers", "kda_layers"});  // marks them as read
      const auto* full = linear_config->find("full_attn_layers");
      full_attention_layers_ = full != nullptr ? full->items() : nullptr;
      if (full_attention_layers_ == nullptr)
        keys_.notes.add("\"full_attn_layers\" is missing: attention in every layer is counted",
                        Precision::about);
    }
    const bool has_interval =
        keys_.facts() != nullptr && keys_.facts()->state_rule == StateRule::interval;
    full_attention_interval_ = has_interval && layer_types_ == nullptr
                                   ? keys_.read_or_default({"full_attention_interval"}, 4)
                                   : keys_.whole({"full_attention_interval", "layer_group_size"});
  }

  void read_feed_forward() {
    mlp_types_ = keys_.layer_list({"mlp_layer_types"}, count_);
    const auto sharing_layers = keys_.whole({"num_kv_shared_layers"});
    if (keys_.truth("use_double_wide_mlp").value_or(false)) sharing_layers_ = sharing_layers;
    leading_dense_layers_ =
        keys_.whole({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"});
    last_expert_layer_ = keys_.whole({"moe_layer_end_index"}, count_);
    dense_layers_ = keys_.list({"mlp_only_layers"});
    expert_layers_ = keys_.list({"moe_layers"});
    expert_period_ = keys_.whole({"expert_layer_period"});
    expert_offset_ = expert_period_ != 0 ? keys_.read_or_default({"expert_layer_offset"}, 0) : 0;
    expert_step_ =
        keys_.whole({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"});
    const auto* frequency = keys_.value({"moe_layer_freq"});
    expert_frequency_ = frequency != nullptr ? frequency->integer().value_or(0) : 0;
    expert_flags_ = keys_.layer_list({"moe_layer_freq", "moe_layer_layout"}, count_, true);
  }

  void read_window() {
    const bool is_chunked = keys_.facts() != nullptr && keys_.facts()->window.is_chunked;
    window_ = is_chunked
                  ? keys_.whole({"attention_chunk_size"})
                  : keys_.whole({"sliding_window", "sliding_window_size", "attention_chunk_size"});
    const auto is_enabled = keys_.truth("use_sliding_window");
    first_window_layer_ = keys_.whole({"max_window_layers"});
    read_window_pattern();
    if (!is_enabled.value_or(!keys_.has(window_needs_switch))) window_ = 0;
    if (keys_.facts() != nullptr) window_rule_ = keys_.facts()->window;
    if (window_period_ != 0) window_rule_.period = static_cast<std::uint32_t>(window_period_);
    all_have_window_ = is_enabled.value_or(false) || keys_.has(window_everywhere);
    const bool is_listed = layer_types_ != nullptr || letters_ != nullptr ||
                           window_flags_ != nullptr || rope_flags_ != nullptr || is_latent_ ||
                           !window_pattern_.empty();
    if (window_ != 0 && !is_listed && window_period_ == 0 && window_rule_.period != 0 &&
        window_rule_.period != WindowRule::all)
      keys_.notes.add(fmt::format("one of {} layers has no window, as in every \"{}\"",
                                  window_rule_.period, keys_.type()));
    if (window_ == 0 || is_listed || window_rule_.period != 0 || all_have_window_) return;
    keys_.notes.add(
        fmt::format("the sliding window of {} tokens is not counted on: the configuration does "
                    "not give the layers that have it",
                    window_),
        Precision::about);
  }

  // A period as a number, or one letter or flag for each of its layers: "LLLG".
  void read_window_pattern() {
    const KeyNames names = {"sliding_window_pattern", "_sliding_window_pattern"};
    if (const auto* letters = keys_.text(names)) {
      for (const char letter : *letters) window_pattern_.push_back(letter == 'L' || letter == 'S');
      if (letters->find_first_not_of("LSGF") != std::string::npos || letters->empty())
        keys_.refuse(
            fmt::format("\"sliding_window_pattern\" is \"{}\": expected L or S for layers "
                        "with a window, G or F for others",
                        *letters));
    } else if (const auto* flags = keys_.layer_list(names, count_, true)) {
      for (const auto& flag : *flags)
        window_pattern_.push_back(flag.boolean().value_or(flag.integer() == 1));
    } else {
      window_period_ = keys_.whole(names);
    }
  }

  Block make_block(std::size_t index) {
    Block block;
    if (letters_ != nullptr) {
      block = parse_letter((*letters_)[index]);
      block.shape = full_shape_;
      return block;
    }
    block.mixer = choose_mixer(index, block.ratio);
    if (compress_ratios_ != nullptr)
      block.ratio = find_layer_value(*compress_ratios_, index).integer().value_or(0);
    if (block.mixer == Mixer::window) block.window = window_;
    if (block.mixer == Mixer::window && window_ == 0) {
      block.mixer = Mixer::attention;
      keys_.notes.add(
          "layers with a window are counted as full attention: its length is not specified",
          Precision::about);
    }
    block.shape = block.window != 0 ? window_shape_ : full_shape_;
    if (block.mixer == Mixer::attention && is_latent_) block.mixer = Mixer::latent;
    block.feed_forward = choose_feed_forward(index);
    if (has_single_functions_) block.feed_forward = choose_only_feed_forward(index);
    if (index + sharing_layers_ >= count_) block.width_factor = 2;
    return block;
  }

  FeedForward choose_only_feed_forward(std::size_t index) const {
    const auto* type = find_layer_value(*layer_types_, index).text();
    if (type == nullptr) return FeedForward::none;
    if (*type == "moe") return FeedForward::experts;
    return *type == "mlp" ? FeedForward::dense : FeedForward::none;
  }

  // Nemotron-H: each layer has a single function.
  Block parse_letter(char letter) {
    if (letter == 'M') return {Mixer::mamba, FeedForward::none, {}, 0, 0};
    if (letter == '*') return {Mixer::attention, FeedForward::none, {}, 0, 0};
    if (letter == '-') return {Mixer::none, FeedForward::dense, {}, 0, 0};
    if (letter == 'E') return {Mixer::none, FeedForward::experts, {}, 0, 0};
    keys_.refuse(fmt::format("\"hybrid_override_pattern\": '{}': expected M, *, - or E", letter));
    return {};
  }

  Mixer choose_mixer(std::size_t index, std::uint64_t& ratio) {
    if (layer_types_ != nullptr)
      return parse_layer_type(find_layer_value(*layer_types_, index), ratio);
    if (keys_.has(every_layer_mamba)) return Mixer::mamba;
    if (keys_.has(every_layer_both)) return Mixer::both;
    if (full_attention_layers_ != nullptr)  // counted from 1
      return contains_number(full_attention_layers_, index + 1) ? Mixer::attention : Mixer::linear;
    if (attention_period_ != 0)
      return index % attention_period_ == attention_offset_ ? Mixer::attention : Mixer::mamba;
    if (attention_layers_ != nullptr)
      return contains_number(attention_layers_, index) ? Mixer::attention : alternative_mixer();
    if (attention_types_ != nullptr)
      return find_layer_value(*attention_types_, index).integer() == 0 ? Mixer::linear
                                                                       : Mixer::attention;
    if (window_flags_ != nullptr)
      return find_layer_value(*window_flags_, index).integer() == 1 ? Mixer::window
                                                                    : Mixer::attention;
    if (rope_flags_ != nullptr)
      return find_layer_value(*rope_flags_, index).integer() == 1 ? Mixer::window
                                                                  : Mixer::attention;
    if (full_attention_interval_ != 0 && index >= count_ - count_ % full_attention_interval_ &&
        keys_.value({"layer_group_size"}) != nullptr)
      return Mixer::attention;  // layers after the last whole group
    if (full_attention_interval_ != 0)
      return (index + 1) % full_attention_interval_ == 0 ? Mixer::attention : Mixer::linear;
    return has_window(index) ? Mixer::window : Mixer::attention;
  }

  Mixer alternative_mixer() const {
    return keys_.facts() != nullptr && keys_.facts()->state == StateKind::convolution
               ? Mixer::convolution
               : Mixer::mamba;
  }

  bool has_window(std::size_t index) const {
    if (window_ == 0) return false;
    if (!window_pattern_.empty()) return window_pattern_[index % window_pattern_.size()];
    return window_rule_.period != 0 ? window_rule_.has_window(index)
                                    : all_have_window_ && index >= first_window_layer_;
  }

  Mixer parse_layer_type(const json::Value& word, std::uint64_t& ratio) {
    const auto* name = word.text();
    if (name == nullptr) {
      keys_.refuse(fmt::format("\"layer_types\": {}: expected a text", abbreviate(word)));
      return Mixer::attention;
    }
    if (const auto* entry = find_mixer(*name)) {
      ratio = entry->ratio;
      return entry->mixer;
    }
    keys_.notes.add(fmt::format("layers of type \"{}\" are counted as full attention", *name),
                    Precision::about);
    return Mixer::attention;
  }

  // A list of layers and a rule for them describe the same fact, and can disagree.
  void note_disagreements(const std::vector<Block>& blocks) {
    if (layer_types_ == nullptr) return;
    const auto differs = [&blocks](std::uint64_t period, Mixer mixer) {
      for (std::size_t i = 0; i < blocks.size(); ++i)
        if (((i + 1) % period != 0) != (blocks[i].mixer == mixer)) return true;
      return false;
    };
    if (full_attention_interval_ != 0 && differs(full_attention_interval_, Mixer::linear))
      keys_.notes.add(fmt::format("\"full_attention_interval\" {} does not agree with the list of "
                                  "layers, which is counted",
                                  full_attention_interval_),
                      Precision::about);
    if (window_period_ != 0 && window_ != 0 && differs(window_period_, Mixer::window))
      keys_.notes.add(fmt::format("\"sliding_window_pattern\" {} does not agree with the list of "
                                  "layers, which is counted",
                                  window_period_),
                      Precision::about);
  }

  FeedForward choose_feed_forward(std::size_t index) const {
    if (keys_.has(every_layer_mamba)) return FeedForward::none;
    if (expert_count_ <= 1) return FeedForward::dense;
    if (mlp_types_ != nullptr) {
      const auto* type = find_layer_value(*mlp_types_, index).text();
      return experts_or_dense(type == nullptr || *type != "dense");
    }
    if (index < leading_dense_layers_ || index > last_expert_layer_ ||
        contains_number(dense_layers_, index))
      return FeedForward::dense;
    if (expert_layers_ != nullptr && !expert_layers_->empty())
      return experts_or_dense(contains_number(expert_layers_, index));
    if (expert_period_ != 0) return experts_or_dense(index % expert_period_ == expert_offset_);
    if (expert_step_ != 0) return experts_or_dense((index + 1) % expert_step_ == 0);
    if (expert_frequency_ != 0) return experts_or_dense(index % expert_frequency_ == 0);
    if (expert_flags_ != nullptr)
      return experts_or_dense(find_layer_value(*expert_flags_, index).integer() != 0);
    return FeedForward::experts;
  }
  static FeedForward experts_or_dense(bool has_experts) {
    return has_experts ? FeedForward::experts : FeedForward::dense;
  }

  ConfigKeys& keys_;
  std::size_t count_ = 0;
  AttentionShape full_shape_;
  AttentionShape window_shape_;
  const std::vector<json::Value>* layer_types_ = nullptr;
  const std::string* letters_ = nullptr;
  const std::vector<json::Value>* compress_ratios_ = nullptr;
  const std::vector<json::Value>* attention_types_ = nullptr;  // 0: linear attention
  const std::vector<json::Value>* window_flags_ = nullptr;     // 1: a window
  const std::vector<json::Value>* rope_flags_ = nullptr;       // 1: a chunk
  const std::vector<json::Value>* attention_layers_ = nullptr;
  const std::vector<json::Value>* full_attention_layers_ = nullptr;
  std::uint64_t attention_period_ = 0;
  std::uint64_t attention_offset_ = 0;
  std::uint64_t full_attention_interval_ = 0;
  std::uint64_t expert_count_ = 0;
  const std::vector<json::Value>* mlp_types_ = nullptr;
  const std::vector<json::Value>* dense_layers_ = nullptr;
  const std::vector<json::Value>* expert_layers_ = nullptr;
  const std::vector<json::Value>* expert_flags_ = nullptr;
  std::uint64_t leading_dense_layers_ = 0;
  std::uint64_t last_expert_layer_ = 0;
  std::uint64_t expert_period_ = 0;
  std::uint64_t expert_offset_ = 0;
  std::uint64_t expert_step_ = 0;
  std::uint64_t expert_frequency_ = 0;
  std::uint64_t window_ = 0;
  std::uint64_t first_window_layer_ = 0;
  std::vector<bool> window_pattern_;
  bool has_single_functions_ = false;  // a layer has either attention, a state or a network
  std::uint64_t sharing_layers_ = 0;   // the last ones, whose network may be of twice the width
  std::uint64_t window_period_ = 0;    // the last of this many layers has full attention
  WindowRule window_rule_;
  bool all_have_window_ = false;
  bool is_latent_ = false;
};

// Takes the larger value, as the length may already include the extension; an upper bound is safe.
std::uint64_t read_context_length(ConfigKeys& keys) {
  std::uint64_t length = 0;
  for (const std::string_view name :
       {"max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len",
        "seq_length", "n_ctx", "model_max_length"})
    length = std::max(length, keys.whole({name}));
  const auto* scaling = keys.object({"rope_scaling", "rope_parameters"});
  if (scaling == nullptr) return length;
  const auto* original = scaling->find("original_max_position_embeddings");
  const auto* factor = scaling->find("factor");
  const auto base = original != nullptr ? original->integer().value_or(0) : 0;
  const auto scale = factor != nullptr ? factor->real().value_or(1) : 1;
  if (base == 0 || base > 1u << 31 || !(scale > 1) || scale > 1e6) return length;
  return std::max(length, static_cast<std::uint64_t>(static_cast<double>(base) * scale));
}

class ConfigReader {
 public:
  explicit ConfigReader(ConfigKeys& keys) : keys_(keys) {}

  Expected<ModelConfig> read() {
    if (keys_.truth("is_encoder_decoder").value_or(false))
      keys_.refuse("\"is_encoder_decoder\" is true: expected a model that is a decoder alone");
    const bool is_decoder = keys_.truth("is_decoder").value_or(false);
    if (keys_.facts() != nullptr && !keys_.facts()->refusal.empty() &&
        !(keys_.has(encoder) && is_decoder))
      keys_.refuse(fmt::format("model type \"{}\" is {}: expected a model that is a decoder",
                               keys_.type(), keys_.facts()->refusal));
    if (keys_.facts() == nullptr) refuse_other_models();
    config_.architecture.type = keys_.type();
    hidden_size_ = read_hidden_size(keys_);
    const auto blocks = Planner(keys_).plan();
    read_indexer(blocks.size());
    for (std::size_t i = 0; i < blocks.size() && keys_.error().empty(); ++i)
      config_.architecture.layers.push_back(make_layer(blocks[i], i));
    share_caches();
    read_sizes(blocks);
    if (keys_.error().empty()) config_.parameters = count_parameters(keys_, blocks);
    config_.storage = read_storage(keys_);
    note_unknowns();
    keys_.note_unread_keys();
    if (!keys_.error().empty()) return make_failure(keys_.error());
    config_.architecture.notes = std::move(keys_.notes);
    return std::move(config_);
  }

 private:
  // Models of an unknown type that their keys show to be no decoder.
  void refuse_other_models() {
    const auto refuse = [this](std::string_view key, std::string_view kind) {
      if (keys_.value({key}) != nullptr)
        keys_.refuse(
            fmt::format("\"{}\" belongs to {}: expected a model that is a decoder", key, kind));
    };
    for (const std::string_view key : {"_class_name", "_diffusers_version"})
      refuse(key, "a diffusion model");
    for (const std::string_view key : {"encoder_layers", "num_encoder_layers", "num_decoder_layers",
                                       "encoder_attention_heads", "d_kv"})
      refuse(key, "an encoder and a decoder");
    for (const std::string_view key :
         {"rescale_every", "attention_hidden_size", "wkv_version", "decay_low_rank_dim"})
      refuse(key, "a recurrent model that vLLM does not run");
    if (keys_.value({"vocab_size", "padded_vocab_size"}) == nullptr)
      for (const std::string_view key : {"image_size", "patch_size", "num_channels"})
        refuse(key, "an image model: no language layers");
    const auto* names = keys_.list({"architectures"});
    if (names == nullptr || names->empty() || names->front().text() == nullptr) return;
    const std::string& name = *names->front().text();
    for (const std::string_view end : {"ForMaskedLM", "ForImageClassification", "ForCTC",
                                       "ForSequenceClassification", "ForTokenClassification"})
      if (name.ends_with(end))
        keys_.refuse(
            fmt::format("\"architectures\" is {}: expected a model that is a decoder", name));
  }

  void read_indexer(std::size_t layers) {
    indexer_size_ = keys_.whole({"index_head_dim"});
    indexer_types_ = keys_.layer_list({"indexer_types"}, layers);
  }

  Layer make_layer(const Block& block, std::size_t index) {
    Layer layer;
    layer.state_size = read_recurrence(keys_, block.mixer, hidden_size_).state_size;
    const bool is_recurrent = block.mixer == Mixer::mamba || block.mixer == Mixer::both ||
                              block.mixer == Mixer::linear || block.mixer == Mixer::convolution;
    if (is_recurrent && layer.state_size == 0)
      keys_.notes.add("the size of the recurrent layers' states is not known: they are not counted",
                      Precision::at_least);
    if (block.mixer == Mixer::latent && keys_.has(whole_keys)) {
      layer.cache = CacheKind::full;
      layer.kv_heads = block.shape.heads;
      layer.key_size = layer.value_size =
          saturating_sum(keys_.whole({"qk_nope_head_dim"}), keys_.require({"qk_rope_head_dim"}));
    } else if (block.mixer == Mixer::latent) {
      layer.cache = CacheKind::latent;
      layer.key_size =
          saturating_sum(keys_.require({"kv_lora_rank"}), keys_.require({"qk_rope_head_dim"}));
      const auto* type =
          indexer_types_ != nullptr ? find_layer_value(*indexer_types_, index).text() : nullptr;
      if (type == nullptr || *type != "shared") layer.extra_size = indexer_size_;
    }
    const bool has_attention = block.mixer == Mixer::attention || block.mixer == Mixer::window ||
                               block.mixer == Mixer::both;
    if (!has_attention) return layer;
    keys_.require({"num_attention_heads", "n_head", "n_heads", "num_heads"});
    layer.cache = block.window != 0 ? CacheKind::window : CacheKind::full;
    layer.kv_heads = block.shape.kv_heads;
    layer.key_size = block.shape.key_size;
    layer.value_size = block.shape.value_size;
    layer.window = block.window;
    layer.is_chunked = keys_.facts() != nullptr && keys_.facts()->window.is_chunked;
    if (block.ratio != 0) compress(layer, block.ratio);
    return layer;
  }

  // DeepSeek-V4: keys serve as values, and each group of `ratio` tokens has another, compressed
  // key.
  void compress(Layer& layer, std::uint64_t ratio) {
    layer.cache = CacheKind::latent;
    layer.key_size = saturating_product(layer.kv_heads, layer.key_size);
    layer.value_size = 0;
    layer.extra_size = saturating_sum(layer.key_size, ratio == 4 ? indexer_size_ : 0);
    layer.tokens_per_extra = ratio;
    keys_.notes.add("compressed keys are counted without the state of what compresses them",
                    Precision::at_least);
  }

  // Handles Gemma 3n, whose last layers reuse the caches of earlier ones.
  void share_caches() {
    auto& layers = config_.architecture.layers;
    const auto shared_count =
        std::min<std::uint64_t>(keys_.whole({"num_kv_shared_layers"}), layers.size());
    for (std::uint64_t i = 0; i < shared_count; ++i)
      layers[layers.size() - 1 - i].cache = CacheKind::none;
  }

  void read_sizes(const std::vector<Block>& blocks) {
    auto& architecture = config_.architecture;
    architecture.hidden_size = hidden_size_;
    for (const auto& block : blocks)
      architecture.head_count = std::max(architecture.head_count, block.shape.heads);
    const auto experts = read_expert_shape(keys_);
    const bool has_dense = std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
      return block.feed_forward == FeedForward::dense;
    });
    architecture.feed_forward_size = saturating_sum(has_dense ? read_feed_forward_size(keys_) : 0,
                                                    saturating_product(experts.size, experts.used),
                                                    experts.shared_size, experts.count);
    architecture.vocabulary_size = keys_.whole({"vocab_size", "padded_vocab_size"});
    if (const auto context = read_context_length(keys_)) architecture.context_length = context;
  }

  void note_unknowns() {
    auto& notes = config_.storage.notes;
    for (const std::string_view part : {"vision_config", "audio_config", "visual"})
      if (keys_.object({part}) != nullptr)
        notes.add(fmt::format("\"{}\" is not counted", part), Precision::at_least);
    if (keys_.has(approximate_weights) || keys_.whole({"moe_latent_size"}) != 0)
      notes.add(fmt::format("weights of \"{}\" are counted approximately", keys_.type()),
                Precision::about);
    if (const auto count = read_predicting_layers(keys_).count)
      keys_.notes.add(fmt::format("{} more {} only: weights are counted, a cache is not", count,
                                  count == 1 ? "layer predicts" : "layers predict"));
    if (keys_.facts() != nullptr) return;
    keys_.notes.add(
        keys_.type().empty()
            ? "the configuration names no model type: counted as Llama's kin"
            : fmt::format("model type \"{}\" is not known: counted as Llama's kin", keys_.type()),
        Precision::about);
  }

  ConfigKeys& keys_;
  ModelConfig config_;
  std::uint64_t hidden_size_ = 0;
  std::uint64_t indexer_size_ = 0;
  const std::vector<json::Value>* indexer_types_ = nullptr;
};

// Four times the hidden size is the rule of models without a gate, which have no key for it.
std::uint64_t default_feed_forward_size(ConfigKeys& keys) {
  const auto ratio = keys.find_size({"expansion_ratio"});
  const auto size = saturating_product(ratio.value_or(4), read_hidden_size(keys));
  if (!ratio)
    keys.notes.add(fmt::format("\"intermediate_size\" is missing: {} is counted", size),
                   keys.has(two_matrices) ? Precision::counted : Precision::about);
  return size;
}

// LFM2 takes two thirds of the size, times a factor, as a multiple of a number.
std::uint64_t adjust_feed_forward_size(ConfigKeys& keys, std::uint64_t size) {
  const auto is_adjusted = keys.truth("block_auto_adjust_ff_dim");
  const auto multiple = keys.find_size({"block_multiple_of"}).value_or(256);
  const auto* factor = keys.value({"block_ffn_dim_multiplier"});
  if (!is_adjusted)
    keys.notes.add(
        fmt::format("\"block_auto_adjust_ff_dim\" is missing: true is counted, the default "
                    "of \"{}\"",
                    keys.type()));
  if (!is_adjusted.value_or(true)) return size;
  const auto scale = factor != nullptr ? factor->real().value_or(1) : 1;
  const auto scaled = static_cast<std::uint64_t>(
      std::clamp(scale, 0.0, 1000.0) * static_cast<double>(saturating_product(2, size) / 3));
  return saturating_product(divide_rounding_up(scaled, multiple), multiple);
}

// Mixtral and others give the size of an expert as intermediate_size.
std::uint64_t read_expert_size(ConfigKeys& keys) {
  if (const auto own = keys.find_size({"moe_intermediate_size", "moe_ffn_hidden_size"}))
    return *own;
  const auto common = keys.require({"intermediate_size", "ffn_hidden_size"});
  if (!keys.has(expert_is_intermediate_size))
    keys.notes.add(
        fmt::format("\"moe_intermediate_size\" is missing: {} of \"intermediate_size\" is "
                    "counted",
                    common));
  return common;
}

}  // namespace

std::uint64_t read_hidden_size(ConfigKeys& keys) {
  return keys.require({"hidden_size", "n_embd", "n_embed", "d_model", "dim"});
}

PredictingLayers read_predicting_layers(ConfigKeys& keys) {
  const auto deepseek_layers = keys.whole({"num_nextn_predict_layers"});
  const auto other_layers = keys.whole({"mtp_num_hidden_layers", "mtp_num_layers"});
  const bool has_embeddings = keys.truth("mtp_use_dedicated_embeddings").value_or(false);
  if (const auto modules = keys.whole({"num_mtp_modules"}))
    keys.notes.add(
        fmt::format("\"num_mtp_modules\" is {}: not counted, MiniMax publishes the model "
                    "without these layers",
                    modules));
  if (deepseek_layers != 0) return {deepseek_layers, true};
  return {other_layers, has_embeddings};
}

std::uint64_t read_feed_forward_size(ConfigKeys& keys) {
  const auto larger = keys.find_size({"intermediate_size_mlp"});
  const auto width = larger
                         ? larger
                         : keys.find_size({"block_ff_dim", "intermediate_size", "ffn_hidden_size",
                                           "n_inner", "ffn_dim", "d_ff", "hidden_dim"});
  const auto size = width ? *width : default_feed_forward_size(keys);
  if (keys.has(adjusted_feed_forward)) return adjust_feed_forward_size(keys, size);
  return keys.has(half_feed_forward) ? size / 2 : size;
}

ExpertShape read_expert_shape(ConfigKeys& keys) {
  ExpertShape shape;
  shape.count = keys.whole({"num_local_experts", "n_routed_experts", "num_experts",
                            "moe_num_experts", "moe_num_primary_experts"});
  const KeyNames per_token = {"num_experts_per_tok",
                              "num_experts_per_token",
                              "moe_topk",
                              "moe_top_k",
                              "moe_k",
                              "experts_per_token",
                              "top_k_experts",
                              "moe_num_active_primary_experts"};
  keys.value(per_token);  // marks them as read, as is the next
  keys.value({"moe_intermediate_size", "moe_ffn_hidden_size"});
  const auto shared_size =
      keys.find({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                 "shared_intermediate_size"});
  const auto shared = keys.whole(
      {"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"});
  const bool is_used = keys.truth("enable_moe_block").value_or(true);
  if (shape.count <= 1 || !is_used) return {};
  shape.size = read_expert_size(keys);
  const auto used = keys.find_size(per_token);
  if (!used) keys.notes.add("\"num_experts_per_tok\" is missing: 2 are counted", Precision::about);
  shape.used = std::min(shape.count, used.value_or(2));
  shape.shared_size = shared_size.value_or(saturating_product(shared, shape.size));
  if (keys.has(shared_expert_like_routed)) shape.shared_size = shape.size;
  return shape;
}

Expected<ModelConfig> parse_config(std::string text) {
  const auto tree = parse_json(text, 100'000, 16);
  if (!tree) return tree.error();
  if (tree->members() == nullptr) return make_failure("expected a JSON object");
  ConfigKeys keys(*tree);
  return ConfigReader(keys).read();
}

}  // namespace hmn::cli::fit
