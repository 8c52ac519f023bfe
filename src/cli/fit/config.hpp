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

using Names = std::initializer_list<std::string_view>;  // spellings of one key in different models

// Keys of a config.json: those of its language model, then of the enclosing object, then of the
// nested ones of DBRX, MPT and Kimi Linear; and which of them have been read.
class ConfigKeys {
 public:
  explicit ConfigKeys(const json::Value& document);

  const std::string& type() const { return type_; }
  const ArchitectureFacts* facts() const { return facts_; }
  bool has(Trait one) const { return facts_ != nullptr && (facts_->traits & one) != 0; }
  bool is_nested() const { return text_ != &document_; }

  // Returns none if no key is present; records an invalid value as the error.
  std::optional<std::uint64_t> find(Names keys);
  std::uint64_t whole(Names keys, std::uint64_t otherwise = 0) {
    return find(keys).value_or(otherwise);
  }
  // Reads a key that the file should have; says what is counted in its place.
  std::uint64_t taken(Names keys, std::uint64_t otherwise, Precision made = Precision::counted);
  std::uint64_t needed(Names keys);
  // Reads a size that a file may leave out, and that cannot be 0.
  std::optional<std::uint64_t> size(Names keys);
  std::optional<bool> truth(std::string_view key);
  const std::string* text(Names keys);
  const std::vector<json::Value>* list(Names keys);
  // Reads a list of a value for each layer; notes that it is shorter than the layers, or that it
  // has other numbers than 0 and 1.
  const std::vector<json::Value>* list_of_layers(Names keys, std::size_t layers,
                                                 bool flags = false);
  const json::Value* object(Names keys);
  const json::Value* value(Names keys) { return search(keys).of; }

  // Names the keys that may change the memory and that nothing has read.
  void name_unread();
  Notes noted;

  void refuse(std::string why);
  const std::string& wrong() const { return wrong_; }

 private:
  struct Entry {
    std::string_view key;
    const json::Value* of = nullptr;
  };
  Entry search(Names keys);
  void note_duplicates(const json::Value& in);
  void name_unread_of(const json::Value* in);

  const json::Value& document_;
  const json::Value* text_;
  std::string type_;
  const ArchitectureFacts* facts_ = nullptr;
  std::set<std::string, std::less<>> read_;
  std::string wrong_;
};

// Heads and their sizes; zero in a model without attention.
struct AttentionShape {
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
};

// Access of a layer to earlier tokens.
enum class Mixer { none, attention, window, latent, mamba, linear, convolution, both };
// Network after the mixer: one, or several experts of which each token uses some.
enum class Forward { none, dense, experts };

struct Block {
  Mixer mix = Mixer::attention;  // both: attention and Mamba in one layer
  Forward feed = Forward::dense;
  AttentionShape shape;
  std::uint64_t window = 0;  // tokens
  std::uint64_t ratio = 0;   // tokens of a compressed key
};

// Sizes of routed and shared experts, their count, and the number used by a token.
struct ExpertShape {
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t taken = 0;
  std::uint64_t shared_size = 0;  // of the experts used by every token
};
ExpertShape expert_shape_of(ConfigKeys& keys);
std::uint64_t hidden_size_of(ConfigKeys& keys);
std::uint64_t feed_forward_size_of(ConfigKeys& keys);
std::uint64_t predicting_layers_of(ConfigKeys& keys);

// Sizes of a recurrent layer, with or without attention.
struct Recurrence {
  std::uint64_t state_size = 0;  // values that it keeps for each sequence
  std::uint64_t matrices = 0;    // weights
  std::uint64_t vectors = 0;
};
Recurrence recurrence_of(ConfigKeys& keys, Mixer mix, std::uint64_t hidden_size);

// Parameter counts, by their treatment when a model is quantised.
struct ParameterCount {
  std::uint64_t matrices = 0;    // of attention and feed-forward networks
  std::uint64_t experts = 0;     // matrices of routed experts
  std::uint64_t embeddings = 0;  // and output
  std::uint64_t plain = 0;       // norms, biases, routers: mostly not quantised

  std::uint64_t all() const { return plus(matrices, experts, embeddings, plain); }
};
struct CountedParameters {
  std::vector<ParameterCount> layers;
  ParameterCount outside;  // embedding, output, layers for predicting further tokens
};
// Counts from the architecture alone; within a percent of known models' published numbers.
CountedParameters count_parameters(ConfigKeys& keys, const std::vector<Block>& blocks);

// Storage of weights, as specified by a configuration.
struct Storage {
  packing plain;
  packing embeddings;
  packing matrices;
  packing experts;
  std::string name;          // "bf16", "bfloat16, matrices of gptq"
  bool is_specified = true;  // specified rather than assumed
  Notes noted;               // for weights that are counted by this
};
Storage storage_of(ConfigKeys& keys);
Expected<std::uint64_t> bytes_of(const ParameterCount& numbers, const Storage& as);

// Properties of a model read from a config.json, by the allocations of vLLM. Each key that may
// change them is used, known to change nothing, or named in the notes.
struct ModelConfig {
  Architecture shape;
  CountedParameters parameters;
  Storage stored;
};
Expected<ModelConfig> parse_config(std::string text);

Expected<Weights> weights_of(const ModelConfig& counted);

}  // namespace hmn::cli::fit
