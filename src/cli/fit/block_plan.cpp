// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/block_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/fit/architecture.hpp"
#include "cli/fit/attention_shape.hpp"

namespace hmn::cli::fit {
namespace {

struct named_mixer {
  std::string_view name;
  mixer mix;
};
// Values of layer_types and layers_block_type.
constexpr named_mixer mixers[] = {
    {"full_attention", mixer::attention},
    {"attention", mixer::attention},
    {"global_attention", mixer::attention},
    {"sliding_attention", mixer::window},
    {"sliding_window_attention", mixer::window},
    {"local_attention", mixer::window},
    {"chunked_attention", mixer::window},
    {"linear_attention", mixer::linear},
    {"mamba", mixer::mamba},
    {"mamba2", mixer::mamba},
    {"ssm", mixer::mamba},
    {"conv", mixer::convolution},
    {"hybrid", mixer::both},
};

std::optional<mixer> mixer_named(const std::string& name) {
  for (const auto& each : mixers)
    if (each.name == name) return each.mix;
  return std::nullopt;
}

bool has_number(const json_tree::list* in, std::size_t wanted) {
  return in != nullptr && std::any_of(in->begin(), in->end(), [wanted](const json_tree& each) {
           return each.whole() == wanted;
         });
}

class planner {
 public:
  planner(config_keys& keys, std::vector<std::string>& assumptions)
      : keys_(keys), assumptions_(assumptions) {}

