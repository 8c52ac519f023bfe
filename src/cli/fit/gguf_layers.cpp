// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/fit/gguf.hpp"

namespace hmn::cli::fit {
namespace {

// Keys of an architecture, and which of them have been read.
class GgufKeys {
 public:
  GgufKeys(const Gguf& file, const std::string& type, Notes& notes)
      : file_(file), prefix_(type + "."), notes_(notes) {}

  const Gguf::Value* find(std::string_view name) {
    read_keys_.emplace(name);
    return file_.find(prefix_ + std::string(name));
  }
  std::optional<std::uint64_t> whole(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (const auto* number = std::get_if<std::uint64_t>(value)) return check_range(name, *number);
    refuse(fmt::format("key \"{}{}\": expected a whole number", prefix_, name));
    return std::nullopt;
  }
  std::uint64_t whole(std::string_view name, std::uint64_t fallback) {
    return whole(name).value_or(fallback);
  }
  // Reads a key that the file should have; notes the default that is counted in its place.
  std::uint64_t read_or_default(std::string_view name, std::uint64_t fallback,
                                Precision precision = Precision::counted) {
    if (const auto value = whole(name)) return *value;
    note_missing(name, fmt::format("{} is counted", fallback), precision);
    return fallback;
  }
  std::uint64_t require(std::string_view name) {
    const auto value = whole(name);
    if (value.value_or(0) == 0)
      refuse(fmt::format("key \"{}{}\" is {}: expected a whole number above 0", prefix_, name,
                         value ? "0" : "missing"));
    return value.value_or(0);
  }
  // Reads a number for each layer, or one for all of them. A short list is filled up with its
  // largest value, or with 0 for `flags`.
  std::optional<Gguf::Numbers> read_layer_numbers(std::string_view name, std::size_t layers,
                                                  bool flags = false) {
    const auto* value = find(name);
    if (value == nullptr) return std::nullopt;
    const auto* list = std::get_if<Gguf::Numbers>(value);
    if (list == nullptr) return Gguf::Numbers(layers, whole(name).value_or(0));
    for (const auto number : *list) check_range(name, number);
    auto all = *list;
    const auto filler = all.empty() || flags ? 0 : *std::max_element(all.begin(), all.end());
    if (all.size() < layers)
      notes_.add(fmt::format("\"{}{}\" has {} values for {} layers: the others are counted as {}",
                             prefix_, name, all.size(), layers, filler),
                 Precision::about);
    if (flags &&
        std::any_of(all.begin(), all.end(), [](std::uint64_t number) { return number > 1; }))
      notes_.add(fmt::format("\"{}{}\" has values other than 0 and 1: these are counted as 1",
                             prefix_, name),
                 Precision::about);
    all.resize(layers, filler);
    return all;
  }
  void note_missing(std::string_view name, std::string_view consequence,
                    Precision precision = Precision::counted) {
    notes_.add(fmt::format("\"{}{}\" is missing: {}", prefix_, name, consequence), precision);
  }
  // Notes the keys that may change the memory and that nothing has read.
  void note_unread_keys() {
    for (const auto& [key, value] : file_.metadata) {
      if (!key.starts_with(prefix_)) continue;
      const auto name = std::string_view(key).substr(prefix_.size());
      if (read_keys_.find(name) == read_keys_.end() && may_change_memory_in_gguf(name))
        notes_.add(fmt::format("\"{}\" is not understood", key), Precision::about);
    }
  }

  const std::string& error() const { return error_; }
  void refuse(std::string reason) {
    if (error_.empty()) error_ = std::move(reason);
  }

 private:
  std::uint64_t check_range(std::string_view name, std::uint64_t value) {
    if (value <= max_size) return value;
    refuse(fmt::format("key \"{}{}\" is {}: expected a whole number up to {}", prefix_, name, value,
                       max_size));
    return 0;
  }

  const Gguf& file_;
  std::string prefix_;
  Notes& notes_;
  std::set<std::string, std::less<>> read_keys_;
  std::string error_;
};

std::uint64_t find_largest(const Gguf::Numbers& numbers) {
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
}

class GgufReader {
 public:
  GgufReader(const Gguf& file, const std::string& type)
      : facts_(find_gguf_facts(type)), keys_(file, type, result_.notes) {
    result_.type = type;
    result_.runtime = Runtime::llama_cpp;
    for (const auto& tensor : file.tensors) {
      if (tensor.name == "token_embd.weight") embedding_elements_ = tensor.elements;
      if (tensor.name == "output.weight") has_output_ = true;
    }
  }

