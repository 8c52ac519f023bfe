// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

const json::Value* language_part(const json::Value& document) {
  for (const std::string_view name : {"text_config", "llm_config", "language_config"})
    if (const auto* part = document.find(name))
      if (part->members() != nullptr) return part;
  return &document;
}

// Accepts 64.0 as well.
std::optional<std::uint64_t> whole_of(const json::Value& of) {
  const auto number = of.real();
  if (of.whole() || !number || !(*number >= 0) || *number > largest_size) return of.whole();
  const auto whole = static_cast<std::uint64_t>(*number);
  return static_cast<double>(whole) == *number ? std::optional(whole) : std::nullopt;
}

// Accepts a list with one equal value for each layer (Gemma 3n, Hunyuan).
std::optional<std::uint64_t> one_number(const json::Value& of) {
  const auto* each = of.items();
  if (each == nullptr || each->empty()) return whole_of(of);
  const auto first = whole_of(each->front());
  const auto is_other = [&first](const json::Value& one) { return whole_of(one) != first; };
  return std::any_of(each->begin(), each->end(), is_other) ? std::nullopt : first;
}

}  // namespace

ConfigKeys::ConfigKeys(const json::Value& document)
    : document_(document), text_(language_part(document)) {
  if (const auto* type = text_->find("model_type"))
    if (type->text() != nullptr) type_ = *type->text();
  facts_ = facts_of_config(type_);
  note_duplicates(document_);
  if (is_nested()) note_duplicates(*text_);
}

void ConfigKeys::note_duplicates(const json::Value& in) {
  std::set<std::string_view> seen;
  for (const std::string& key : in.members()->keys)
    if (!seen.insert(key).second)
      noted.add(fmt::format("\"{}\" is there twice: the last one is counted", key),
                Precision::about);
}

ConfigKeys::Entry ConfigKeys::search(Names keys) {
  for (const auto key : keys) read_.emplace(key);
  Entry found;
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
                  Precision::about);
      }
    }
  }
  return found;
}

std::optional<std::uint64_t> ConfigKeys::find(Names keys) {
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

std::uint64_t ConfigKeys::taken(Names keys, std::uint64_t otherwise, Precision made) {
  if (const auto found = find(keys)) return *found;
  if (wrong_.empty())
    noted.add(fmt::format("\"{}\" is missing: {} is counted", *keys.begin(), otherwise), made);
  return otherwise;
}

std::uint64_t ConfigKeys::needed(Names keys) {
  const auto number = size(keys);
  if (!number)
    refuse(fmt::format("\"{}\" is missing: expected a whole number above 0", *keys.begin()));
  return number.value_or(0);
}

std::optional<std::uint64_t> ConfigKeys::size(Names keys) {
  const auto number = find(keys);
  if (number == 0u)
    refuse(fmt::format("\"{}\" is 0: expected a whole number above 0", search(keys).key));
  return number;
}

std::optional<bool> ConfigKeys::truth(std::string_view key) {
  const auto* found = value({key});
  if (found != nullptr && !found->truth())
    noted.add(fmt::format("\"{}\" is {}: expected true or false", key, shown(*found)),
              Precision::about);
  return found != nullptr ? found->truth() : std::nullopt;
}

const std::string* ConfigKeys::text(Names keys) {
  const auto* found = value(keys);
  return found != nullptr ? found->text() : nullptr;
}

const std::vector<json::Value>* ConfigKeys::list(Names keys) {
  const auto* found = value(keys);
  return found != nullptr ? found->items() : nullptr;
}

const std::vector<json::Value>* ConfigKeys::list_of_layers(Names keys, std::size_t layers,
                                                           bool flags) {
  const auto [key, found] = search(keys);
  const auto* all = found != nullptr ? found->items() : nullptr;
  if (all != nullptr && all->size() < layers)
    noted.add(fmt::format("\"{}\" has {} values for {} layers", key, all->size(), layers),
              Precision::about);
  const auto is_other = [](const json::Value& each) { return each.whole().value_or(2) > 1; };
  if (all != nullptr && flags && std::any_of(all->begin(), all->end(), is_other))
    noted.add(fmt::format("\"{}\" has values other than 0 and 1", key), Precision::about);
  return all;
}

const json::Value* ConfigKeys::object(Names keys) {
  const auto* found = value(keys);
  return found != nullptr && found->members() != nullptr ? found : nullptr;
}

void ConfigKeys::name_unread_of(const json::Value* in) {
  if (in == nullptr || in->members() == nullptr) return;
  const json::Object& all = *in->members();
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    const std::string& key = all.keys[i];
    if (!all.values[i].is_null() && read_.find(key) == read_.end() &&
        may_change_memory_in_config(key))
      noted.add(fmt::format("\"{}\" is not understood", key), Precision::about);
  }
}

