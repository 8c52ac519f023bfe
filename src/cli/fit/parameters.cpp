// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/fit/config.hpp"

namespace hmn::cli::fit {
namespace {

using hypomnesis::dtype_id;

// Returns Mamba's inner width. Does not use `expand` if the width is given (it is 16 in
// Falcon-Mamba).
std::uint64_t read_inner_size(ConfigKeys& keys, std::uint64_t hidden) {
  const auto width = keys.whole({"mamba_d_ssm"});
  const auto heads = keys.whole({"mamba_num_heads", "mamba_n_heads"});
  const auto* head = keys.value({"mamba_head_dim", "mamba_d_head"});
  const auto expanded = keys.find({"mamba_expand", "expand"});
  if (width != 0) return width;
  if (heads != 0 && head != nullptr && head->integer())
    return saturating_product(heads, *head->integer());
  if (keys.has(inner_is_intermediate_size))
    if (const auto inner = keys.whole({"intermediate_size"})) return inner;
  return saturating_product(
      expanded ? *expanded : keys.read_or_default({"mamba_expand", "expand"}, 2), hidden);
}

// The convolution keeps one value less than its kernel, as in vLLM and llama.cpp.
std::uint64_t read_kernel_size(ConfigKeys& keys) {
  return std::max<std::uint64_t>(
      keys.read_or_default({"mamba_d_conv", "conv_kernel", "conv_kernel_size"}, 4), 1);
}

// Counts Mamba: https://arxiv.org/abs/2312.00752
Recurrence count_mamba(ConfigKeys& keys, std::uint64_t hidden) {
  const auto inner = read_inner_size(keys, hidden);
  const auto state = keys.read_or_default({"mamba_d_state", "state_size"}, 16);
  const auto kernel = read_kernel_size(keys);
  const auto* rank_value = keys.value({"mamba_dt_rank", "time_step_rank"});
  const auto rank = rank_value != nullptr
                        ? rank_value->integer().value_or(divide_rounding_up(hidden, 16))
                        : divide_rounding_up(hidden, 16);
  Recurrence recurrence;
  recurrence.state_size = saturating_product(inner, saturating_sum(state, kernel - 1));
  recurrence.matrices =
      saturating_sum(saturating_product(3, hidden, inner),  // in, of twice the width, and out
                     saturating_product(inner, saturating_sum(rank, saturating_product(2, state))),
                     saturating_product(rank, inner));
  recurrence.vectors = saturating_product(inner, saturating_sum(kernel, state, 3));
  return recurrence;
}

// Counts Mamba-2, whose heads share what Mamba has for each channel:
// https://arxiv.org/abs/2405.21060
Recurrence count_mamba2(ConfigKeys& keys, std::uint64_t heads, std::uint64_t hidden) {
  const auto inner = read_inner_size(keys, hidden);
  const auto state = keys.read_or_default({"mamba_d_state", "state_size", "ssm_state_size"}, 128);
  const auto kernel = read_kernel_size(keys);
  const auto shared =
      saturating_product(2, keys.read_or_default({"mamba_n_groups", "n_groups"}, 1), state);
  Recurrence recurrence;
  recurrence.state_size =
      saturating_sum(saturating_product(inner, state),
                     saturating_product(saturating_sum(inner, shared), kernel - 1));
  recurrence.matrices = saturating_sum(
      saturating_product(hidden, saturating_sum(saturating_product(2, inner), shared, heads)),
      saturating_product(inner, hidden));
  recurrence.vectors =
      saturating_sum(saturating_product(saturating_sum(inner, shared), saturating_sum(kernel, 1)),
                     saturating_product(3, heads), inner);
  return recurrence;
}

// Counts Kimi Linear's delta attention: a matrix for each head, and a convolution of queries, keys
// and values.
Recurrence count_kimi_delta(ConfigKeys& keys, const json::Value& config, std::uint64_t hidden) {
  const auto read = [&](std::string_view name) {
    keys.value({name});  // marks it as read
    const auto* member = config.find(name);
    const auto value = member != nullptr ? member->integer().value_or(0) : 0;
    if (value == 0 || value > max_size)
      keys.notes.add(fmt::format("\"linear_attn_config\" has no valid \"{}\"", name),
                     Precision::at_least);
    return value > max_size ? 0 : value;
  };
  const auto heads = read("num_heads");
  const auto size = read("head_dim");
  const auto kernel = read("short_conv_kernel_size");
  const auto width = saturating_product(heads, size);
  Recurrence recurrence;
  recurrence.state_size = saturating_sum(
      saturating_product(width, size), saturating_product(3, width, kernel == 0 ? 0 : kernel - 1));
  recurrence.matrices = saturating_sum(saturating_product(4, hidden, width),
                                       saturating_product(2, size, saturating_sum(hidden, width)),
                                       saturating_product(hidden, heads));
  recurrence.vectors = saturating_product(width, saturating_sum(saturating_product(3, kernel), 1));
  return recurrence;
}

// Counts the gated delta net of Qwen3-Next; without its keys, linear attention with the common
// heads.
Recurrence count_linear(ConfigKeys& keys, std::uint64_t hidden) {
  if (const auto* config = keys.object({"linear_attn_config"}))
    return count_kimi_delta(keys, *config, hidden);
  const auto heads = keys.whole({"num_attention_heads"}, 1);
  const auto head = keys.whole({"head_dim"}, heads == 0 ? 0 : hidden / heads);
  const bool is_delta = keys.facts() != nullptr && keys.facts()->state == StateKind::delta;
  const auto size = [&](std::string_view name, std::uint64_t fallback) {
    return is_delta ? keys.read_or_default({name}, fallback) : keys.whole({name}, fallback);
  };
  const auto values = size("linear_num_value_heads", heads);
  const auto key_size = size("linear_key_head_dim", head);
  const auto value_size = size("linear_value_head_dim", head);
  const auto kernel = size("linear_conv_kernel_dim", is_delta ? 4 : 0);
  const auto all_keys = saturating_product(size("linear_num_key_heads", heads), key_size);
  const auto all_values = saturating_product(values, value_size);
  const auto channels = saturating_sum(saturating_product(2, all_keys), all_values);
  Recurrence recurrence;
  recurrence.state_size =
      saturating_sum(saturating_product(values, key_size, value_size),
                     saturating_product(channels, kernel == 0 ? 0 : kernel - 1));
  recurrence.matrices = saturating_sum(
      saturating_product(hidden,
                         saturating_sum(channels, all_values, saturating_product(2, values))),
      saturating_product(all_values, hidden));
  recurrence.vectors = saturating_sum(saturating_product(channels, kernel),
                                      saturating_product(2, values), value_size);
  return recurrence;
}

// Counts the gated short convolution of LFM2.
Recurrence count_convolution(ConfigKeys& keys, std::uint64_t hidden) {
  const auto kernel = std::max<std::uint64_t>(keys.read_or_default({"conv_L_cache"}, 3), 1);
  return {saturating_product(hidden, kernel - 1), saturating_product(4, hidden, hidden),
          saturating_product(hidden, kernel)};
}

class ParameterCounter {
 public:
  explicit ParameterCounter(ConfigKeys& keys)
      : keys_(keys),
        hidden_size_(read_hidden_size(keys)),
        experts_(read_expert_shape(keys)),
        matrices_per_network_(keys.has(two_matrices) ? 2 : 3) {}