  Expected<Architecture> read() {
    const auto count = keys_.require("block_count");
    if (count > max_layers)
      return make_failure(fmt::format("key \"{}.block_count\" is {}: expected at most {}",
                                      result_.type, count, max_layers));
    if (keys_.whole("attention.causal", 1) == 0)
      return make_failure(
          fmt::format("key \"{}.attention.causal\" is false: expected a decoder", result_.type));
    const bool may_be_decoder = has(encoder) && keys_.whole("attention.causal").has_value();
    if (facts_ != nullptr && !facts_->refusal.empty() && !may_be_decoder)
      return make_failure(
          fmt::format("architecture \"{}\" is {}: expected one that writes text token "
                      "by token",
                      result_.type, facts_->refusal));
    result_.hidden_size = keys_.require("embedding_length");
    if (!keys_.error().empty()) return make_failure(keys_.error());
    read_scalars(static_cast<std::size_t>(count));
    read_windows();
    read_states();
    read_attention();
    for (std::size_t i = 0; i < count_ && keys_.error().empty(); ++i)
      result_.layers.push_back(make_layer(i));
    Layer predicting;  // keeps nothing
    predicting.has_weights = false;
    result_.layers.resize(static_cast<std::size_t>(count), predicting);
    if (has(router_layer)) result_.layers.push_back(make_router_layer());
    if (!keys_.error().empty()) return make_failure(keys_.error());
    if (keeps_nothing())
      return make_failure(
          fmt::format("architecture \"{}\": expected a decoder whose layers have attention "
                      "or an SSM's keys",
                      result_.type));
    if (facts_ == nullptr)
      result_.notes.add(fmt::format("architecture \"{}\" is not known: counted by its keys, with "
                                    "attention wherever they say nothing else",
                                    result_.type),
                        Precision::about);
    keys_.note_unread_keys();
    return std::move(result_);
  }

 private:
  bool has(Trait trait) const { return facts_ != nullptr && (facts_->traits & trait) != 0; }

  void read_scalars(std::size_t count) {
    count_ = count;
    // A file of nothing else is a draft model, with a cache of its own.
    if (const auto predicting_layers = keys_.whole("nextn_predict_layers", 0);
        predicting_layers != 0 && predicting_layers < count) {
      count_ -= static_cast<std::size_t>(predicting_layers);
      result_.notes.add(
          fmt::format("the last {} of {} layers only predict: their weights are "
                      "counted, a cache for them is not",
                      predicting_layers, count));
    } else if (predicting_layers > count) {
      keys_.refuse(
          fmt::format("key \"{}.nextn_predict_layers\" is {}: expected at most the {} "
                      "layers",
                      result_.type, predicting_layers, count));
    }
    const auto heads = keys_.read_layer_numbers("attention.head_count", count_);
    heads_ = heads.value_or(Gguf::Numbers(count_, 0));
    auto kv_heads = keys_.read_layer_numbers("attention.head_count_kv", count_);
    if (heads && !kv_heads && find_largest(heads_) != 0)
      keys_.note_missing("attention.head_count_kv", "as many as heads are counted");
    kv_heads_ = kv_heads ? *kv_heads : heads_;
    auto feed_forward = keys_.read_layer_numbers("feed_forward_length", count_);
    if (!feed_forward)
      keys_.note_missing("feed_forward_length", "working memory is counted without it",
                         Precision::at_least);
    feed_forward_ = feed_forward.value_or(Gguf::Numbers(count_, 0));
    result_.head_count = find_largest(heads_);
    result_.feed_forward_size = saturating_sum(find_largest(feed_forward_), read_expert_width());
    result_.experts_used = keys_.whole("expert_used_count").value_or(0);
    if (const auto context = keys_.whole("context_length", 0)) result_.context_length = context;
    // llama.cpp: a matrix of embedding width times vocabulary
    result_.vocabulary_size =
        embedding_elements_ != 0 ? embedding_elements_ / result_.hidden_size : 0;
    if (embedding_elements_ == 0)
      result_.vocabulary_size = keys_.read_or_default("vocab_size", 0, Precision::at_least);
    const auto shared = keys_.whole("attention.shared_kv_layers");
    layers_with_kv_ = shared ? count_ - std::min<std::uint64_t>(*shared, count_) : count_;
    if (shared || facts_ == nullptr || facts_->layers_with_kv == 0) return;
    layers_with_kv_ = std::min<std::uint64_t>(facts_->layers_with_kv, count_);
    keys_.note_missing("attention.shared_kv_layers",
                       fmt::format("the first {} layers have a cache", layers_with_kv_));
  }