void ConfigKeys::name_unread() {
  name_unread_of(text_);
  if (is_nested()) return;
  for (const std::string_view part : {"attn_config", "ffn_config", "linear_attn_config"})
    name_unread_of(text_->find(part));
}

void ConfigKeys::refuse(std::string why) {
  if (wrong_.empty()) wrong_ = std::move(why);
}

namespace {

struct NamedMixer {
  std::string_view name;
  Mixer mix;
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
    {"conv", Mixer::convolution},
    {"hybrid", Mixer::both},
};

const NamedMixer* mixer_named(const std::string& name) {
  for (const auto& each : mixers)
    if (each.name == name) return &each;
  return nullptr;
}

bool has_number(const std::vector<json::Value>* in, std::size_t wanted) {
  return in != nullptr && std::any_of(in->begin(), in->end(), [wanted](const json::Value& each) {
           return each.whole() == wanted;
         });
}

std::uint64_t kv_heads_of(ConfigKeys& keys, std::uint64_t heads) {
  const auto given = keys.size({"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads"});
  const bool counts =
      !keys.has(one_kv_head) || keys.truth("new_decoder_architecture").value_or(false);
  const auto queries = keys.truth("multi_query_attention");
  const auto groups = keys.size({"multi_query_group_num"}).value_or(1);
  const auto single = keys.truth("multi_query");
  if (given && counts) return *given;
  if (queries.value_or(false)) return groups;
  if (single.value_or(false)) return 1;
  const bool has_none = keys.whole({"kv_lora_rank"}) != 0 || keys.has(every_layer_mamba);
  if (!given && !queries && !single && !has_none)
    keys.noted.add(fmt::format("\"num_key_value_heads\" is missing: {} is counted", heads));
  return heads;
}

AttentionShape attention_shape_of(ConfigKeys& keys, std::uint64_t hidden_size) {
  AttentionShape made;
  made.heads = keys.whole({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  if (made.heads == 0) return made;
  made.kv_heads = kv_heads_of(keys, made.heads);
  made.key_size = keys.size({"head_dim", "kv_channels", "attention_head_dim"})
                      .value_or(hidden_size / made.heads);
  if (made.key_size == 0)
    keys.refuse(
        fmt::format("{} heads: expected at most {}, the hidden size", made.heads, hidden_size));
  // 0 in DeepSeek-OCR, whose attention is not latent.
  const auto value = keys.whole({"v_head_dim"});
  made.value_size = value != 0 ? value : made.key_size;
  return made;
}

class Planner {
 public:
  explicit Planner(ConfigKeys& keys) : keys_(keys) {}

  std::vector<Block> plan() {
    const auto count = keys_.needed({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    if (count > most_layers)
      keys_.refuse(
          fmt::format("\"num_hidden_layers\" is {}: expected at most {}", count, most_layers));
    if (!keys_.wrong().empty()) return {};
    count_ = static_cast<std::size_t>(count);
    read();
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < count_ && keys_.wrong().empty(); ++i) blocks.push_back(at(i));
    compare(blocks);
    return blocks;
  }

 private:
  void read() {
    types_ = keys_.list({"layer_types", "layers_block_type"});
    pattern_ = keys_.text({"hybrid_override_pattern"});
    const auto given = types_ != nullptr ? types_->size() : pattern_ ? pattern_->size() : count_;
    if (given < count_)
      keys_.refuse(fmt::format("the list of layers has {} entries: expected {}", given, count_));
    is_latent_ = keys_.whole({"kv_lora_rank"}) != 0;
    experts_ = expert_shape_of(keys_).count;
    read_shapes();
    read_rules();
    read_feeds();
    read_window();
  }

  // MiMo has other heads in layers with a window, Gemma 4 in the others.
  void read_shapes() {
    full_ = windowed_ = attention_shape_of(keys_, hidden_size_of(keys_));
    windowed_.heads = keys_.size({"swa_num_attention_heads"}).value_or(windowed_.heads);
    windowed_.kv_heads = keys_.size({"swa_num_key_value_heads"}).value_or(windowed_.kv_heads);
    windowed_.key_size = keys_.size({"swa_head_dim"}).value_or(windowed_.key_size);
    windowed_.value_size = keys_.size({"swa_v_head_dim"}).value_or(windowed_.value_size);
    full_.key_size = keys_.size({"global_head_dim"}).value_or(full_.key_size);
    if (full_.key_size != windowed_.key_size && keys_.value({"v_head_dim"}) == nullptr)
      full_.value_size = full_.key_size;
    const auto global = keys_.whole({"num_global_key_value_heads"});
    if (keys_.truth("attention_k_eq_v").value_or(false) && global != 0) full_.kv_heads = global;
  }

  void read_rules() {
    const auto lists = [this](Names of) { return keys_.list_of_layers(of, count_, true); };
    ratios_ = keys_.list_of_layers({"compress_ratios"}, count_);
    kinds_ = lists({"attn_type_list"});
    windows_ = lists({"hybrid_layer_pattern"});
    rotated_ = lists({"no_rope_layers"});
    attending_ = keys_.list({"attn_layer_indices", "full_attn_idxs"});
    period_ = keys_.whole({"attn_layer_period"});
    offset_ = period_ != 0 ? keys_.taken({"attn_layer_offset"}, 0) : 0;
    const auto* nested = keys_.object({"linear_attn_config"});
    if (nested != nullptr) {
      keys_.list({"full_attn_layers", "kda_layers"});  // read here
      const auto* full = nested->find("full_attn_layers");
      linear_but_ = full != nullptr ? full->items() : nullptr;
      if (linear_but_ == nullptr)
        keys_.noted.add("\"full_attn_layers\" is missing: attention in every layer is counted",
                        Precision::about);
    }
    const bool by_interval =
        keys_.facts() != nullptr && keys_.facts()->has_state == StateRule::interval;
    interval_ = by_interval && types_ == nullptr ? keys_.taken({"full_attention_interval"}, 4)
                                                 : keys_.whole({"full_attention_interval"});
  }

  void read_feeds() {
    feeds_ = keys_.list_of_layers({"mlp_layer_types"}, count_);
    dense_first_ = keys_.whole({"first_k_dense_replace", "num_dense_layers"});
    dense_ = keys_.list({"mlp_only_layers"});
    sparse_ = keys_.list({"moe_layers"});
    expert_period_ = keys_.whole({"expert_layer_period"});
    expert_offset_ = expert_period_ != 0 ? keys_.taken({"expert_layer_offset"}, 0) : 0;
    step_ = keys_.whole({"decoder_sparse_step", "interleave_moe_layer_step"});
    const auto* often = keys_.value({"moe_layer_freq"});
    often_ = often != nullptr ? often->whole().value_or(0) : 0;
    frequencies_ = keys_.list_of_layers({"moe_layer_freq"}, count_, true);
  }

  void read_window() {
    const bool is_chunked = keys_.facts() != nullptr && keys_.facts()->window.is_chunked;
    window_ = is_chunked
                  ? keys_.whole({"attention_chunk_size"})
                  : keys_.whole({"sliding_window", "sliding_window_size", "attention_chunk_size"});
    const auto in_use = keys_.truth("use_sliding_window");
    first_window_ = keys_.whole({"max_window_layers"});
    every_ = keys_.whole({"sliding_window_pattern", "_sliding_window_pattern"});
    if (!in_use.value_or(!keys_.has(window_needs_switch))) window_ = 0;
    if (keys_.facts() != nullptr) rule_ = keys_.facts()->window;
    if (every_ != 0) rule_.every = static_cast<std::uint32_t>(every_);
    all_see_window_ = in_use.value_or(false) || keys_.has(window_everywhere);
    const bool is_listed = types_ != nullptr || pattern_ != nullptr || windows_ != nullptr ||
                           rotated_ != nullptr || is_latent_;
    if (window_ != 0 && !is_listed && every_ == 0 && rule_.every != 0 &&
        rule_.every != WindowRule::all)
      keys_.noted.add(fmt::format("one of {} layers has no window, as in every \"{}\"", rule_.every,
                                  keys_.type()));
    if (window_ == 0 || is_listed || rule_.every != 0 || all_see_window_) return;
    keys_.noted.add(
        fmt::format("the sliding window of {} tokens is not counted on: the configuration does "
                    "not give the layers that have it",
                    window_),
        Precision::about);
  }

  Block at(std::size_t index) {
    Block made;
    if (pattern_ != nullptr) {
      made = from_letter((*pattern_)[index]);
      made.shape = full_;
      return made;
    }
    made.mix = mix_at(index, made.ratio);
    if (ratios_ != nullptr && index < ratios_->size())
      made.ratio = (*ratios_)[index].whole().value_or(0);
    if (made.mix == Mixer::window) made.window = window_;
    if (made.mix == Mixer::window && window_ == 0) {
      made.mix = Mixer::attention;
      keys_.noted.add(
          "layers with a window are counted as full attention: its length is not specified",
          Precision::about);
    }
    made.shape = made.window != 0 ? windowed_ : full_;
    if (made.mix == Mixer::attention && is_latent_) made.mix = Mixer::latent;
    made.feed = feed_at(index);
    return made;
  }

  // Nemotron-H: each layer has a single function.
  Block from_letter(char letter) {
    if (letter == 'M') return {Mixer::mamba, Forward::none, {}, 0, 0};
    if (letter == '*') return {Mixer::attention, Forward::none, {}, 0, 0};
    if (letter == '-') return {Mixer::none, Forward::dense, {}, 0, 0};
    if (letter == 'E') return {Mixer::none, Forward::experts, {}, 0, 0};
    keys_.refuse(fmt::format("\"hybrid_override_pattern\": '{}': expected M, *, - or E", letter));
    return {};
  }

  Mixer mix_at(std::size_t index, std::uint64_t& ratio) {
    if (types_ != nullptr) return from_word((*types_)[index], ratio);
    if (keys_.has(every_layer_mamba)) return Mixer::mamba;
    if (keys_.has(every_layer_both)) return Mixer::both;
    if (linear_but_ != nullptr)  // counted from 1
      return has_number(linear_but_, index + 1) ? Mixer::attention : Mixer::linear;
    if (period_ != 0) return index % period_ == offset_ ? Mixer::attention : Mixer::mamba;
    if (attending_ != nullptr)
      return has_number(attending_, index) ? Mixer::attention : other_than_attention();
    if (kinds_ != nullptr && index < kinds_->size())
      return (*kinds_)[index].whole() == 0 ? Mixer::linear : Mixer::attention;
    if (windows_ != nullptr && index < windows_->size())
      return (*windows_)[index].whole() == 1 ? Mixer::window : Mixer::attention;
    if (rotated_ != nullptr && !rotated_->empty())
      return index < rotated_->size() && (*rotated_)[index].whole() == 1 ? Mixer::window
                                                                         : Mixer::attention;
    if (interval_ != 0) return (index + 1) % interval_ == 0 ? Mixer::attention : Mixer::linear;
    return sees_window(index) ? Mixer::window : Mixer::attention;
  }

  Mixer other_than_attention() const {
    return keys_.facts() != nullptr && keys_.facts()->state == StateKind::convolution
               ? Mixer::convolution
               : Mixer::mamba;
  }

  bool sees_window(std::size_t index) const {
    if (window_ == 0) return false;
    return rule_.every != 0 ? rule_.sees_window(index) : all_see_window_ && index >= first_window_;
  }

  Mixer from_word(const json::Value& word, std::uint64_t& ratio) {
    const auto* name = word.text();
    if (name == nullptr) {
      keys_.refuse(fmt::format("\"layer_types\": {}: expected a text", shown(word)));
      return Mixer::attention;
    }
    if (const auto* known = mixer_named(*name)) {
      ratio = known->ratio;
      return known->mix;
    }
    keys_.noted.add(fmt::format("layers of type \"{}\" are counted as full attention", *name),
                    Precision::about);
    return Mixer::attention;
  }

  // A list of layers and a rule for them are two spellings of one fact.
  void compare(const std::vector<Block>& blocks) {
    if (types_ == nullptr) return;
    const auto differs = [&blocks](std::uint64_t every, Mixer other) {
      for (std::size_t i = 0; i < blocks.size(); ++i)
        if (((i + 1) % every != 0) != (blocks[i].mix == other)) return true;
      return false;
    };
    if (interval_ != 0 && differs(interval_, Mixer::linear))
      keys_.noted.add(fmt::format("\"full_attention_interval\" {} does not agree with the list of "
                                  "layers, which is counted",
                                  interval_),
                      Precision::about);
    if (every_ != 0 && window_ != 0 && differs(every_, Mixer::window))
      keys_.noted.add(fmt::format("\"sliding_window_pattern\" {} does not agree with the list of "
                                  "layers, which is counted",
                                  every_),
                      Precision::about);
  }

  Forward feed_at(std::size_t index) const {
    if (keys_.has(every_layer_mamba)) return Forward::none;
    if (experts_ <= 1) return Forward::dense;
    if (feeds_ != nullptr && index < feeds_->size())
      return choose(!((*feeds_)[index].text() && *(*feeds_)[index].text() == "dense"));
    if (index < dense_first_ || has_number(dense_, index)) return Forward::dense;
    if (sparse_ != nullptr && !sparse_->empty()) return choose(has_number(sparse_, index));
    if (expert_period_ != 0) return choose(index % expert_period_ == expert_offset_);
    if (step_ != 0) return choose((index + 1) % step_ == 0);
    if (often_ != 0) return choose(index % often_ == 0);
    if (frequencies_ != nullptr && index < frequencies_->size())
      return choose((*frequencies_)[index].whole() != 0);
    return Forward::experts;
  }
  static Forward choose(bool experts) { return experts ? Forward::experts : Forward::dense; }

  ConfigKeys& keys_;
  std::size_t count_ = 0;
  AttentionShape full_;
  AttentionShape windowed_;
  const std::vector<json::Value>* types_ = nullptr;
  const std::string* pattern_ = nullptr;
  const std::vector<json::Value>* ratios_ = nullptr;
  const std::vector<json::Value>* kinds_ = nullptr;    // 0: linear attention
  const std::vector<json::Value>* windows_ = nullptr;  // 1: a window
  const std::vector<json::Value>* rotated_ = nullptr;  // 1: a chunk
  const std::vector<json::Value>* attending_ = nullptr;
  const std::vector<json::Value>* linear_but_ = nullptr;
  std::uint64_t period_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t interval_ = 0;
  std::uint64_t experts_ = 0;
  const std::vector<json::Value>* feeds_ = nullptr;
  const std::vector<json::Value>* dense_ = nullptr;
  const std::vector<json::Value>* sparse_ = nullptr;
  const std::vector<json::Value>* frequencies_ = nullptr;
  std::uint64_t dense_first_ = 0;
  std::uint64_t expert_period_ = 0;
  std::uint64_t expert_offset_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t often_ = 0;
  std::uint64_t window_ = 0;
  std::uint64_t first_window_ = 0;
  std::uint64_t every_ = 0;  // the last of this many layers has full attention
  WindowRule rule_;
  bool all_see_window_ = false;
  bool is_latent_ = false;
};

// Takes the larger value, as the length may already include the extension; an upper bound is safe.
std::uint64_t context_length_of(ConfigKeys& keys) {
  const auto given = keys.whole({"max_position_embeddings", "n_positions", "max_sequence_length",
                                 "max_seq_len", "seq_length", "n_ctx", "model_max_length"});
  const auto* scaling = keys.object({"rope_scaling", "rope_parameters"});
  if (scaling == nullptr) return given;
  const auto* original = scaling->find("original_max_position_embeddings");
  const auto* factor = scaling->find("factor");
  const auto from = original != nullptr ? original->whole().value_or(0) : 0;
  const auto by = factor != nullptr ? factor->real().value_or(1) : 1;
  if (from == 0 || from > 1u << 31 || !(by > 1) || by > 1e6) return given;
  return std::max(given, static_cast<std::uint64_t>(static_cast<double>(from) * by));
}

class ConfigReader {
 public:
  explicit ConfigReader(ConfigKeys& keys) : keys_(keys) {}

  Expected<ModelConfig> read() {
    if (keys_.truth("is_encoder_decoder").value_or(false))
      keys_.refuse("\"is_encoder_decoder\" is true: expected a model that is a decoder alone");
    if (keys_.has(encoder) && !keys_.truth("is_decoder").value_or(false))
      keys_.refuse(fmt::format(
          "model type \"{}\" is an encoder: expected a model that is a decoder", keys_.type()));
    made_.shape.type = keys_.type();
    hidden_ = hidden_size_of(keys_);
    const auto blocks = Planner(keys_).plan();
    read_indexer(blocks.size());
    for (std::size_t i = 0; i < blocks.size() && keys_.wrong().empty(); ++i)
      made_.shape.layers.push_back(layer_of(blocks[i], i));
    share_caches();
    sizes(blocks);
    if (keys_.wrong().empty()) made_.parameters = count_parameters(keys_, blocks);
    made_.stored = storage_of(keys_);
    note_what_is_unknown();
    keys_.name_unread();
    if (!keys_.wrong().empty()) return failed(keys_.wrong());
    made_.shape.noted = std::move(keys_.noted);
    return std::move(made_);
  }

 private:
  void read_indexer(std::size_t layers) {
    indexer_ = keys_.whole({"index_head_dim"});
    indexers_ = keys_.list_of_layers({"indexer_types"}, layers);
  }

  Layer layer_of(const Block& of, std::size_t index) {
    Layer made;
    made.state_size = recurrence_of(keys_, of.mix, hidden_).state_size;
    const bool recurs = of.mix == Mixer::mamba || of.mix == Mixer::both ||
                        of.mix == Mixer::linear || of.mix == Mixer::convolution;
    if (recurs && made.state_size == 0)
      keys_.noted.add("the size of the recurrent layers' states is not known: they are not counted",
                      Precision::at_least);
    if (of.mix == Mixer::latent) {
      made.cache = CacheKind::latent;
      made.key_size = plus(keys_.needed({"kv_lora_rank"}), keys_.needed({"qk_rope_head_dim"}));
      const auto* type =
          indexers_ != nullptr && index < indexers_->size() ? (*indexers_)[index].text() : nullptr;
      if (type == nullptr || *type != "shared") made.extra_size = indexer_;
    }
    const bool attends =
        of.mix == Mixer::attention || of.mix == Mixer::window || of.mix == Mixer::both;
    if (!attends) return made;
    keys_.needed({"num_attention_heads", "n_head", "n_heads", "num_heads"});
    made.cache = of.window != 0 ? CacheKind::window : CacheKind::full;
    made.kv_heads = of.shape.kv_heads;
    made.key_size = of.shape.key_size;
    made.value_size = of.shape.value_size;
    made.window = of.window;
    made.is_chunked = keys_.facts() != nullptr && keys_.facts()->window.is_chunked;
    if (of.ratio != 0) compress(made, of.ratio);
    return made;
  }

  // DeepSeek-V4: keys serve as values, and each so many of them have another, compressed key.
  void compress(Layer& to, std::uint64_t ratio) {
    to.cache = CacheKind::latent;
    to.key_size = times(to.kv_heads, to.key_size);
    to.value_size = 0;
    to.extra_size = plus(to.key_size, ratio == 4 ? indexer_ : 0);
    to.extra_every = ratio;
    keys_.noted.add("compressed keys are counted without the state of what compresses them",
                    Precision::at_least);
  }

  // Handles Gemma 3n, whose last layers reuse the caches of earlier ones.
  void share_caches() {
    auto& layers = made_.shape.layers;
    const auto shared =
        std::min<std::uint64_t>(keys_.whole({"num_kv_shared_layers"}), layers.size());
    for (std::uint64_t i = 0; i < shared; ++i)
      layers[layers.size() - 1 - i].cache = CacheKind::none;
  }

  void sizes(const std::vector<Block>& blocks) {
    auto& shape = made_.shape;
    shape.hidden_size = hidden_;
    for (const auto& each : blocks) shape.head_count = std::max(shape.head_count, each.shape.heads);
    const auto experts = expert_shape_of(keys_);
    const bool some_dense = std::any_of(blocks.begin(), blocks.end(), [](const Block& each) {
      return each.feed == Forward::dense;
    });
    shape.feed_forward_size =
        plus(some_dense ? feed_forward_size_of(keys_) : 0, times(experts.size, experts.taken),
             experts.shared_size, experts.count);
    shape.vocabulary_size = keys_.whole({"vocab_size", "padded_vocab_size"});
    if (const auto context = context_length_of(keys_)) shape.context_length = context;
  }

  void note_what_is_unknown() {
    auto& noted = made_.stored.noted;
    for (const std::string_view part : {"vision_config", "audio_config", "visual"})
      if (keys_.object({part}) != nullptr)
        noted.add(fmt::format("\"{}\" is not counted", part), Precision::at_least);
    if (keys_.has(not_weighed) || keys_.whole({"moe_latent_size"}) != 0)
      noted.add(fmt::format("weights of \"{}\" are counted approximately", keys_.type()),
                Precision::about);
    if (const auto more = predicting_layers_of(keys_))
      keys_.noted.add(fmt::format("{} more {} only: weights are counted, a cache is not", more,
                                  more == 1 ? "layer predicts" : "layers predict"));
    if (keys_.facts() != nullptr) return;
    keys_.noted.add(
        keys_.type().empty()
            ? "the configuration names no model type: counted as Llama's kin"
            : fmt::format("model type \"{}\" is not known: counted as Llama's kin", keys_.type()),
        Precision::about);
  }

  ConfigKeys& keys_;
  ModelConfig made_;
  std::uint64_t hidden_ = 0;
  std::uint64_t indexer_ = 0;
  const std::vector<json::Value>* indexers_ = nullptr;
};

// Four times the hidden size is the rule of models without a gate, which have no key for it.
std::uint64_t usual_feed_forward_size(ConfigKeys& keys) {
  const auto ratio = keys.size({"expansion_ratio"});
  const auto size = times(ratio.value_or(4), hidden_size_of(keys));
  if (!ratio)
    keys.noted.add(fmt::format("\"intermediate_size\" is missing: {} is counted", size),
                   keys.has(two_matrices) ? Precision::counted : Precision::about);
  return size;
}

// Mixtral and others give the size of experts as that of a network.
std::uint64_t expert_size_of(ConfigKeys& keys) {
  if (const auto own = keys.size({"moe_intermediate_size"})) return *own;
  const auto common = keys.needed({"intermediate_size", "ffn_hidden_size"});
  if (!keys.has(experts_as_networks))
    keys.noted.add(
        fmt::format("\"moe_intermediate_size\" is missing: {} of \"intermediate_size\" is "
                    "counted",
                    common));
  return common;
}

}  // namespace

std::uint64_t hidden_size_of(ConfigKeys& keys) {
  return keys.needed({"hidden_size", "n_embd", "n_embed", "d_model", "dim"});
}

std::uint64_t predicting_layers_of(ConfigKeys& keys) {
  return keys.whole(
      {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "mtp_num_layers"});
}

std::uint64_t feed_forward_size_of(ConfigKeys& keys) {
  const auto larger = keys.size({"intermediate_size_mlp"});
  const auto given = larger ? larger
                            : keys.size({"intermediate_size", "ffn_hidden_size", "n_inner",
                                         "ffn_dim", "d_ff", "hidden_dim"});
  const auto size = given ? *given : usual_feed_forward_size(keys);
  return keys.has(half_feed_forward) ? size / 2 : size;
}

ExpertShape expert_shape_of(ConfigKeys& keys) {
  ExpertShape made;
  made.count =
      keys.whole({"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"});
  const Names per_token = {
      "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k",
      "experts_per_token",   "top_k_experts"};
  keys.value(per_token);  // read here, as is the next
  keys.value({"moe_intermediate_size"});
  const auto shared_size =
      keys.find({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                 "shared_intermediate_size"});
  const auto shared = keys.whole({"n_shared_experts", "num_shared_experts", "num_shared_expert"});
  const bool is_used = keys.truth("enable_moe_block").value_or(true);
  if (made.count <= 1 || !is_used) return {};
  made.size = expert_size_of(keys);
  const auto taken = keys.size(per_token);
  if (!taken) keys.noted.add("\"num_experts_per_tok\" is missing: 2 are counted", Precision::about);
  made.taken = std::min(made.count, taken.value_or(2));
  made.shared_size = shared_size.value_or(times(shared, made.size));
  if (keys.has(shared_as_routed)) made.shared_size = made.size;
  return made;
}

Expected<ModelConfig> parse_config(std::string text) {
  const auto tree = parse_json(text, 100'000, 16);
  if (!tree) return tree.why();
  if (tree->members() == nullptr) return failed("expected a JSON object");
  ConfigKeys keys(*tree);
  return ConfigReader(keys).read();
}

}  // namespace hmn::cli::fit
