// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/units.hpp"

namespace hmn::cli::fit {

// Saturation value: sizes in a file can exceed 64 bits. Sums and products stay at this maximum,
// which every consumer rejects.
constexpr std::uint64_t saturated_size = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 && b > saturated_size / a ? saturated_size : a * b;
}
template <class... Rest>
constexpr std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b,
                                           Rest... rest) noexcept {
  return saturating_product(saturating_product(a, b), static_cast<std::uint64_t>(rest)...);
}
using cli::saturating_sum;
template <class... Rest>
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b, Rest... rest) noexcept {
  return saturating_sum(saturating_sum(a, b), static_cast<std::uint64_t>(rest)...);
}
constexpr std::uint64_t divide_rounding_up(std::uint64_t a, std::uint64_t divisor) noexcept {
  return a / divisor + (a % divisor != 0 ? 1 : 0);
}

// Relation of a counted size to what a runtime takes: as counted, more than that, or either.
enum class Precision { counted, at_least, about };

// Lines about values that a file leaves open, and how exact the answer still is.
struct Notes {
  std::vector<std::string> lines;
  Precision precision = Precision::counted;

  // Adds a line once, and only the first of many.
  void add(std::string line, Precision line_precision = Precision::counted);
  void append(const Notes& other);
};

enum class CacheKind { none, full, window, latent };
// Runtime whose allocation is counted: llama.cpp for a GGUF file, vLLM for a configuration.
enum class Runtime { llama_cpp, vllm };

// Memory of one layer for each sequence.
struct Layer {
  CacheKind cache = CacheKind::none;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;    // of a head; latent: values for each token
  std::uint64_t value_size = 0;  // of a head
  std::uint64_t window = 0;      // tokens; 0: all
  bool is_chunked = false;       // a window that starts again instead of sliding
  std::uint64_t extra_size = 0;  // values of a second cache, of an indexer or of compressed keys
  std::uint64_t tokens_per_extra = 1;  // tokens that share an entry of the second cache
  std::uint64_t state_size = 0;  // values for each sequence of any length, in addition to caches
  bool has_weights = true;       // false: a layer that does nothing, or one that may be left out
};

// Properties of a model that determine its memory, apart from the weights.
struct Architecture {
  std::string type;  // "llama", as named in the file
  Runtime runtime = Runtime::vllm;
  std::uint64_t hidden_size = 0;
  std::uint64_t head_count = 0;
  std::uint64_t projected_size = 0;     // of latent attention or a state, in addition to its heads
  std::uint64_t indexer_scores = 0;     // that llama.cpp stores for a token and a cached token
  std::uint64_t feed_forward_size = 0;  // used by one token in a layer, and its router
  std::uint64_t experts_used = 0;       // by one token; llama.cpp stores the output of each
  std::uint64_t vocabulary_size = 0;
  std::optional<std::uint64_t> context_length;  // of the model's training
  std::vector<Layer> layers;
  std::vector<std::uint64_t> head_sizes;  // that a group of a cache's type must divide
  bool stores_scores = false;             // of attention: llama.cpp has no flash attention for it
  Notes notes;
};

constexpr std::uint64_t max_layers = 10'000;
constexpr std::uint64_t max_size = 1u << 31;

// Layers with a window, where a file does not list them.
struct WindowRule {
  static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t listed = all - 1;  // only layers that the file lists
  std::uint32_t period = 0;  // one layer in this many has full attention; 0: no layer has a window
  bool first_is_full = false;     // the first layer of each period, not the last
  std::uint32_t size = 0;         // tokens, where the file has no key
  std::uint32_t forced_size = 0;  // tokens in llama.cpp, whatever size the file has
  std::uint32_t only_layers = 0;  // in llama.cpp, only models of this many layers have windows
  bool is_chunked = false;

  bool has_window(std::size_t layer) const {
    return period != listed && period != 0 &&
           (first_is_full ? layer % period != 0 : (layer + 1) % period != 0);
  }
};