  ParameterCount count_layer(const Block& block) {
    ParameterCount count;
    count.plain = saturating_product(keys_.has(four_norms) ? 4 : 2, hidden_size_);
    if (block.mixer == Mixer::latent) add_latent(block.shape, count);
    if (block.mixer == Mixer::attention || block.mixer == Mixer::window ||
        block.mixer == Mixer::both)
      add_attention(block.shape, count);
    const auto recurrence = read_recurrence(keys_, block.mixer, hidden_size_);
    count.matrices = saturating_sum(count.matrices, recurrence.matrices);
    count.plain = saturating_sum(count.plain, recurrence.vectors);
    add_feed_forward(block, count);
    count.matrices =
        saturating_sum(count.matrices, saturating_product(2, hidden_size_, per_layer_size()),
                       saturating_product(2, hidden_size_, keys_.whole({"laurel_rank"})));
    return count;
  }

  ParameterCount count_outside(const std::vector<Block>& blocks) {
    ParameterCount count;
    const auto vocabulary = keys_.require({"vocab_size", "padded_vocab_size"});
    const auto is_tied = read_tied();
    const auto width = keys_.find_size({"word_embed_proj_dim"}).value_or(hidden_size_);
    count.embeddings = saturating_product(is_tied ? 1 : 2, vocabulary, width);
    if (width != hidden_size_)
      count.matrices = saturating_product(2, width, hidden_size_);  // OPT-350m widens and narrows
    count.plain = hidden_size_;
    if (keys_.has(learned_positions))
      count.embeddings =
          saturating_sum(count.embeddings,
                         saturating_product(keys_.whole({"n_positions", "max_position_embeddings"}),
                                            hidden_size_));
    if (const auto inputs = keys_.whole({"altup_num_inputs"}); inputs > 1)  // Gemma 3n
      count.matrices = saturating_sum(
          count.matrices, saturating_product(2, inputs - 1, hidden_size_, hidden_size_));
    const auto rows = keys_.whole({"vocab_size_per_layer_input"}, vocabulary);
    count.embeddings = saturating_sum(
        count.embeddings,
        saturating_product(saturating_sum(rows, hidden_size_), blocks.size(), per_layer_size()));
    const auto predicting = read_predicting_layers(keys_);
    for (auto remaining = std::min<std::uint64_t>(predicting.count, 8); remaining > 0; --remaining)
      add_predictor(blocks.back(), predicting.has_embeddings ? vocabulary : 0, count);
    return count;
  }

