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
  GgufKeys(const Gguf& file, const std::string& type, Notes& noted)
      : file_(file), prefix_(type + "."), noted_(noted) {}

  const Gguf::Value* find(std::string_view name) {
    read_.emplace(name);
    return file_.find(prefix_ + std::string(name));
  }
  std::optional<std::uint64_t> whole(std::string_view name) {
    const auto* found = find(name);
    if (found == nullptr) return std::nullopt;
    if (const auto* value = std::get_if<std::uint64_t>(found)) return checked(name, *value);
    refuse(fmt::format("key \"{}{}\": expected a whole number", prefix_, name));
    return std::nullopt;
  }
  std::uint64_t whole(std::string_view name, std::uint64_t otherwise) {
    return whole(name).value_or(otherwise);
  }
  // Reads a key that the file should have; says what is counted in its place.
  std::uint64_t taken(std::string_view name, std::uint64_t otherwise,
                      Precision made = Precision::counted) {
    if (const auto value = whole(name)) return *value;
    missing(name, fmt::format("{} is counted", otherwise), made);
    return otherwise;
  }
  std::uint64_t needed(std::string_view name) {
    const auto value = whole(name);
    if (value.value_or(0) == 0)
      refuse(fmt::format("key \"{}{}\" is {}: expected a whole number above 0", prefix_, name,
                         value ? "0" : "missing"));
    return value.value_or(0);
  }
  // Reads a number for each layer, or one for all of them. A short list is as long as its largest
  // value, or 0 for `flags`, makes it.
  std::optional<Gguf::Numbers> of_layers(std::string_view name, std::size_t layers,
                                         bool flags = false) {
    const auto* found = find(name);
    if (found == nullptr) return std::nullopt;
    const auto* list = std::get_if<Gguf::Numbers>(found);
    if (list == nullptr) return Gguf::Numbers(layers, whole(name).value_or(0));
    for (const auto each : *list) checked(name, each);
    auto all = *list;
    const auto most = all.empty() || flags ? 0 : *std::max_element(all.begin(), all.end());
    if (all.size() < layers)
      noted_.add(fmt::format("\"{}{}\" has {} values for {} layers: the others are counted as {}",
                             prefix_, name, all.size(), layers, most),
                 Precision::about);
    if (flags && std::any_of(all.begin(), all.end(), [](std::uint64_t each) { return each > 1; }))
      noted_.add(fmt::format("\"{}{}\" has values other than 0 and 1: these are counted as 1",
                             prefix_, name),
                 Precision::about);
    all.resize(layers, most);
    return all;
  }
  void missing(std::string_view name, std::string_view instead,
               Precision made = Precision::counted) {
    noted_.add(fmt::format("\"{}{}\" is missing: {}", prefix_, name, instead), made);
  }
  // Names the keys that may change the memory and that nothing has read.
  void name_unread() {
    for (const auto& [key, value] : file_.metadata) {
      if (!key.starts_with(prefix_)) continue;
      const auto name = std::string_view(key).substr(prefix_.size());
      if (read_.find(name) == read_.end() && may_change_memory_in_gguf(name))
        noted_.add(fmt::format("\"{}\" is not understood", key), Precision::about);
    }
  }

  const std::string& wrong() const { return wrong_; }
  void refuse(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }

 private:
  std::uint64_t checked(std::string_view name, std::uint64_t value) {
    if (value <= largest_size) return value;
    refuse(fmt::format("key \"{}{}\" is {}: expected a whole number up to {}", prefix_, name, value,
                       largest_size));
    return 0;
  }

  const Gguf& file_;
  std::string prefix_;
  Notes& noted_;
  std::set<std::string, std::less<>> read_;
  std::string wrong_;
};

std::uint64_t largest(const Gguf::Numbers& of) {
  return of.empty() ? 0 : *std::max_element(of.begin(), of.end());
}

class GgufReader {
 public:
  GgufReader(const Gguf& file, const std::string& type)
      : facts_(facts_of_gguf(type)), keys_(file, type, out_.noted) {
    out_.type = type;
    out_.by = Runtime::llama_cpp;
    for (const auto& each : file.tensors)
      if (each.name == "token_embd.weight") embedding_ = each.elements;
  }

