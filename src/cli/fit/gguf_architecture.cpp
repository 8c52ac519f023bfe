// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/gguf_architecture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fit/amount.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::uint64_t largest_value = 1u << 31;

// Architectures with full attention in each nth layer and a window in the others, where the file
// omits it (src/llama-model.cpp of llama.cpp).
struct window_pattern {
  std::string_view architecture;
  std::uint64_t every;
  bool first;  // the first of each `every` has full attention rather than the last
};
constexpr window_pattern window_patterns[] = {
    {"gemma2", 2, false},  {"gemma3", 6, false}, {"gemma3n", 5, false}, {"cohere2", 4, false},
    {"gpt-oss", 2, false}, {"olmo2", 4, false},  {"exaone4", 4, false},
};

class keys {
 public:
  keys(const gguf& file, const std::string& type) : file_(file), prefix_(type + ".") {}

  std::uint64_t whole(std::string_view name, std::uint64_t otherwise = 0) {
    return checked(name, file_.whole(prefix_ + std::string(name)).value_or(otherwise));
  }
  std::uint64_t needed(std::string_view name) {
    const auto value = whole(name);
    if (value == 0)
      refuse(fmt::format("key \"{}{}\" is {}: expected a whole number above 0", prefix_, name,
                         file_.whole(prefix_ + std::string(name)) ? "0" : "missing"));
    return value;
  }
  // Reads a scalar, or the element of a list with one for each layer.
  std::uint64_t of_layer(std::string_view name, std::size_t index, std::uint64_t otherwise) {
    const auto* each = list(name);
    if (each == nullptr) return whole(name, otherwise);
    return index < each->size() ? checked(name, (*each)[index]) : otherwise;
  }
  std::uint64_t largest(std::string_view name) {
    const auto* each = list(name);
    if (each == nullptr) return whole(name);
    return each->empty() ? 0 : checked(name, *std::max_element(each->begin(), each->end()));
  }
  const gguf::numbers* list(std::string_view name) const {
    return file_.list(prefix_ + std::string(name));
  }
  const std::string& wrong() const { return wrong_; }
  void refuse(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }

 private:
  std::uint64_t checked(std::string_view name, std::uint64_t value) {
    if (value <= largest_value) return value;
    refuse(fmt::format("key \"{}{}\" is {}: expected a whole number up to {}", prefix_, name, value,
                       largest_value));
    return 0;
  }

  const gguf& file_;
  std::string prefix_;
  std::string wrong_;
};

// Returns the size of Mamba's and gated delta nets' convolution and state, or of a short
// convolution, in llama.cpp's layout.
std::uint64_t state_size(keys& of, std::uint64_t hidden) {
  if (const auto length = of.whole("shortconv.l_cache")) return times(hidden, length - 1);
  const auto inner = of.whole("ssm.inner_size");
  const auto state = of.whole("ssm.state_size");
  const auto groups = of.whole("ssm.group_count");
  const auto kernel = of.whole("ssm.conv_kernel");
  const auto channels = plus(inner, times(2, groups, state));
  return plus(times(inner, state), times(channels, kernel == 0 ? 0 : kernel - 1));
}

class architecture_reader {
 public:
  architecture_reader(const gguf& file, std::string type) : of_(file, type) {
    out_.type = std::move(type);
  }

  expected<architecture> read() {
    const auto count = of_.needed("block_count");
    if (of_.wrong().empty() && count > most_layers)
      return failed(fmt::format("key \"{}.block_count\" is {}: expected at most {}", out_.type,
                                count, most_layers));
    if (of_.whole("attention.causal", 1) == 0)
      return failed(
          fmt::format("key \"{}.attention.causal\" is false: expected a decoder", out_.type));
    scalars();
    if (!of_.wrong().empty()) return failed(of_.wrong());
    window_ = of_.largest("attention.sliding_window");
    note_window();
    for (std::size_t i = 0; i < count; ++i) out_.layers.push_back(layer_at(i));
    if (of_.wrong().empty() && (keeps_nothing() || out_.type.starts_with("t5")))
      return failed(
          fmt::format("architecture \"{}\": expected a decoder whose layers have attention "
                      "or an SSM's keys",
                      out_.type));
    share_caches();
    if (!of_.wrong().empty()) return failed(of_.wrong());
    return std::move(out_);
  }