// Contents of a recurrent layer's state.
enum class StateKind { none, mamba, mamba2, delta, kimi_delta, lightning, convolution, rwkv };
// Layers that have a state in a GGUF file.
enum class StateRule {
  none,
  all,
  all_with_attention,
  without_kv,
  without_kv_and_feed_forward,
  interval,  // all but one in ArchitectureFacts::interval, unless the file has its own interval
};

// Properties of a configuration that have no key.
enum Trait : std::uint32_t {
  two_matrices = 1 << 0,         // in a feed-forward network, without a gate
  tied = 1 << 1,                 // one matrix for input and output, unless a key says otherwise
  query_bias = 1 << 2,           // and of keys and values
  four_norms = 1 << 3,           // in a layer
  query_gate = 1 << 4,           // attention's output is gated by a matrix of the queries' size
  learned_positions = 1 << 5,    // a matrix of the context's length
  window_needs_switch = 1 << 6,  // use_sliding_window
  window_everywhere = 1 << 7,    // in vLLM; llama.cpp keeps the whole context
  half_feed_forward = 1 << 8,    // intermediate_size covers both matrices
  one_kv_head = 1 << 9,          // num_kv_heads counts in the new decoder architecture alone
  inner_is_intermediate_size = 1 << 10,  // Mamba's width is intermediate_size
  shared_expert_like_routed = 1 << 11,   // one shared expert of the routed ones' size
  encoder = 1 << 12,                     // unless its file says that it is a decoder
  every_layer_mamba = 1 << 13,
  every_layer_both = 1 << 14,             // attention and Mamba
  approximate_weights = 1 << 15,          // weights of a configuration are counted approximately
  expert_is_intermediate_size = 1 << 16,  // intermediate_size is that of an expert
  compressed_keys = 1 << 17,              // a list of ratios compresses keys
  indexer_keeps_values = 1 << 18,         // and is in all layers but the leading dense ones
  indexer_shared = 1 << 23,               // by four layers, in models of a million tokens
  router_layer = 1 << 19,                 // a layer of one head in addition to the file's
  looped = 1 << 20,                       // each pass through the layers has its own caches
  no_flash_attention = 1 << 21,           // llama.cpp stores attention scores
  whole_keys = 1 << 24,                   // keys are made from a latent vector, and kept whole
  adjusted_feed_forward = 1 << 25,        // intermediate_size is adjusted
  embedding_twice = 1 << 22,              // llama.cpp copies an embedding that is the output too
  indexer_scores_by_head = 1 << 26,       // llama.cpp stores the scores of each indexer head
};

// Row of the table: an architecture's facts that its files leave to the runtime.
struct ArchitectureFacts {
  std::string_view gguf = {};    // values of general.architecture, separated by blanks
  std::string_view config = {};  // values of model_type
  WindowRule window = {};
  StateKind state = StateKind::none;
  StateRule state_rule = StateRule::none;
  std::uint32_t traits = 0;
  std::string_view source = {};
  std::uint32_t layers_with_kv = 0;  // later ones reuse caches; 0: all, or as the file has it
  std::uint32_t interval = 4;        // one layer in this many has attention
  std::string_view refusal = {};     // what the model is, if it writes no text token by token
};
const ArchitectureFacts* find_gguf_facts(std::string_view architecture) noexcept;
const ArchitectureFacts* find_config_facts(std::string_view model_type) noexcept;

// Default of transformers for a key that published configurations omit; `is_nested`: in a
// text_config that lists only differences.
std::optional<std::uint64_t> find_default(std::string_view model_type, std::string_view key,
                                          bool is_nested) noexcept;

// Whether a key that nothing reads may change what a model needs: it belongs to attention, states,
// experts, windows or caches, and is not known to be without effect.
bool may_change_memory_in_gguf(std::string_view key) noexcept;  // without the architecture's name
bool may_change_memory_in_config(std::string_view key) noexcept;
// Whether a key of a configuration is in no list of known keys.
bool is_unknown_in_config(std::string_view key) noexcept;

}  // namespace hmn::cli::fit
