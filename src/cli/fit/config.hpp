// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/weights.hpp"
#include "cli/text/json.hpp"

namespace hmn::cli::fit {

using KeyNames =
    std::initializer_list<std::string_view>;  // spellings of one key in different models

// Keys of a config.json: those of its language model, then of the enclosing object, then of the
// nested ones of DBRX, MPT and Kimi Linear; and which of them have been read.
class ConfigKeys {
 public:
  explicit ConfigKeys(const json::Value& document);

  const std::string& type() const { return type_; }
  const ArchitectureFacts* facts() const { return facts_; }
  bool has(Trait trait) const { return facts_ != nullptr && (facts_->traits & trait) != 0; }
  bool is_nested() const { return language_part_ != &document_; }

  // Returns none if no key is present; records an invalid value as the error.
  std::optional<std::uint64_t> find(KeyNames keys);
  std::uint64_t whole(KeyNames keys, std::uint64_t fallback = 0) {
    return find(keys).value_or(fallback);
  }
  // Reads a key that the file should have; notes the default that is counted in its place.
  std::uint64_t read_or_default(KeyNames keys, std::uint64_t fallback,
                                Precision precision = Precision::counted);
  std::uint64_t require(KeyNames keys);
  // Reads a size that a file may leave out, and that cannot be 0.
  std::optional<std::uint64_t> find_size(KeyNames keys);
  std::optional<bool> truth(std::string_view key);
  const std::string* text(KeyNames keys);
  const std::vector<json::Value>* list(KeyNames keys);
  // Reads a list of a value for each layer; notes that it is shorter than the layers, which repeats
  // it, or that it has other numbers than 0 and 1.
  const std::vector<json::Value>* layer_list(KeyNames keys, std::size_t layers, bool flags = false);
  const json::Value* object(KeyNames keys);
  const json::Value* value(KeyNames keys) { return search(keys).value; }

  // Notes the keys that may change the memory and that nothing has read.
  void note_unread_keys();
  Notes notes;

  void refuse(std::string reason);
  const std::string& error() const { return error_; }

 private:
  struct Entry {
    std::string_view key;
    const json::Value* value = nullptr;
  };
  Entry search(KeyNames keys);
  void note_duplicates(const json::Value& section);
  void note_unread_members(const json::Value* section, std::string& unknown_keys);

  const json::Value& document_;
  const json::Value* language_part_;
  std::string type_;
  const ArchitectureFacts* facts_ = nullptr;
  std::set<std::string, std::less<>> read_keys_;
  std::string error_;
};

// Heads and their sizes; zero in a model without attention.
struct AttentionShape {
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
};

// How a layer accesses earlier tokens.
enum class Mixer { none, attention, window, latent, mamba, linear, convolution, both };
// Network after the mixer: one, or several experts of which each token uses some.
enum class FeedForward { none, dense, experts };

struct Block {
  Mixer mixer = Mixer::attention;  // both: attention and Mamba in one layer
  FeedForward feed_forward = FeedForward::dense;
  AttentionShape shape;
  std::uint64_t window = 0;        // tokens
  std::uint64_t ratio = 0;         // tokens of a compressed key
  std::uint64_t width_factor = 1;  // of the dense network
};

// Sizes of routed and shared experts, their count, and the number used by a token.
struct ExpertShape {
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t used = 0;
  std::uint64_t shared_size = 0;  // of the experts used by every token
};
ExpertShape read_expert_shape(ConfigKeys& keys);
std::uint64_t read_hidden_size(ConfigKeys& keys);
std::uint64_t read_feed_forward_size(ConfigKeys& keys);

// Layers that only predict further tokens.
struct PredictingLayers {
  std::uint64_t count = 0;
  bool has_embeddings = false;  // copies of input and output
};
PredictingLayers read_predicting_layers(ConfigKeys& keys);

// Sizes of a recurrent layer, with or without attention.
struct Recurrence {
  std::uint64_t state_size = 0;  // values that it keeps for each sequence
  std::uint64_t matrices = 0;    // weights
  std::uint64_t vectors = 0;
};
Recurrence read_recurrence(ConfigKeys& keys, Mixer mixer, std::uint64_t hidden_size);

// Parameter counts, by their treatment when a model is quantised.
struct ParameterCount {
  std::uint64_t matrices = 0;    // of attention and feed-forward networks
  std::uint64_t experts = 0;     // matrices of routed experts
  std::uint64_t embeddings = 0;  // and output
  std::uint64_t plain = 0;       // norms, biases, routers: mostly not quantised

  std::uint64_t total() const { return saturating_sum(matrices, experts, embeddings, plain); }
};
struct ParameterCounts {
  std::vector<ParameterCount> layers;
  ParameterCount outside;  // embedding, output, layers for predicting further tokens
};
// Counts from the architecture alone; within a percent of known models' published numbers.
ParameterCounts count_parameters(ConfigKeys& keys, const std::vector<Block>& blocks);

// Storage of weights, as specified by a configuration.
struct Storage {
  packing plain;
  packing embeddings;
  packing matrices;
  packing experts;
  std::string name;          // "bf16", "bfloat16, matrices of gptq"
  bool is_specified = true;  // specified rather than assumed
  Notes notes;               // on weights estimated with this storage
};
Storage read_storage(ConfigKeys& keys);
Expected<std::uint64_t> estimate_bytes(const ParameterCount& count, const Storage& storage);

// Properties of a model read from a config.json, by the allocations of vLLM. Each key that may
// change them is used, known to change nothing, or named in the notes.
struct ModelConfig {
  Architecture architecture;
  ParameterCounts parameters;
  Storage storage;
};
Expected<ModelConfig> parse_config(std::string text);

Expected<Weights> estimate_weights(const ModelConfig& config);

}  // namespace hmn::cli::fit