  // Returns the width of the experts that a token uses, and its router's outputs.
  std::uint64_t read_expert_width() {
    const auto count = keys_.whole("expert_count", 0);
    const auto expert_size = keys_.whole("expert_feed_forward_length");
    const auto used = keys_.whole("expert_used_count");
    const auto shared = keys_.whole("expert_shared_count", 0);
    const auto shared_size = keys_.whole("expert_shared_feed_forward_length");
    if (count == 0) {
      if (used.value_or(0) != 0)
        keys_.note_missing("expert_count", "its experts are in the weights alone",
                           Precision::about);
      return 0;
    }
    if (!expert_size)
      keys_.note_missing(
          "expert_feed_forward_length",
          fmt::format("{} of feed_forward_length is counted", find_largest(feed_forward_)));
    if (!used) keys_.note_missing("expert_used_count", "all are counted", Precision::about);
    const auto size = expert_size.value_or(find_largest(feed_forward_));
    return saturating_sum(saturating_product(size, used.value_or(count)), count,
                          shared_size
                              ? saturating_product(*shared_size, std::max<std::uint64_t>(shared, 1))
                              : saturating_product(shared, size));
  }

  void read_windows() {
    const auto windows = keys_.read_layer_numbers("attention.sliding_window", 1);
    window_pattern_ = keys_.find("attention.sliding_window_pattern");
    window_rule_ = facts_ != nullptr ? facts_->window : WindowRule{};
    if (window_rule_.only_layers != 0 && window_rule_.only_layers != count_) window_rule_ = {};
    window_ = windows ? find_largest(*windows) : window_rule_.size;
    if (window_ != 0 && window_rule_.forced_size != 0 && window_ != window_rule_.forced_size) {
      result_.notes.add(fmt::format("the window of {} tokens is {} in llama.cpp", window_,
                                    window_rule_.forced_size));
      window_ = window_rule_.forced_size;
    }
    if (facts_ != nullptr && window_rule_.period == 0) window_pattern_ = nullptr;
    if (!windows && window_ != 0)
      keys_.note_missing("attention.sliding_window", fmt::format("{} tokens are counted", window_));
    if (window_pattern_ != nullptr && std::holds_alternative<std::uint64_t>(*window_pattern_)) {
      const auto period = keys_.whole("attention.sliding_window_pattern", 0);
      window_rule_.period = period == 0 ? WindowRule::all : static_cast<std::uint32_t>(period);
    } else if (window_pattern_ != nullptr) {
      window_flags_ = keys_.read_layer_numbers("attention.sliding_window_pattern", count_, true);
    }
    const bool has_rule = window_rule_.period != 0 && window_rule_.period != WindowRule::listed;
    if (window_ == 0 || window_flags_ || has_rule) return;
    if (facts_ != nullptr && window_rule_.period == 0)
      result_.notes.add(
          fmt::format("the window of {} tokens is not used by llama.cpp: all tokens are "
                      "counted",
                      window_));
    else
      result_.notes.add(
          fmt::format("the sliding window of {} tokens is not counted on: the file does "
                      "not give the layers that have it",
                      window_),
          Precision::about);
  }

  bool has_window(std::size_t index) const {
    if (window_ == 0) return false;
    return window_flags_ ? (*window_flags_)[index] != 0 : window_rule_.has_window(index);
  }

  void read_states() {
    recurrent_ = keys_.read_layer_numbers("attention.recurrent_layers", count_, true);
    state_kind_ = facts_ != nullptr ? facts_->state : guess_state_kind();
    const auto rule = facts_ != nullptr ? facts_->state_rule : StateRule::without_kv;
    if (rule == StateRule::interval && !recurrent_)
      interval_ = keys_.read_or_default("full_attention_interval",
                                        facts_ != nullptr ? facts_->interval : 0);
    else
      interval_ = keys_.whole("full_attention_interval", 0);
    if (state_kind_ != StateKind::none) state_size_ = compute_state_size();
  }

  StateKind guess_state_kind() {
    if (keys_.whole("shortconv.l_cache")) return StateKind::convolution;
    return keys_.whole("ssm.inner_size") ? StateKind::mamba2 : StateKind::none;
  }