 private:
  bool read_tied() {
    const auto lfm2 = keys_.truth("tie_embedding");
    const auto given = keys_.truth("tie_word_embeddings");
    if (given || lfm2) return given ? *given : *lfm2;
    if (keys_.has(tied))
      keys_.notes.add(
          "\"tie_word_embeddings\" is missing: one matrix for input and output is counted");
    return keys_.has(tied);
  }

  // Returns the size of Gemma 3n's embedding of each layer, widened by two matrices.
  std::uint64_t per_layer_size() { return keys_.whole({"hidden_size_per_layer_input"}); }

  void add_attention(const AttentionShape& shape, ParameterCount& count) {
    const auto queries = saturating_product(shape.heads, shape.key_size);
    const auto keys_and_values =
        saturating_product(shape.kv_heads, saturating_sum(shape.key_size, shape.value_size));
    const auto gate = keys_.has(query_gate) ? queries : 0;
    count.matrices = saturating_sum(
        count.matrices,
        saturating_product(hidden_size_, saturating_sum(queries, keys_and_values, gate)),
        saturating_product(shape.heads, shape.value_size, hidden_size_));
    if (keys_.truth("attention_bias").value_or(keys_.has(query_bias)))
      count.plain = saturating_sum(count.plain, queries, keys_and_values);
  }

  // Counts DeepSeek-V2's latent attention: https://arxiv.org/abs/2405.04434
  void add_latent(const AttentionShape& shape, ParameterCount& count) {
    const auto rank = keys_.whole({"kv_lora_rank"});
    const auto rope = keys_.whole({"qk_rope_head_dim"});
    const auto nope = keys_.whole({"qk_nope_head_dim"});
    const auto value = shape.value_size;
    const auto query_rank = keys_.whole({"q_lora_rank"});
    const auto queries = saturating_product(shape.heads, saturating_sum(nope, rope));
    count.matrices = saturating_sum(
        count.matrices,
        query_rank == 0 ? saturating_product(hidden_size_, queries)
                        : saturating_product(query_rank, saturating_sum(hidden_size_, queries)),
        saturating_product(hidden_size_, saturating_sum(rank, rope)),
        saturating_product(rank, shape.heads, saturating_sum(nope, value)));
    count.matrices =
        saturating_sum(count.matrices, saturating_product(shape.heads, value, hidden_size_));
    count.plain = saturating_sum(count.plain, rank, query_rank);
    const auto index_size = keys_.whole({"index_head_dim"});
    const auto index_heads = keys_.whole({"index_n_heads"});
    count.matrices =
        saturating_sum(count.matrices, saturating_product(query_rank, index_heads, index_size),
                       saturating_product(hidden_size_, saturating_sum(index_size, index_heads)));
  }