  Expected<Architecture> read() {
    const auto count = keys_.needed("block_count");
    if (count > most_layers)
      return failed(fmt::format("key \"{}.block_count\" is {}: expected at most {}", out_.type,
                                count, most_layers));
    if (keys_.whole("attention.causal", 1) == 0)
      return failed(
          fmt::format("key \"{}.attention.causal\" is false: expected a decoder", out_.type));
    const bool is_encoder = facts_ != nullptr && (facts_->traits & encoder) != 0;
    out_.hidden_size = keys_.needed("embedding_length");
    if (!keys_.wrong().empty()) return failed(keys_.wrong());
    read_scalars(static_cast<std::size_t>(count));
    read_windows();
    read_states();
    read_attention();
    for (std::size_t i = 0; i < count_ && keys_.wrong().empty(); ++i)
      out_.layers.push_back(layer_at(i));
    Layer predicting;  // keeps nothing
    predicting.has_weights = false;
    out_.layers.resize(static_cast<std::size_t>(count), predicting);
    if (!keys_.wrong().empty()) return failed(keys_.wrong());
    if (keeps_nothing() || (is_encoder && !keys_.whole("attention.causal")))
      return failed(
          fmt::format("architecture \"{}\": expected a decoder whose layers have attention "
                      "or an SSM's keys",
                      out_.type));
    if (facts_ == nullptr)
      out_.noted.add(fmt::format("architecture \"{}\" is not known: counted by its keys, with "
                                 "attention wherever they say nothing else",
                                 out_.type),
                     Precision::about);
    keys_.name_unread();
    return std::move(out_);
  }

 private:
  void read_scalars(std::size_t count) {
    count_ = count;
    if (const auto more = keys_.whole("nextn_predict_layers", 0); more != 0 && more < count) {
      count_ -= static_cast<std::size_t>(more);
      out_.noted.add(
          fmt::format("the last {} of {} layers only predict: their weights are "
                      "counted, a cache for them is not",
                      more, count));
    } else if (more != 0) {
      keys_.refuse(
          fmt::format("key \"{}.nextn_predict_layers\" is {}: expected less than the {} "
                      "layers",
                      out_.type, more, count));
    }
    const auto heads = keys_.of_layers("attention.head_count", count_);
    heads_ = heads.value_or(Gguf::Numbers(count_, 0));
    auto kv = keys_.of_layers("attention.head_count_kv", count_);
    if (heads && !kv && largest(heads_) != 0)
      keys_.missing("attention.head_count_kv", "as many as heads are counted");
    kv_ = kv ? *kv : heads_;
    auto forward = keys_.of_layers("feed_forward_length", count_);
    if (!forward)
      keys_.missing("feed_forward_length", "working memory is counted without it",
                    Precision::at_least);
    forward_ = forward.value_or(Gguf::Numbers(count_, 0));
    out_.head_count = largest(heads_);
    out_.feed_forward_size = plus(largest(forward_), experts());
    if (const auto context = keys_.whole("context_length", 0)) out_.context_length = context;
    // llama.cpp: a matrix of embedding width times vocabulary
    out_.vocabulary_size = embedding_ != 0 ? embedding_ / out_.hidden_size : 0;
    if (embedding_ == 0) out_.vocabulary_size = keys_.taken("vocab_size", 0, Precision::at_least);
    const auto shared = keys_.whole("attention.shared_kv_layers");
    with_kv_ = shared ? count_ - std::min<std::uint64_t>(*shared, count_) : count_;
    if (shared || facts_ == nullptr || facts_->layers_with_kv == 0) return;
    with_kv_ = std::min<std::uint64_t>(facts_->layers_with_kv, count_);
    keys_.missing("attention.shared_kv_layers",
                  fmt::format("the first {} layers have a cache", with_kv_));
  }