  std::vector<block> plan() {
    const auto count = keys_.needed({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    if (count > most_layers)
      keys_.refuse(
          fmt::format("\"num_hidden_layers\" is {}: expected at most {}", count, most_layers));
    if (!keys_.wrong().empty()) return {};
    read(static_cast<std::size_t>(count));
    std::vector<block> blocks;
    for (std::size_t i = 0; i < count && keys_.wrong().empty(); ++i) blocks.push_back(at(i));
    return blocks;
  }

 private:
  void read(std::size_t count) {
    types_ = keys_.list({"layer_types", "layers_block_type"});
    pattern_ = keys_.text({"hybrid_override_pattern"});
    const auto given = types_ != nullptr ? types_->size() : pattern_ ? pattern_->size() : count;
    if (given < count)
      keys_.refuse(fmt::format("the list of layers has {} entries: expected {}", given, count));
    is_latent_ = keys_.whole({"kv_lora_rank"}) != 0;
    experts_ = expert_shape_of(keys_).count;
    read_window();
  }

  void read_window() {
    window_ = keys_.whole({"sliding_window", "sliding_window_size", "attention_chunk_size"});
    const auto in_use = keys_.truth("use_sliding_window");
    const bool off_by_default = keys_.type().starts_with("qwen");
    if (!in_use.value_or(!off_by_default)) window_ = 0;
    if (window_ == 0 || types_ != nullptr || pattern_ != nullptr || is_latent_) return;
    every_ = keys_.whole({"sliding_window_pattern"});
    if (keys_.is_any_of({"gemma2"})) every_ = 2;
    all_see_window_ = in_use.value_or(false) ||
                      keys_.is_any_of({"mistral", "mixtral", "phi3", "phimoe", "starcoder2"});
    if (every_ != 0 || all_see_window_) return;
    assumptions_.push_back(
        fmt::format("the sliding window of {} tokens is not counted on: the configuration does "
                    "not give the layers that have it",
                    window_));
  }

  block at(std::size_t index) {
    block made;
    if (pattern_ != nullptr) return from_letter((*pattern_)[index]);
    made.mix = mix_at(index);
    if (made.mix == mixer::window) made.window = window_;
    if (made.mix == mixer::window && window_ == 0) {
      made.mix = mixer::attention;
      assume("layers with a window are counted as full attention: its length is not specified");
    }
    if (made.mix == mixer::attention && is_latent_) made.mix = mixer::latent;
    made.feed = feed_at(index);
    return made;
  }

  // Nemotron-H: each layer has a single function.
  block from_letter(char letter) {
    if (letter == 'M') return {mixer::mamba, forward::none, 0};
    if (letter == '*') return {mixer::attention, forward::none, 0};
    if (letter == '-') return {mixer::none, forward::dense, 0};
    if (letter == 'E') return {mixer::none, forward::experts, 0};
    keys_.refuse(fmt::format("\"hybrid_override_pattern\": '{}': expected M, *, - or E", letter));
    return {};
  }

  mixer mix_at(std::size_t index) {
    if (types_ != nullptr) return from_word((*types_)[index]);
    if (keys_.is_any_of({"mamba", "mamba2", "falcon_mamba"})) return mixer::mamba;
    if (keys_.is_any_of({"falcon_h1"})) return mixer::both;
    if (const auto period = keys_.whole({"attn_layer_period"}))
      return index % period == keys_.whole({"attn_layer_offset"}) ? mixer::attention : mixer::mamba;
    if (const auto* attending = keys_.list({"attn_layer_indices"}))
      return has_number(attending, index) ? mixer::attention : mixer::mamba;
    if (const auto interval = keys_.whole({"full_attention_interval"}))
      return (index + 1) % interval == 0 ? mixer::attention : mixer::linear;
    return sees_window(index) ? mixer::window : mixer::attention;
  }

  bool sees_window(std::size_t index) {
    if (window_ == 0) return false;
    if (every_ != 0) return (index + 1) % every_ != 0;
    return all_see_window_ && index >= keys_.whole({"max_window_layers"});
  }

  mixer from_word(const json_tree& word) {
    const auto* name = word.text();
    if (name == nullptr) {
      keys_.refuse(fmt::format("\"layer_types\": {}: expected a text", word.shown()));
      return mixer::attention;
    }
    if (const auto known = mixer_named(*name)) return *known;
    assume(fmt::format("layers of type \"{}\" are counted as full attention", *name));
    return mixer::attention;
  }

  void assume(std::string given) {
    if (std::find(assumptions_.begin(), assumptions_.end(), given) == assumptions_.end() &&
        assumptions_.size() < 20)
      assumptions_.push_back(std::move(given));
  }

  forward feed_at(std::size_t index) {
    if (keys_.is_any_of({"mamba", "mamba2", "falcon_mamba"})) return forward::none;
    if (experts_ <= 1) return forward::dense;
    if (const auto* given = keys_.list({"mlp_layer_types"}); given && index < given->size())
      return (*given)[index].text() && *(*given)[index].text() == "dense" ? forward::dense
                                                                          : forward::experts;
    if (index < keys_.whole({"first_k_dense_replace"})) return forward::dense;
    if (has_number(keys_.list({"mlp_only_layers"}), index)) return forward::dense;
    if (const auto period = keys_.whole({"expert_layer_period"}))
      return choose(index % period == keys_.whole({"expert_layer_offset"}));
    if (const auto step = keys_.whole({"decoder_sparse_step", "interleave_moe_layer_step"}))
      return choose((index + 1) % step == 0);
    const auto* often = keys_.value({"moe_layer_freq"});
    if (often != nullptr && often->whole().value_or(0) != 0)
      return choose(index % *often->whole() == 0);
    return forward::experts;
  }
  static forward choose(bool experts) { return experts ? forward::experts : forward::dense; }

  config_keys& keys_;
  std::vector<std::string>& assumptions_;
  const json_tree::list* types_ = nullptr;
  const std::string* pattern_ = nullptr;
  std::uint64_t experts_ = 0;
  std::uint64_t window_ = 0;
  std::uint64_t every_ = 0;  // the last of this many layers has full attention
  bool all_see_window_ = false;
  bool is_latent_ = false;
};

}  // namespace

std::vector<block> plan_blocks(config_keys& keys, std::vector<std::string>& assumptions) {
  return planner(keys, assumptions).plan();
}

}  // namespace hmn::cli::fit