  void add_feed_forward(const Block& block, ParameterCount& count) {
    if (block.feed_forward == FeedForward::dense)
      count.matrices = saturating_sum(
          count.matrices, saturating_product(matrices_per_network_, hidden_size_,
                                             block.width_factor, read_feed_forward_size(keys_)));
    if (block.feed_forward != FeedForward::experts) return;
    count.experts = saturating_sum(
        count.experts,
        saturating_product(matrices_per_network_, hidden_size_, experts_.size, experts_.count));
    count.matrices = saturating_sum(
        count.matrices,
        saturating_product(matrices_per_network_, hidden_size_, experts_.shared_size));
    count.plain = saturating_sum(count.plain, saturating_product(hidden_size_, experts_.count));
  }

  // Counts an additional layer that predicts a token, with copies of embedding and output if it has
  // a vocabulary.
  void add_predictor(const Block& block, std::uint64_t vocabulary, ParameterCount& count) {
    const auto layer = count_layer(block);
    count.matrices = saturating_sum(count.matrices, layer.matrices,
                                    saturating_product(2, hidden_size_, hidden_size_));
    count.experts = saturating_sum(count.experts, layer.experts);
    count.plain = saturating_sum(count.plain, layer.plain);
    count.embeddings =
        saturating_sum(count.embeddings, saturating_product(2, vocabulary, hidden_size_));
  }

  ConfigKeys& keys_;
  std::uint64_t hidden_size_;
  ExpertShape experts_;
  std::uint64_t matrices_per_network_;
};

std::optional<std::string> read_dtype(ConfigKeys& keys) {
  const auto* name = keys.text({"torch_dtype", "dtype"});
  if (name == nullptr) return std::nullopt;
  try {
    hypomnesis::dtype_from_name(*name);
    return *name;
  } catch (const hypomnesis::error&) {
    return std::nullopt;
  }
}

packing make_plain_packing(const std::string& dtype) {
  packing result;
  result.dtype = hypomnesis::dtype_from_name(dtype);
  return result;
}

packing make_group_packing(std::uint32_t bits, std::uint32_t group, std::uint32_t group_bits) {
  return {{}, bits, group, group_bits};
}

// Reader of the object that describes how weights are quantised; remembers which of its keys have
// been read.
class QuantisationReader {
 public:
  QuantisationReader(const json::Value& config, Storage& storage)
      : config_(config), storage_(storage) {}

  void read(bool is_mlx) {
    const auto* method = text("quant_method");
    const std::string name = is_mlx ? "mlx" : method != nullptr ? *method : "";
    const auto matrix_packing = is_mlx ? read_mlx() : read_packing(name);
    if (!matrix_packing) {
      storage_.is_specified = false;
      storage_.notes.add(fmt::format("weights count as {}: how \"{}\" quantises them is not known",
                                     storage_.name, name),
                         Precision::about);
      return;
    }
    storage_.experts = *matrix_packing;
    const bool only_experts = name == "mxfp4";  // in gpt-oss
    if (!only_experts) storage_.matrices = *matrix_packing;
    if (is_mlx) storage_.embeddings = *matrix_packing;
    // ExLlama quantises the output and leaves the embedding in 16 bits: their mean.
    if (const auto head = read_small(find("head_bits"), 0); head != 0 && head <= 16)
      storage_.embeddings = make_group_packing((16 + head + 1) / 2, 0, 0);
    storage_.name += fmt::format(", {} of {}", only_experts ? "experts" : "matrices", name);
    note_exceptions(only_experts);
    note_unread_keys(is_mlx);
  }

 private:
  const json::Value* find(std::string_view name) {
    read_keys_.emplace(name);
    return config_.find(name);
  }
  const std::string* text(std::string_view name) {
    const auto* member = find(name);
    return member != nullptr ? member->text() : nullptr;
  }
  std::uint32_t read_small(const json::Value* value, std::uint32_t fallback) const {
    const auto number = value != nullptr ? value->integer() : std::nullopt;
    return number && *number >= 1 && *number <= 65536 ? static_cast<std::uint32_t>(*number)
                                                      : fallback;
  }
  std::uint32_t read_or_default(std::string_view name, std::uint32_t fallback) {
    const auto* member = find(name);
    const auto value = read_small(member, 0);
    if (value != 0) return value;
    const bool is_present = member != nullptr && !member->is_null();
    storage_.notes.add(fmt::format("quantisation: \"{}\" is {}: {} is counted", name,
                                   is_present ? abbreviate(*member) : "missing", fallback),
                       is_present ? Precision::about : Precision::counted);
    return fallback;
  }