  // Reads a size of the state; without it nothing is counted for the layers that have one.
  std::uint64_t read_state_size(std::string_view name) {
    const auto value = keys_.whole(name);
    if (!value) keys_.note_missing(name, "the layers' states are not counted", Precision::at_least);
    lacks_state_ = lacks_state_ || !value;
    return value.value_or(0);
  }

  // Sizes of n_embd_r and n_embd_s in src/llama-hparams.cpp.
  std::uint64_t compute_state_size() {
    const auto hidden = result_.hidden_size;
    if (state_kind_ == StateKind::convolution) {
      const auto length = read_state_size("shortconv.l_cache");
      return saturating_product(hidden, length == 0 ? 0 : length - 1);
    }
    if (state_kind_ == StateKind::rwkv) {
      const auto head = read_state_size("wkv.head_size");
      const auto shifts = keys_.whole("token_shift_count", 2);
      return lacks_state_ ? 0 : saturating_product(hidden, saturating_sum(shifts, head));
    }
    if (state_kind_ == StateKind::lightning) {
      const auto heads = find_largest(heads_);
      const auto size = keys_.whole("attention.key_length", heads == 0 ? 0 : hidden / heads);
      return saturating_product(heads, size, size);
    }
    const auto kernel = read_state_size("ssm.conv_kernel");
    const auto conv_length = kernel == 0 ? 0 : kernel - 1;
    if (state_kind_ == StateKind::kimi_delta) {
      const auto size = read_state_size("kda.head_dim");
      const auto width = saturating_product(find_largest(heads_), size);
      return saturating_sum(saturating_product(width, size),
                            saturating_product(3, width, conv_length));
    }
    const auto inner = read_state_size("ssm.inner_size");
    const auto state = read_state_size("ssm.state_size");
    const bool is_first = state_kind_ == StateKind::mamba;
    const auto groups =
        is_first ? keys_.whole("ssm.group_count", 0) : read_state_size("ssm.group_count");
    const auto size = saturating_sum(
        saturating_product(inner, state),
        saturating_product(saturating_sum(inner, saturating_product(2, groups, state)),
                           conv_length));
    // Input, gate and the convolution's output, all of which are stored.
    result_.projected_size = saturating_sum(result_.projected_size, saturating_product(3, inner),
                                            saturating_product(4, groups, state));
    return lacks_state_ && inner == 0 ? 0 : size;
  }

  bool is_recurrent(std::size_t index) const {
    if (recurrent_) return (*recurrent_)[index] != 0;
    if (interval_ != 0 && state_kind_ != StateKind::none) return (index + 1) % interval_ != 0;
    switch (facts_ != nullptr ? facts_->state_rule : StateRule::without_kv) {
      case StateRule::all:
      case StateRule::all_with_attention:
        return true;
      case StateRule::without_kv:
        return kv_heads_[index] == 0;
      case StateRule::without_kv_and_feed_forward:
        return kv_heads_[index] == 0 && feed_forward_[index] == 0;
      default:
        return false;
    }
  }

  // Reads the sizes that all layers with attention share.
  void read_attention() {
    key_size_ = keys_.whole("attention.key_length");
    value_size_ = keys_.whole("attention.value_length");
    window_key_size_ = keys_.whole("attention.key_length_swa");
    window_value_size_ = keys_.whole("attention.value_length_swa");
    read_latent();
    indexer_size_ = keys_.whole("attention.indexer.key_length", 0);
    const auto ratios = keys_.read_layer_numbers("attention.compress_ratios", count_);
    if (facts_ == nullptr || has(compressed_keys)) ratios_ = ratios;
    read_indexer_scores(ratios);
    const auto indexer_flags = keys_.read_layer_numbers("attention.indexer.types", count_, true);
    const auto dense_layers = keys_.whole("leading_dense_block_count", 0);
    stack_layers_ = keys_.whole("hrm.layers_per_stack", 0);
    result_.stores_scores = has(no_flash_attention);
    if (has(embedding_twice) && !has_output_)
      result_.notes.add(
          "llama.cpp copies the embedding, which is the output too: the copy is not counted",
          Precision::at_least);
    loops_ = has(looped) ? keys_.whole("num_loops", 1) : 1;
    indexer_flags_ = indexer_flags.value_or(Gguf::Numbers(count_, 1));
    if (has(indexer_keeps_values))
      for (std::size_t i = 0; i < count_; ++i) indexer_flags_[i] = i >= dense_layers ? 1 : 0;
    else if (has(indexer_shared) && !indexer_flags && result_.context_length >= 1u << 20)
      for (std::size_t i = 0; i < count_; ++i) indexer_flags_[i] = i < 2 || i % 4 == 2 ? 1 : 0;
    else if (indexer_size_ != 0 && !indexer_flags && !ratios_)
      keys_.note_missing("attention.indexer.types", "one in each layer is counted");
  }