  // Returns the width of the experts that a token uses, and its router's outputs.
  std::uint64_t experts() {
    const auto count = keys_.whole("expert_count", 0);
    const auto given = keys_.whole("expert_feed_forward_length");
    const auto used = keys_.whole("expert_used_count");
    const auto shared = keys_.whole("expert_shared_count", 0);
    const auto shared_size = keys_.whole("expert_shared_feed_forward_length");
    if (count == 0) {
      if (used.value_or(0) != 0)
        keys_.missing("expert_count", "its experts are in the weights alone", Precision::about);
      return 0;
    }
    if (!given)
      keys_.missing("expert_feed_forward_length",
                    fmt::format("{} of feed_forward_length is counted", largest(forward_)));
    if (!used) keys_.missing("expert_used_count", "all are counted", Precision::about);
    const auto size = given.value_or(largest(forward_));
    return plus(times(size, used.value_or(count)), count,
                shared_size ? times(*shared_size, std::max<std::uint64_t>(shared, 1))
                            : times(shared, size));
  }

  void read_windows() {
    const auto given = keys_.of_layers("attention.sliding_window", 1);
    pattern_ = keys_.find("attention.sliding_window_pattern");
    rule_ = facts_ != nullptr ? facts_->window : WindowRule{};
    window_ = given ? largest(*given) : rule_.size;
    if (!given && window_ != 0)
      keys_.missing("attention.sliding_window", fmt::format("{} tokens are counted", window_));
    if (pattern_ != nullptr && std::holds_alternative<std::uint64_t>(*pattern_)) {
      const auto every = keys_.whole("attention.sliding_window_pattern", 0);
      rule_.every = every == 0 ? WindowRule::all : static_cast<std::uint32_t>(every);
    } else if (pattern_ != nullptr) {
      flags_ = keys_.of_layers("attention.sliding_window_pattern", count_, true);
    }
    if (window_ == 0 || flags_ || rule_.every != 0) return;
    if (facts_ != nullptr && out_.type != "gemma4" && out_.type != "mimo2")
      out_.noted.add(
          fmt::format("the window of {} tokens is not used by llama.cpp: all tokens are "
                      "counted",
                      window_));
    else
      out_.noted.add(fmt::format("the sliding window of {} tokens is not counted on: the file does "
                                 "not give the layers that have it",
                                 window_),
                     Precision::about);
  }

  bool sees_window(std::size_t index) const {
    if (window_ == 0) return false;
    return flags_ ? (*flags_)[index] != 0 : rule_.sees_window(index);
  }

  void read_states() {
    recurrent_ = keys_.of_layers("attention.recurrent_layers", count_, true);
    kind_ = facts_ != nullptr ? facts_->state : guessed_state();
    const auto has = facts_ != nullptr ? facts_->has_state : StateRule::without_kv;
    if (has == StateRule::interval && !recurrent_)
      interval_ = keys_.taken("full_attention_interval", 4);
    else
      interval_ = keys_.whole("full_attention_interval", 0);
    if (kind_ != StateKind::none) state_ = state_size();
  }

  StateKind guessed_state() {
    if (keys_.whole("shortconv.l_cache")) return StateKind::convolution;
    return keys_.whole("ssm.inner_size") ? StateKind::mamba2 : StateKind::none;
  }

  // Reads a size of the state; without it nothing is counted for the layers that have one.
  std::uint64_t of_state(std::string_view name) {
    const auto value = keys_.whole(name);
    if (!value) keys_.missing(name, "the layers' states are not counted", Precision::at_least);
    lacks_state_ = lacks_state_ || !value;
    return value.value_or(0);
  }

  // Sizes of n_embd_r and n_embd_s in src/llama-hparams.cpp.
  std::uint64_t state_size() {
    const auto hidden = out_.hidden_size;
    if (kind_ == StateKind::convolution) {
      const auto length = of_state("shortconv.l_cache");
      return times(hidden, length == 0 ? 0 : length - 1);
    }
    if (kind_ == StateKind::rwkv) {
      const auto head = of_state("wkv.head_size");
      const auto shifts = keys_.whole("token_shift_count", 2);
      return lacks_state_ ? 0 : times(hidden, plus(shifts, head));
    }
    const auto kernel = of_state("ssm.conv_kernel");
    const auto kept = kernel == 0 ? 0 : kernel - 1;
    if (kind_ == StateKind::kimi_delta) {
      const auto size = of_state("kda.head_dim");
      const auto width = times(largest(heads_), size);
      return plus(times(width, size), times(3, width, kept));
    }
    const auto inner = of_state("ssm.inner_size");
    const auto state = of_state("ssm.state_size");
    const bool is_first = kind_ == StateKind::mamba;
    const auto groups = is_first ? keys_.whole("ssm.group_count", 0) : of_state("ssm.group_count");
    const auto size = plus(times(inner, state), times(plus(inner, times(2, groups, state)), kept));
    return lacks_state_ && inner == 0 ? 0 : size;
  }