  // A scale and a bias of 16 bits for each group, also of the embedding; the formats of the Open
  // Compute Project have a scale of 8 bits instead. https://ml-explore.github.io/mlx, quantize
  std::optional<packing> read_mlx() {
    const auto* mode = text("mode");
    const auto bits = read_or_default("bits", 4);
    if (mode == nullptr || *mode == "affine")
      return make_group_packing(bits, read_or_default("group_size", 64), 32);
    const auto group = read_small(find("group_size"), *mode == "nvfp4" ? 16 : 32);
    if (*mode == "mxfp4" || *mode == "mxfp8" || *mode == "nvfp4")
      return make_group_packing(bits, group, 8);
    return std::nullopt;
  }

  std::optional<packing> read_packing(const std::string& method) {
    if (method == "fp8" || method == "fbgemm_fp8") return read_fp8();
    if (method == "mxfp4") return make_group_packing(4, 32, 8);
    if (method == "compressed-tensors") return read_compressed_tensors();
    if (method == "modelopt" || method == "modelopt_fp4") return read_modelopt(method);
    if (method == "exl2" || method == "exl3") return read_exllama();
    if (method == "bitsandbytes") return read_bitsandbytes();
    if (method != "gptq" && method != "awq" && method != "auto-round") return std::nullopt;
    const auto bits = read_or_default("bits", 4);
    // A scale of 16 bits and a zero point as wide as a weight; -1: a group is a column.
    const auto* group = find("group_size");
    if (group != nullptr && group->real() == -1) return make_group_packing(bits, 0, 0);
    return make_group_packing(bits, read_or_default("group_size", 128), 16 + bits);
  }

  // Counts a scale of 32 bits for each square of `weight_block_size`, or for each matrix.
  packing read_fp8() {
    const auto* block = find("weight_block_size");
    if (block == nullptr || block->items() == nullptr || block->items()->size() != 2)
      return make_group_packing(8, 0, 0);
    const auto& sides = *block->items();
    return make_group_packing(8, read_small(&sides[0], 128) * read_small(&sides[1], 128), 32);
  }

  // Reads the weights of the first group of compressed-tensors.
  std::optional<packing> read_compressed_tensors() {
    const auto* groups = find("config_groups");
    if (groups == nullptr || groups->members() == nullptr || groups->members()->keys.empty())
      return std::nullopt;
    if (groups->members()->keys.size() > 1)
      storage_.notes.add("quantisation: the first of several \"config_groups\" is counted for all",
                         Precision::about);
    const auto* weights = groups->members()->values.front().find("weights");
    if (weights == nullptr || weights->find("num_bits") == nullptr) return std::nullopt;
    const auto* group = weights->find("group_size");
    const auto* type = weights->find("type");
    const auto bits = read_small(weights->find("num_bits"), 8);
    const bool is_float = type != nullptr && type->text() != nullptr && *type->text() == "float";
    // NVFP4 and MXFP4 have scales of 8 bits.
    return group != nullptr
               ? make_group_packing(bits, read_small(group, 128), is_float && bits == 4 ? 8 : 16)
               : make_group_packing(bits, 0, 0);
  }

  std::optional<packing> read_modelopt(const std::string& method) {
    const auto* algorithm = text("quant_algo");
    const std::string name = algorithm != nullptr       ? *algorithm
                             : method == "modelopt_fp4" ? "NVFP4"
                                                        : "FP8";
    const auto group = read_small(find("group_size"), 16);
    if (name == "NVFP4") return make_group_packing(4, group, 8);
    if (name == "FP8") return make_group_packing(8, 0, 0);
    return std::nullopt;
  }

  // ExLlama's bits are a mean, as 4.25, scales included.
  std::optional<packing> read_exllama() {
    const auto* bits = find("bits");
    const auto mean = bits != nullptr ? bits->real() : std::nullopt;
    if (!mean || !(*mean >= 1) || *mean > 16) return std::nullopt;
    const auto whole = std::floor(*mean);
    const auto hundredths = static_cast<std::uint32_t>(std::lround((*mean - whole) * 100));
    return make_group_packing(static_cast<std::uint32_t>(whole), 100, hundredths);
  }

