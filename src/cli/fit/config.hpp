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

using names = std::initializer_list<std::string_view>;  // spellings of one key in different models

// Keys of a config.json: those of its language model, then of the enclosing object, then of the
// nested ones of DBRX, MPT and Kimi Linear; and which of them have been read.
class config_keys {
 public:
  explicit config_keys(const json::value& document);

  const std::string& type() const { return type_; }
  const architecture_facts* facts() const { return facts_; }
  bool has(trait one) const { return facts_ != nullptr && (facts_->traits & one) != 0; }
  bool is_nested() const { return text_ != &document_; }

  // Returns none if no key is present; records an invalid value as the error.
  std::optional<std::uint64_t> find(names keys);
  std::uint64_t whole(names keys, std::uint64_t otherwise = 0) {
    return find(keys).value_or(otherwise);
  }
  // Reads a key that the file should have; says what is counted in its place.
  std::uint64_t taken(names keys, std::uint64_t otherwise, precision made = precision::counted);
  std::uint64_t needed(names keys);
  // Reads a size that a file may leave out, and that cannot be 0.
  std::optional<std::uint64_t> size(names keys);
  std::optional<bool> truth(std::string_view key);
  const std::string* text(names keys);
  const std::vector<json::value>* list(names keys);
  // Reads a list of a value for each layer; notes that it is shorter than the layers, or that it
  // has other numbers than 0 and 1.
  const std::vector<json::value>* list_of_layers(names keys, std::size_t layers,
                                                 bool flags = false);
  const json::value* object(names keys);
  const json::value* value(names keys) { return search(keys).of; }

  // Names the keys that may change the memory and that nothing has read.
  void name_unread();
  notes noted;

  void refuse(std::string why);
  const std::string& wrong() const { return wrong_; }

 private:
  struct entry {
    std::string_view key;
    const json::value* of = nullptr;
  };
  entry search(names keys);
  void note_duplicates(const json::value& in);
  void name_unread_of(const json::value* in);

  const json::value& document_;
  const json::value* text_;
  std::string type_;
  const architecture_facts* facts_ = nullptr;
  std::set<std::string, std::less<>> read_;
  std::string wrong_;
};

// Heads and their sizes; zero in a model without attention.
struct attention_shape {
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
};

// Access of a layer to earlier tokens.
enum class mixer { none, attention, window, latent, mamba, linear, convolution, both };
// Network after the mixer: one, or several experts of which each token uses some.
enum class forward { none, dense, experts };

struct block {
  mixer mix = mixer::attention;  // both: attention and Mamba in one layer
  forward feed = forward::dense;
  attention_shape shape;
  std::uint64_t window = 0;  // tokens
  std::uint64_t ratio = 0;   // tokens of a compressed key
};

// Sizes of routed and shared experts, their count, and the number used by a token.
struct expert_shape {
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t taken = 0;
  std::uint64_t shared_size = 0;  // of the experts used by every token
};
expert_shape expert_shape_of(config_keys& keys);
std::uint64_t hidden_size_of(config_keys& keys);
std::uint64_t feed_forward_size_of(config_keys& keys);
std::uint64_t predicting_layers_of(config_keys& keys);

// Sizes of a recurrent layer, with or without attention.
struct recurrence {
  std::uint64_t state_size = 0;  // values that it keeps for each sequence
  std::uint64_t matrices = 0;    // weights
  std::uint64_t vectors = 0;
};
recurrence recurrence_of(config_keys& keys, mixer mix, std::uint64_t hidden_size);

// Parameter counts, by their treatment when a model is quantised.
struct parameter_count {
  std::uint64_t matrices = 0;    // of attention and feed-forward networks
  std::uint64_t experts = 0;     // matrices of routed experts
  std::uint64_t embeddings = 0;  // and output
  std::uint64_t plain = 0;       // norms, biases, routers: mostly not quantised

  std::uint64_t all() const { return plus(matrices, experts, embeddings, plain); }
};
struct counted_parameters {
  std::vector<parameter_count> layers;
  parameter_count outside;  // embedding, output, layers for predicting further tokens
};
// Counts from the architecture alone; within a percent of known models' published numbers.
counted_parameters count_parameters(config_keys& keys, const std::vector<block>& blocks);

// Storage of weights, as specified by a configuration.
struct storage {
  packing plain;
  packing embeddings;
  packing matrices;
  packing experts;
  std::string name;          // "bf16", "bfloat16, matrices of gptq"
  bool is_specified = true;  // specified rather than assumed
  notes noted;               // for weights that are counted by this
};
storage storage_of(config_keys& keys);
expected<std::uint64_t> bytes_of(const parameter_count& numbers, const storage& as);

// Properties of a model read from a config.json, by the allocations of vLLM. Each key that may
// change them is used, known to change nothing, or named in the notes.
struct model_config {
  architecture shape;
  counted_parameters parameters;
  storage stored;
};
expected<model_config> parse_config(std::string text);

expected<weights> weights_of(const model_config& counted);

}  // namespace hmn::cli::fit