  bool is_recurrent(std::size_t index) const {
    if (recurrent_) return (*recurrent_)[index] != 0;
    if (interval_ != 0 && kind_ != StateKind::none) return (index + 1) % interval_ != 0;
    switch (facts_ != nullptr ? facts_->has_state : StateRule::without_kv) {
      case StateRule::all:
      case StateRule::all_with_attention:
        return true;
      case StateRule::without_kv:
        return kv_[index] == 0;
      case StateRule::without_kv_and_feed_forward:
        return kv_[index] == 0 && forward_[index] == 0;
      default:
        return false;
    }
  }

  // Reads what all layers with attention have in common.
  void read_attention() {
    key_ = keys_.whole("attention.key_length");
    value_ = keys_.whole("attention.value_length");
    key_swa_ = keys_.whole("attention.key_length_swa");
    value_swa_ = keys_.whole("attention.value_length_swa");
    read_latent();
    indexer_ = keys_.whole("attention.indexer.key_length", 0);
    ratios_ = keys_.of_layers("attention.compress_ratios", count_);
    const auto each = keys_.of_layers("attention.indexer.types", count_, true);
    if (indexer_ != 0 && !each && !ratios_)
      keys_.missing("attention.indexer.types", "one in each layer is counted");
    has_indexer_ = each.value_or(Gguf::Numbers(count_, 1));
  }

  // Files from before April 2025 lack key_length_mla; llama.cpp keeps whole keys for them.
  void read_latent() {
    const auto rank = keys_.whole("attention.kv_lora_rank", 0);
    const auto key = keys_.whole("attention.key_length_mla", 0);
    const auto value = keys_.whole("attention.value_length_mla", 0);
    if ((key != 0) != (value != 0) || (rank == 0 && key != 0))
      out_.noted.add(fmt::format("\"{}.attention\" has some of kv_lora_rank, key_length_mla and "
                                 "value_length_mla: whole keys and values are counted",
                                 out_.type),
                     Precision::about);
    if (rank == 0 || key == 0 || value == 0) return;
    const auto sum = plus(rank, keys_.needed("rope.dimension_count"));
    latent_ = std::max(key_.value_or(sum), sum);
    if (key_.value_or(sum) != sum)
      out_.noted.add(fmt::format("\"{0}.attention.key_length\" is {1}, kv_lora_rank and "
                                 "rope.dimension_count make {2}: the larger is counted",
                                 out_.type, *key_, sum),
                     Precision::about);
    if (!key_) keys_.missing("attention.key_length", fmt::format("{} is counted", sum));
    if (!value_) keys_.missing("attention.value_length", fmt::format("{} is counted", rank));
    // Queries before they are made latent, and outputs after it.
    out_.projected_size = times(out_.head_count, plus(key, value));
    if (value_ && *value_ != rank)
      out_.noted.add(fmt::format("\"{0}.attention.value_length\" is {1}, kv_lora_rank {2}: "
                                 "the latter is counted",
                                 out_.type, *value_, rank),
                     Precision::about);
  }

  Layer layer_at(std::size_t index) {
    Layer made;
    const bool has_state = is_recurrent(index);
    const bool has_both = facts_ != nullptr && facts_->has_state == StateRule::all_with_attention;
    if (has_state) made.state_size = state_;
    made.has_weights = has_state || heads_[index] != 0 || forward_[index] != 0;
    if (heads_[index] == 0 || kv_[index] == 0 || (has_state && !has_both) || index >= with_kv_)
      return made;
    made.kv_heads = kv_[index];
    read_sizes(made, out_.hidden_size / heads_[index], index);
    if (ratios_)
      compress(made, (*ratios_)[index]);
    else if (has_indexer_[index] != 0)
      made.extra_size = indexer_;
    return made;
  }