  // One sum of all heads, or the scores of each head and a copy, for cached tokens that share a
  // key.
  void read_indexer_scores(const std::optional<Gguf::Numbers>& ratios) {
    if (indexer_size_ == 0) return;
    const auto heads = keys_.whole("attention.indexer.head_count", 1);
    const auto ratio = ratios && !ratios->empty() ? std::max<std::uint64_t>(ratios->front(), 1) : 1;
    result_.indexer_scores = has(indexer_scores_by_head) ? saturating_product(2, heads) / ratio : 1;
  }

  // Files from before April 2025 lack key_length_mla; llama.cpp keeps whole keys for them.
  void read_latent() {
    const auto rank = keys_.whole("attention.kv_lora_rank", 0);
    keys_.find("attention.kv_lora_rank_swa");
    keys_.find("attention.key_length_mla_swa");
    keys_.find("attention.value_length_mla_swa");
    const auto key_length = keys_.whole("attention.key_length_mla", 0);
    const auto value_length = keys_.whole("attention.value_length_mla", 0);
    if ((key_length != 0) != (value_length != 0))
      result_.notes.add(fmt::format("\"{}.attention\" has one of key_length_mla and "
                                    "value_length_mla: whole keys and values are counted",
                                    result_.type),
                        Precision::about);
    is_latent_ = key_length != 0 && value_length != 0;
    if (!is_latent_) return;
    if (!key_size_ && rank != 0) {
      key_size_ = saturating_sum(rank, keys_.whole("rope.dimension_count", 0));
      keys_.note_missing("attention.key_length", fmt::format("{} is counted", *key_size_));
    }
    // Queries before they are made latent, and outputs after it.
    result_.projected_size =
        saturating_product(result_.head_count, saturating_sum(key_length, value_length));
  }

  // llama.cpp checks both lengths of each layer, also where it keeps no values.
  void note_head_sizes(std::size_t index) {
    const auto size = heads_[0] == 0 ? 0 : result_.hidden_size / heads_[0];
    const bool is_window = has_window(index);
    const auto key = key_size_.value_or(size);
    const auto value = value_size_.value_or(size);
    for (const auto head : {is_window ? window_key_size_.value_or(key) : key,
                            is_window ? window_value_size_.value_or(value) : value})
      if (std::find(result_.head_sizes.begin(), result_.head_sizes.end(), head) ==
          result_.head_sizes.end())
        result_.head_sizes.push_back(head);
  }

  Layer make_router_layer() {
    Layer layer;
    layer.has_weights = false;
    if (find_largest(heads_) == 0) return layer;
    layer.kv_heads = 1;
    layer.cache = CacheKind::full;
    layer.key_size = key_size_.value_or(result_.hidden_size / find_largest(heads_));
    layer.value_size = value_size_.value_or(layer.key_size);
    return layer;
  }

  Layer make_layer(std::size_t index) {
    Layer layer;
    const bool has_state = is_recurrent(index);
    const bool has_both = facts_ != nullptr && facts_->state_rule == StateRule::all_with_attention;
    if (has_state) layer.state_size = state_size_;
    layer.has_weights = (has_state || heads_[index] != 0 || feed_forward_[index] != 0) &&
                        (stack_layers_ == 0 || index < 2 * stack_layers_);
    note_head_sizes(index);
    if (heads_[index] == 0 || kv_heads_[index] == 0 || (has_state && !has_both) ||
        index >= layers_with_kv_)
      return layer;
    layer.kv_heads = saturating_product(kv_heads_[index], loops_);
    read_sizes(layer, result_.hidden_size / heads_[index], index);
    if (ratios_)
      compress(layer, (*ratios_)[index]);
    else if (indexer_flags_[index] != 0 && layer.window == 0)
      layer.extra_size = saturating_sum(
          indexer_size_, has(indexer_keeps_values) ? value_size_.value_or(layer.key_size) : 0);
    return layer;
  }

  std::uint64_t read_head_size(std::string_view name,
                               const std::optional<std::uint64_t>& stored_size,
                               std::uint64_t fallback) {
    if (!stored_size) keys_.note_missing(name, fmt::format("{} is counted", fallback));
    return stored_size ? keys_.require(name) : fallback;
  }