 private:
  void scalars() {
    out_.hidden_size = of_.needed("embedding_length");
    out_.head_count = of_.largest("attention.head_count");
    const auto experts = of_.whole("expert_used_count");
    const auto expert = of_.whole("expert_feed_forward_length", of_.largest("feed_forward_length"));
    out_.feed_forward_size = std::max(of_.largest("feed_forward_length"), times(expert, experts));
    out_.vocabulary_size = of_.whole("vocab_size");
    if (const auto context = of_.whole("context_length")) out_.context_length = context;
  }

  bool sees_window(std::size_t index) {
    if (window_ == 0) return false;
    if (const auto* each = of_.list("attention.sliding_window_pattern"))
      return index < each->size() && (*each)[index] != 0;
    if (const auto every = of_.whole("attention.sliding_window_pattern"))
      return (index + 1) % every != 0;
    for (const auto& known : window_patterns)
      if (known.architecture == out_.type) return (index + 1) % known.every != 0;
    return false;
  }

  void note_window() {
    if (window_ == 0) return;
    for (std::size_t i = 0; i < 6; ++i)
      if (sees_window(i)) return;
    out_.assumptions.push_back(
        fmt::format("the sliding window of {} tokens is not counted on: the file does not give "
                    "the layers that have it",
                    window_));
  }

  layer layer_at(std::size_t index) {
    layer made;
    const auto heads = of_.of_layer("attention.head_count", index, 0);
    made.kv_heads = of_.of_layer("attention.head_count_kv", index, heads);
    if (is_recurrent(index)) made.kv_heads = 0;
    // Falcon-H1 has both in each layer; elsewhere a layer without KV heads is recurrent.
    if (made.kv_heads == 0 || out_.type == "falcon-h1")
      made.state_size = state_size(of_, out_.hidden_size);
    if (made.kv_heads == 0 || heads == 0) return made;
    const auto head = out_.hidden_size / heads;
    made.key_size = of_.whole("attention.key_length", head);
    if (made.key_size == 0)
      of_.refuse(fmt::format("{} heads: expected at most {}, the embedding's length", heads,
                             out_.hidden_size));
    made.value_size = of_.whole("attention.value_length", head);
    made.cache = cache_kind::full;
    if (is_latent()) {
      made.cache = cache_kind::latent;
      made.key_size = plus(of_.whole("attention.kv_lora_rank"), of_.whole("rope.dimension_count"));
    } else if (sees_window(index)) {
      made.cache = cache_kind::window;
      made.window = window_;
      made.key_size = of_.whole("attention.key_length_swa", made.key_size);
      made.value_size = of_.whole("attention.value_length_swa", made.value_size);
    }
    return made;
  }

  // Handles Qwen3-Next and similar, ignoring the file's heads: recurrent layers are listed, or are
  // all but the last of each group.
  bool is_recurrent(std::size_t index) {
    if (const auto* each = of_.list("attention.recurrent_layers"))
      return index < each->size() && (*each)[index] != 0;
    const auto interval = of_.whole("full_attention_interval", out_.type == "qwen3next" ? 4 : 0);
    return interval != 0 && of_.whole("ssm.inner_size") != 0 && (index + 1) % interval != 0;
  }

  bool keeps_nothing() const {
    return std::all_of(out_.layers.begin(), out_.layers.end(), [](const layer& each) {
      return each.cache == cache_kind::none && each.state_size == 0;
    });
  }

  // Returns false for files from before April 2025, which lack the key and use a full cache.
  bool is_latent() {
    return of_.whole("attention.kv_lora_rank") != 0 && of_.whole("attention.key_length_mla") != 0;
  }

  // Handles Gemma 3n, whose last layers reuse the caches of earlier ones.
  void share_caches() {
    const auto shared =
        std::min<std::uint64_t>(of_.whole("attention.shared_kv_layers"), out_.layers.size());
    for (std::uint64_t i = 0; i < shared; ++i)
      out_.layers[out_.layers.size() - 1 - i].cache = cache_kind::none;
  }

  keys of_;
  architecture out_;
  std::uint64_t window_ = 0;
};

}  // namespace

expected<architecture> architecture_of(const gguf& file) {
  const auto* type = file.text("general.architecture");
  if (type == nullptr || type->empty())
    return failed("key \"general.architecture\": expected the name of one");
  return architecture_reader(file, *type).read();
}

}  // namespace hmn::cli::fit