  packing read_bitsandbytes() {
    const auto* load_in_4bit = find("load_in_4bit");
    const auto* double_quant = find("bnb_4bit_use_double_quant");
    if (load_in_4bit == nullptr || load_in_4bit->boolean() != true)
      return make_group_packing(8, 0, 0);
    // Scales of 32 bits, or of 8 with one of 32 for 256 of these.
    return double_quant != nullptr && double_quant->boolean() == true
               ? make_group_packing(4, 64, 9)
               : make_group_packing(4, 64, 32);
  }

  // Notes large matrices that are not quantised: the model needs more than is counted.
  void note_exceptions(bool only_experts) {
    for (const std::string_view name : {"modules_to_not_convert", "ignored_layers", "ignore",
                                        "exclude_modules", "llm_int8_skip_modules"}) {
      const auto* list = find(name);
      if (list == nullptr || list->items() == nullptr || only_experts) continue;
      for (const auto& module : *list->items())
        if (module.text() != nullptr && !is_small_module(*module.text())) {
          storage_.notes.add(
              fmt::format("quantisation: \"{}\" leaves some matrices as they are, among them {}",
                          name, abbreviate(module)),
              Precision::at_least);
          break;
        }
    }
  }
  static bool is_small_module(std::string_view module) {
    for (const std::string_view part :
         {"lm_head", "embed", "norm", "gate", "router", "vision", "visual", "audio", "mtp"})
      if (module.find(part) != std::string_view::npos &&
          module.find("gate_proj") == std::string_view::npos)
        return true;
    return false;
  }

  void note_unread_keys(bool is_mlx) {
    constexpr std::string_view harmless_keys[] = {"activation_scheme",
                                                  "fmt",
                                                  "desc_act",
                                                  "sym",
                                                  "damp_percent",
                                                  "true_sequential",
                                                  "model_name_or_path",
                                                  "model_file_base_name",
                                                  "static_groups",
                                                  "zero_point",
                                                  "version",
                                                  "backend",
                                                  "checkpoint_format",
                                                  "meta",
                                                  "quantizer",
                                                  "dataset",
                                                  "calibration",
                                                  "packing_format",
                                                  "format",
                                                  "global_compression_ratio",
                                                  "quantization_status",
                                                  "quant_type",
                                                  "producer",
                                                  "bnb_4bit_compute_dtype",
                                                  "bnb_4bit_quant_type",
                                                  "bnb_4bit_quant_storage",
                                                  "load_in_8bit",
                                                  "_load_in_4bit",
                                                  "_load_in_8bit",
                                                  "llm_int8_enable_fp32_cpu_offload",
                                                  "llm_int8_has_fp16_weight",
                                                  "llm_int8_threshold",
                                                  "scale_fmt",
                                                  "activation_scale_ub",
                                                  "autoround_version",
                                                  "iters",
                                                  "nsamples",
                                                  "seqlen",
                                                  "low_gpu_mem_usage",
                                                  "enable_quanted_input",
                                                  "batch_size",
                                                  "block_name_to_quantize",
                                                  "cache_block_outputs",
                                                  "max_input_length",
                                                  "module_name_preceding_first_block",
                                                  "pad_token_id",
                                                  "tokenizer",
                                                  "use_cuda_fp16",
                                                  "use_exllama",
                                                  "exllama_config",
                                                  "disable_exllama",
                                                  "weight_per_tensor",
                                                  "out_scales",
                                                  "act_per_tensor",
                                                  "do_fuse",
                                                  "fuse_max_seq_len",
                                                  "modules_to_fuse"};
    const json::Object& members = *config_.members();
    for (std::size_t i = 0; i < members.keys.size(); ++i) {
      const std::string& key = members.keys[i];
      const json::Value& value = members.values[i];
      if (value.is_null() || read_keys_.find(key) != read_keys_.end()) continue;
      if (!is_mlx && value.boolean() == false) continue;
      if (std::find(std::begin(harmless_keys), std::end(harmless_keys), key) !=
          std::end(harmless_keys))
        continue;
      if (key == "kv_cache_scheme" || key == "kv_cache_quant_algo")
        storage_.notes.add(
            fmt::format("quantisation: \"{}\" names a type of keys and values: --kv-type "
                        "decides here",
                        key),
            Precision::about);
      else if (is_mlx && value.boolean() == false)
        storage_.notes.add("quantisation: some matrices are left as they are", Precision::at_least);
      else if (is_mlx && value.members() != nullptr)
        storage_.notes.add("quantisation: some matrices have bits of their own", Precision::about);
      else
        storage_.notes.add(fmt::format("quantisation: \"{}\" is not understood", key),
                           Precision::about);
    }
  }