  std::uint64_t head_size(std::string_view name, const std::optional<std::uint64_t>& given,
                          std::uint64_t otherwise) {
    if (!given) keys_.missing(name, fmt::format("{} is counted", otherwise));
    return given ? keys_.needed(name) : otherwise;
  }

  void read_sizes(Layer& to, std::uint64_t head, std::size_t index) {
    if (latent_ != 0) {
      to.cache = CacheKind::latent;
      to.key_size = latent_;
      return;
    }
    to.cache = CacheKind::full;
    to.key_size = head_size("attention.key_length", key_, head);
    to.value_size = head_size("attention.value_length", value_, head);
    if (to.key_size == 0)
      keys_.refuse(fmt::format("{} heads: expected at most {}, the embedding's length",
                               heads_[index], out_.hidden_size));
    if (!sees_window(index)) return;
    to.cache = CacheKind::window;
    to.key_size = key_swa_.value_or(to.key_size);
    to.value_size = value_swa_.value_or(to.value_size);
    to.window = window_;
    to.is_chunked = rule_.is_chunked;
  }

  // DeepSeek-V4, by src/llama-kv-cache-dsv4.cpp: keys serve as values; a layer of ratio 4 has an
  // indexer, and both have two states of 8 rows of twice their size.
  void compress(Layer& to, std::uint64_t ratio) {
    if (to.value_size != to.key_size)
      out_.noted.add(fmt::format("heads of {} have values of {}: expected the same, the keys",
                                 to.key_size, to.value_size),
                     Precision::about);
    to.cache = CacheKind::latent;
    to.key_size = times(to.kv_heads, to.key_size);
    to.value_size = 0;
    if (ratio == 0) return;
    const bool has_indexer = ratio == 4;
    to.extra_size = plus(to.key_size, has_indexer ? indexer_ : 0);
    to.extra_every = ratio;
    to.state_size =
        has_indexer ? times(2 * 8 * 2, plus(to.key_size, indexer_)) : times(2, ratio, to.key_size);
    if (has_indexer && indexer_ == 0)
      keys_.missing("attention.indexer.key_length", "its cache is not counted",
                    Precision::at_least);
  }

  bool keeps_nothing() const {
    return std::all_of(out_.layers.begin(), out_.layers.end(), [](const Layer& each) {
      return each.cache == CacheKind::none && each.state_size == 0;
    });
  }

  const ArchitectureFacts* facts_;
  Architecture out_;
  GgufKeys keys_;
  std::uint64_t embedding_ = 0;  // elements of its matrix
  std::size_t count_ = 0;        // of layers that do not only predict
  Gguf::Numbers heads_;          // of each layer, as are the next two
  Gguf::Numbers kv_;
  Gguf::Numbers forward_;
  std::uint64_t with_kv_ = 0;  // layers from the first that have a cache of their own
  WindowRule rule_;
  std::uint64_t window_ = 0;
  const Gguf::Value* pattern_ = nullptr;
  std::optional<Gguf::Numbers> flags_;  // whether a layer has the window
  StateKind kind_ = StateKind::none;
  std::optional<Gguf::Numbers> recurrent_;
  std::uint64_t interval_ = 0;
  std::uint64_t state_ = 0;
  bool lacks_state_ = false;
  std::optional<std::uint64_t> key_;  // sizes of a head
  std::optional<std::uint64_t> value_;
  std::optional<std::uint64_t> key_swa_;  // in layers with a window
  std::optional<std::uint64_t> value_swa_;
  std::uint64_t latent_ = 0;
  std::uint64_t indexer_ = 0;
  Gguf::Numbers has_indexer_;
  std::optional<Gguf::Numbers> ratios_;
};

}  // namespace

Expected<Architecture> architecture_of(const Gguf& file) {
  const auto* type = file.text("general.architecture");
  if (type == nullptr || type->empty())
    return failed("key \"general.architecture\": expected the name of one");
  return GgufReader(file, *type).read();
}

}  // namespace hmn::cli::fit