  void read_sizes(Layer& layer, std::uint64_t default_size, std::size_t index) {
    layer.cache = CacheKind::full;
    layer.key_size = read_head_size("attention.key_length", key_size_, default_size);
    if (!is_latent_)
      layer.value_size = read_head_size("attention.value_length", value_size_, default_size);
    if (layer.key_size == 0)
      keys_.refuse(fmt::format("{} heads: expected at most {}, the embedding's length",
                               heads_[index], result_.hidden_size));
    if (has_window(index)) {
      layer.cache = CacheKind::window;
      layer.key_size = window_key_size_.value_or(layer.key_size);
      layer.value_size = window_value_size_.value_or(layer.value_size);
      layer.window = window_;
      layer.is_chunked = window_rule_.is_chunked;
    }
    if (!is_latent_) return;
    layer.cache = CacheKind::latent;
    layer.key_size = saturating_product(layer.kv_heads, layer.key_size);
    layer.value_size = 0;
  }

  // DeepSeek-V4, by src/llama-kv-cache-dsv4.cpp: keys serve as values; a layer of ratio 4 has an
  // indexer, and both have two states of 8 rows of twice their size.
  void compress(Layer& layer, std::uint64_t ratio) {
    if (layer.value_size != layer.key_size)
      result_.notes.add(fmt::format("heads of {} have values of {}: expected the same, the keys",
                                    layer.key_size, layer.value_size),
                        Precision::about);
    layer.cache = CacheKind::latent;
    layer.key_size = saturating_product(layer.kv_heads, layer.key_size);
    layer.value_size = 0;
    if (ratio == 0) return;
    const bool has_indexer = ratio == 4;
    layer.extra_size = saturating_sum(layer.key_size, has_indexer ? indexer_size_ : 0);
    layer.tokens_per_extra = ratio;
    layer.state_size =
        has_indexer ? saturating_product(2 * 8 * 2, saturating_sum(layer.key_size, indexer_size_))
                    : saturating_product(2, ratio, layer.key_size);
    if (has_indexer && indexer_size_ == 0)
      keys_.note_missing("attention.indexer.key_length", "its cache is not counted",
                         Precision::at_least);
  }

  bool keeps_nothing() const {
    return std::all_of(result_.layers.begin(), result_.layers.end(), [](const Layer& layer) {
      return layer.cache == CacheKind::none && layer.state_size == 0;
    });
  }

  const ArchitectureFacts* facts_;
  Architecture result_;
  GgufKeys keys_;
  std::uint64_t embedding_elements_ = 0;  // elements of its matrix
  std::size_t count_ = 0;                 // of layers that do not only predict
  Gguf::Numbers heads_;                   // of each layer, as are the next two
  Gguf::Numbers kv_heads_;
  Gguf::Numbers feed_forward_;
  std::uint64_t layers_with_kv_ = 0;  // layers from the first that have a cache of their own
  WindowRule window_rule_;
  std::uint64_t window_ = 0;
  const Gguf::Value* window_pattern_ = nullptr;
  std::optional<Gguf::Numbers> window_flags_;  // whether a layer has the window
  StateKind state_kind_ = StateKind::none;
  std::optional<Gguf::Numbers> recurrent_;
  std::uint64_t interval_ = 0;
  std::uint64_t state_size_ = 0;
  bool lacks_state_ = false;
  std::optional<std::uint64_t> key_size_;  // sizes of a head
  std::optional<std::uint64_t> value_size_;
  std::optional<std::uint64_t> window_key_size_;  // in layers with a window
  std::optional<std::uint64_t> window_value_size_;
  bool is_latent_ = false;          // keys serve as values
  bool has_output_ = false;         // a matrix of its own
  std::uint64_t stack_layers_ = 0;  // HRM: of two stacks, which later layers use again
  std::uint64_t loops_ = 1;         // passes through the layers
  std::uint64_t indexer_size_ = 0;
  Gguf::Numbers indexer_flags_;
  std::optional<Gguf::Numbers> ratios_;
};

}  // namespace

Expected<Architecture> read_architecture(const Gguf& file) {
  const auto* type = file.text("general.architecture");
  if (type == nullptr || type->empty())
    return make_failure("key \"general.architecture\": expected the name of one");
  return GgufReader(file, *type).read();
}

}  // namespace hmn::cli::fit