  const json::Value& config_;
  Storage& storage_;
  std::set<std::string, std::less<>> read_keys_;
};

}  // namespace

Recurrence read_recurrence(ConfigKeys& keys, Mixer mixer, std::uint64_t hidden_size) {
  if (mixer == Mixer::linear) return count_linear(keys, hidden_size);
  if (mixer == Mixer::convolution) return count_convolution(keys, hidden_size);
  if (mixer != Mixer::mamba && mixer != Mixer::both) return {};
  const bool is_mamba2 = keys.facts() != nullptr && keys.facts()->state == StateKind::mamba2;
  const auto heads = is_mamba2 && keys.has(every_layer_mamba)
                         ? keys.read_or_default({"num_heads"}, 1)
                         : keys.whole({"mamba_n_heads", "mamba_num_heads"});
  if (is_mamba2 && heads == 0)
    keys.notes.add("\"mamba_n_heads\" is missing: counted as Mamba of the first kind",
                   Precision::about);
  return heads != 0 ? count_mamba2(keys, heads, hidden_size) : count_mamba(keys, hidden_size);
}

ParameterCounts count_parameters(ConfigKeys& keys, const std::vector<Block>& blocks) {
  ParameterCounts counts;
  ParameterCounter counter(keys);
  for (const auto& block : blocks) counts.layers.push_back(counter.count_layer(block));
  if (!blocks.empty()) counts.outside = counter.count_outside(blocks);
  return counts;
}

Storage read_storage(ConfigKeys& keys) {
  Storage storage;
  const auto dtype = read_dtype(keys);
  if (!dtype) {
    storage.is_specified = false;
    storage.notes.add("weights count as bf16: the configuration does not give their type",
                      Precision::about);
  }
  storage.name = dtype.value_or("bf16");
  storage.plain = storage.embeddings = storage.matrices = storage.experts =
      make_plain_packing(storage.name);
  // DeepSeek-V4 stores experts in 4 bits, with a scale of 8 for each 32 of them.
  if (const auto* experts = keys.text({"expert_dtype"}); experts != nullptr && *experts == "fp4")
    storage.experts = make_group_packing(4, 32, 8);
  const bool has_fp4_experts = keys.text({"expert_dtype"}) != nullptr;
  const auto fp4_experts = storage.experts;
  const auto* mlx = keys.object({"quantization"});
  const auto* config = keys.object({"quantization_config", "compression_config"});
  // MLX writes the same under both names.
  if (mlx != nullptr || config != nullptr) {
    const bool is_mlx = mlx != nullptr;
    QuantisationReader(is_mlx ? *mlx : *config, storage).read(is_mlx);
  }
  if (has_fp4_experts) storage.experts = fp4_experts;
  return storage;
}

Expected<std::uint64_t> estimate_bytes(const ParameterCount& count, const Storage& storage) {
  std::uint64_t sum = 0;
  for (const auto& [elements, element_packing] :
       {std::pair(count.matrices, storage.matrices), std::pair(count.experts, storage.experts),
        std::pair(count.embeddings, storage.embeddings), std::pair(count.plain, storage.plain)}) {
    try {
      sum = saturating_sum(sum, hypomnesis::estimate_packed({elements}, element_packing));
    } catch (const hypomnesis::error& error) {
      return make_failure(fmt::format("{} numbers: {}", elements, error.status_name()));
    }
  }
  return sum;
}

Expected<Weights> estimate_weights(const ModelConfig& config) {
  Weights weights;
  for (const auto& layer : config.parameters.layers) {
    const auto bytes = estimate_bytes(layer, config.storage);
    if (!bytes) return bytes.error();
    weights.layers.push_back(*bytes);
    weights.parameters = saturating_sum(weights.parameters, layer.total());
  }
  const auto bytes = estimate_bytes(config.parameters.outside, config.storage);
  if (!bytes) return bytes.error();
  weights.outside = *bytes;
  weights.parameters = saturating_sum(weights.parameters, config.parameters.outside.total());
  if (weights.total() == saturated_size) return make_failure("its sizes make more than 2^64 bytes");
  return weights;
}

}  // namespace hmn::cli::fit
