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
std::uint64_t inner_size(ConfigKeys& keys, std::uint64_t hidden) {
  const auto given = keys.whole({"mamba_d_ssm"});
  const auto heads = keys.whole({"mamba_num_heads", "mamba_n_heads"});
  const auto* head = keys.value({"mamba_head_dim", "mamba_d_head"});
  const auto expanded = keys.find({"mamba_expand", "expand"});
  if (given != 0) return given;
  if (heads != 0 && head != nullptr && head->whole()) return times(heads, *head->whole());
  if (keys.has(inner_by_key))
    if (const auto inner = keys.whole({"intermediate_size"})) return inner;
  return times(expanded ? *expanded : keys.taken({"mamba_expand", "expand"}, 2), hidden);
}

// The convolution keeps one value less than its kernel, as in vLLM and llama.cpp.
std::uint64_t kernel_size(ConfigKeys& keys) {
  return std::max<std::uint64_t>(keys.taken({"mamba_d_conv", "conv_kernel", "conv_kernel_size"}, 4),
                                 1);
}

// Counts Mamba: https://arxiv.org/abs/2312.00752
Recurrence mamba(ConfigKeys& keys, std::uint64_t hidden) {
  const auto inner = inner_size(keys, hidden);
  const auto state = keys.taken({"mamba_d_state", "state_size"}, 16);
  const auto kernel = kernel_size(keys);
  const auto* given_rank = keys.value({"mamba_dt_rank", "time_step_rank"});
  const auto rank = given_rank != nullptr ? given_rank->whole().value_or(divided_up(hidden, 16))
                                          : divided_up(hidden, 16);
  Recurrence made;
  made.state_size = times(inner, plus(state, kernel - 1));
  made.matrices = plus(times(3, hidden, inner),  // in, of twice the width, and out
                       times(inner, plus(rank, times(2, state))), times(rank, inner));
  made.vectors = times(inner, plus(kernel, state, 3));
  return made;
}

// Counts Mamba-2, whose heads share Mamba's values for each channel:
// https://arxiv.org/abs/2405.21060
Recurrence mamba2(ConfigKeys& keys, std::uint64_t heads, std::uint64_t hidden) {
  const auto inner = inner_size(keys, hidden);
  const auto state = keys.taken({"mamba_d_state", "state_size", "ssm_state_size"}, 128);
  const auto kernel = kernel_size(keys);
  const auto shared = times(2, keys.taken({"mamba_n_groups", "n_groups"}, 1), state);
  Recurrence made;
  made.state_size = plus(times(inner, state), times(plus(inner, shared), kernel - 1));
  made.matrices = plus(times(hidden, plus(times(2, inner), shared, heads)), times(inner, hidden));
  made.vectors = plus(times(plus(inner, shared), plus(kernel, 1)), times(3, heads), inner);
  return made;
}

// Counts Kimi Linear's delta attention: a matrix for each head, and a convolution of queries, keys
// and values.
Recurrence kimi_delta(ConfigKeys& keys, const json::Value& given, std::uint64_t hidden) {
  const auto read = [&](std::string_view name) {
    keys.value({name});  // read here
    const auto* found = given.find(name);
    const auto value = found != nullptr ? found->whole().value_or(0) : 0;
    if (value == 0 || value > largest_size)
      keys.noted.add(fmt::format("\"linear_attn_config\" has no valid \"{}\"", name),
                     Precision::at_least);
    return value > largest_size ? 0 : value;
  };
  const auto heads = read("num_heads");
  const auto size = read("head_dim");
  const auto kernel = read("short_conv_kernel_size");
  const auto width = times(heads, size);
  Recurrence made;
  made.state_size = plus(times(width, size), times(3, width, kernel == 0 ? 0 : kernel - 1));
  made.matrices =
      plus(times(4, hidden, width), times(2, size, plus(hidden, width)), times(hidden, heads));
  made.vectors = times(width, plus(times(3, kernel), 1));
  return made;
}

// Counts the gated delta net of Qwen3-Next; without its keys, linear attention with the common
// heads.
Recurrence linear(ConfigKeys& keys, std::uint64_t hidden) {
  if (const auto* given = keys.object({"linear_attn_config"}))
    return kimi_delta(keys, *given, hidden);
  const auto heads = keys.whole({"num_attention_heads"}, 1);
  const auto head = keys.whole({"head_dim"}, heads == 0 ? 0 : hidden / heads);
  const bool is_delta = keys.facts() != nullptr && keys.facts()->state == StateKind::delta;
  const auto size = [&](std::string_view name, std::uint64_t otherwise) {
    return is_delta ? keys.taken({name}, otherwise) : keys.whole({name}, otherwise);
  };
  const auto values = size("linear_num_value_heads", heads);
  const auto key_size = size("linear_key_head_dim", head);
  const auto value_size = size("linear_value_head_dim", head);
  const auto kernel = size("linear_conv_kernel_dim", is_delta ? 4 : 0);
  const auto all_keys = times(size("linear_num_key_heads", heads), key_size);
  const auto all_values = times(values, value_size);
  const auto channels = plus(times(2, all_keys), all_values);
  Recurrence made;
  made.state_size =
      plus(times(values, key_size, value_size), times(channels, kernel == 0 ? 0 : kernel - 1));
  made.matrices =
      plus(times(hidden, plus(channels, all_values, times(2, values))), times(all_values, hidden));
  made.vectors = plus(times(channels, kernel), times(2, values), value_size);
  return made;
}

// Counts the gated short convolution of LFM2.
Recurrence convolution(ConfigKeys& keys, std::uint64_t hidden) {
  const auto kernel = std::max<std::uint64_t>(keys.taken({"conv_L_cache"}, 3), 1);
  return {times(hidden, kernel - 1), times(4, hidden, hidden), times(hidden, kernel)};
}

class Counter {
 public:
  explicit Counter(ConfigKeys& keys)
      : keys_(keys),
        hidden_(hidden_size_of(keys)),
        experts_(expert_shape_of(keys)),
        gates_(keys.has(two_matrices) ? 2 : 3) {}

  ParameterCount layer(const Block& of) {
    ParameterCount made;
    made.plain = times(keys_.has(four_norms) ? 4 : 2, hidden_);
    if (of.mix == Mixer::latent) latent(of.shape, made);
    if (of.mix == Mixer::attention || of.mix == Mixer::window || of.mix == Mixer::both)
      attention(of.shape, made);
    const auto other = recurrence_of(keys_, of.mix, hidden_);
    made.matrices = plus(made.matrices, other.matrices);
    made.plain = plus(made.plain, other.vectors);
    feed(of.feed, made);
    made.matrices = plus(made.matrices, times(2, hidden_, per_layer_size()));
    return made;
  }

  ParameterCount outside(const std::vector<Block>& blocks) {
    ParameterCount made;
    const auto vocabulary = keys_.needed({"vocab_size", "padded_vocab_size"});
    const auto is_tied = keys_.truth("tie_word_embeddings").value_or(keys_.has(tied));
    const auto width = keys_.size({"word_embed_proj_dim"}).value_or(hidden_);
    made.embeddings = times(is_tied ? 1 : 2, vocabulary, width);
    if (width != hidden_) made.matrices = times(2, width, hidden_);  // OPT-350m widens and narrows
    made.plain = hidden_;
    if (keys_.has(learned_positions))
      made.embeddings = plus(
          made.embeddings, times(keys_.whole({"n_positions", "max_position_embeddings"}), hidden_));
    const auto rows = keys_.whole({"vocab_size_per_layer_input"}, vocabulary);
    made.embeddings =
        plus(made.embeddings, times(plus(rows, hidden_), blocks.size(), per_layer_size()));
    for (auto more = std::min<std::uint64_t>(predicting_layers_of(keys_), 8); more > 0; --more)
      predictor(blocks.back(), vocabulary, made);
    return made;
  }

 private:
  // Returns the size of Gemma 3n's embedding of each layer, widened by two matrices.
  std::uint64_t per_layer_size() { return keys_.whole({"hidden_size_per_layer_input"}); }

  void attention(const AttentionShape& shape, ParameterCount& to) {
    const auto queries = times(shape.heads, shape.key_size);
    const auto rest = times(shape.kv_heads, plus(shape.key_size, shape.value_size));
    const auto gate = keys_.has(query_gate) ? queries : 0;
    to.matrices = plus(to.matrices, times(hidden_, plus(queries, rest, gate)),
                       times(shape.heads, shape.value_size, hidden_));
    if (keys_.truth("attention_bias").value_or(keys_.has(query_bias)))
      to.plain = plus(to.plain, queries, rest);
  }

  // Counts DeepSeek-V2's latent attention: https://arxiv.org/abs/2405.04434
  void latent(const AttentionShape& shape, ParameterCount& to) {
    const auto rank = keys_.whole({"kv_lora_rank"});
    const auto rope = keys_.whole({"qk_rope_head_dim"});
    const auto nope = keys_.whole({"qk_nope_head_dim"});
    const auto value = shape.value_size;
    const auto query_rank = keys_.whole({"q_lora_rank"});
    const auto queries = times(shape.heads, plus(nope, rope));
    to.matrices =
        plus(to.matrices,
             query_rank == 0 ? times(hidden_, queries) : times(query_rank, plus(hidden_, queries)),
             times(hidden_, plus(rank, rope)), times(rank, shape.heads, plus(nope, value)));
    to.matrices = plus(to.matrices, times(shape.heads, value, hidden_));
    to.plain = plus(to.plain, rank, query_rank);
  }

  void feed(Forward kind, ParameterCount& to) {
    if (kind == Forward::dense)
      to.matrices = plus(to.matrices, times(gates_, hidden_, feed_forward_size_of(keys_)));
    if (kind != Forward::experts) return;
    to.experts = plus(to.experts, times(gates_, hidden_, experts_.size, experts_.count));
    to.matrices = plus(to.matrices, times(gates_, hidden_, experts_.shared_size));
    to.plain = plus(to.plain, times(hidden_, experts_.count));
  }

  // Counts an additional layer that predicts a token, with copies of embedding and output.
  void predictor(const Block& like, std::uint64_t vocabulary, ParameterCount& to) {
    const auto more = layer(like);
    to.matrices = plus(to.matrices, more.matrices, times(2, hidden_, hidden_));
    to.experts = plus(to.experts, more.experts);
    to.plain = plus(to.plain, more.plain);
    to.embeddings = plus(to.embeddings, times(2, vocabulary, hidden_));
  }

  ConfigKeys& keys_;
  std::uint64_t hidden_;
  ExpertShape experts_;
  std::uint64_t gates_;
};

std::optional<std::string> dtype_of(ConfigKeys& keys) {
  const auto* given = keys.text({"torch_dtype", "dtype"});
  if (given == nullptr) return std::nullopt;
  try {
    hypomnesis::dtype_from_name(*given);
    return *given;
  } catch (const hypomnesis::error&) {
    return std::nullopt;
  }
}

packing plain_packing(const std::string& dtype) {
  packing made;
  made.dtype = hypomnesis::dtype_from_name(dtype);
  return made;
}

packing in_groups(std::uint32_t bits, std::uint32_t group, std::uint32_t group_bits) {
  return {{}, bits, group, group_bits};
}

// Reader of the object that describes how weights are quantised, and of which of its keys have been
// read.
class Quantisation {
 public:
  Quantisation(const json::Value& given, Storage& to) : given_(given), to_(to) {}

  void read(bool is_mlx) {
    const auto* method = text("quant_method");
    const std::string name = is_mlx ? "mlx" : method != nullptr ? *method : "";
    const auto packed = is_mlx ? mlx() : packing_of(name);
    if (!packed) {
      to_.is_specified = false;
      to_.noted.add(fmt::format("weights count as {}: how \"{}\" quantises them is not known",
                                to_.name, name),
                    Precision::about);
      return;
    }
    to_.experts = *packed;
    const bool only_experts = name == "mxfp4";  // in gpt-oss
    if (!only_experts) to_.matrices = *packed;
    if (is_mlx) to_.embeddings = *packed;
    // ExLlama quantises the output and leaves the embedding in 16 bits: their mean.
    if (const auto head = small(find("head_bits"), 0); head != 0 && head <= 16)
      to_.embeddings = in_groups((16 + head + 1) / 2, 0, 0);
    to_.name += fmt::format(", {} of {}", only_experts ? "experts" : "matrices", name);
    note_exceptions(only_experts);
    note_unread(is_mlx);
  }

 private:
  const json::Value* find(std::string_view name) {
    read_.emplace(name);
    return given_.find(name);
  }
  const std::string* text(std::string_view name) {
    const auto* found = find(name);
    return found != nullptr ? found->text() : nullptr;
  }
  std::uint32_t small(const json::Value* of, std::uint32_t otherwise) const {
    const auto value = of != nullptr ? of->whole() : std::nullopt;
    return value && *value >= 1 && *value <= 65536 ? static_cast<std::uint32_t>(*value) : otherwise;
  }
  std::uint32_t taken(std::string_view name, std::uint32_t otherwise) {
    const auto* given = find(name);
    const auto value = small(given, 0);
    if (value != 0) return value;
    const bool is_there = given != nullptr && !given->is_null();
    to_.noted.add(fmt::format("quantisation: \"{}\" is {}: {} is counted", name,
                              is_there ? shown(*given) : "missing", otherwise),
                  is_there ? Precision::about : Precision::counted);
    return otherwise;
  }

  // A scale and a bias of 16 bits for each group, also of the embedding; the formats of the Open
  // Compute Project have a scale of 8 bits instead. https://ml-explore.github.io/mlx, quantize
  std::optional<packing> mlx() {
    const auto* mode = text("mode");
    const auto bits = taken("bits", 4);
    if (mode == nullptr || *mode == "affine") return in_groups(bits, taken("group_size", 64), 32);
    const auto group = small(find("group_size"), *mode == "nvfp4" ? 16 : 32);
    if (*mode == "mxfp4" || *mode == "mxfp8" || *mode == "nvfp4") return in_groups(bits, group, 8);
    return std::nullopt;
  }

  std::optional<packing> packing_of(const std::string& method) {
    if (method == "fp8" || method == "fbgemm_fp8") return fp8();
    if (method == "mxfp4") return in_groups(4, 32, 8);
    if (method == "compressed-tensors") return compressed();
    if (method == "modelopt" || method == "modelopt_fp4") return modelopt(method);
    if (method == "exl2" || method == "exl3") return exllama();
    if (method == "bitsandbytes") return bitsandbytes();
    if (method != "gptq" && method != "awq" && method != "auto-round") return std::nullopt;
    const auto bits = taken("bits", 4);
    // A scale of 16 bits and a zero point as wide as a weight; -1: a group is a column.
    const auto* group = find("group_size");
    if (group != nullptr && group->real() == -1) return in_groups(bits, 0, 0);
    return in_groups(bits, taken("group_size", 128), 16 + bits);
  }

  // Counts a scale of 32 bits for each square of `weight_block_size`, or for each matrix.
  packing fp8() {
    const auto* block = find("weight_block_size");
    if (block == nullptr || block->items() == nullptr || block->items()->size() != 2)
      return in_groups(8, 0, 0);
    const auto& sides = *block->items();
    return in_groups(8, small(&sides[0], 128) * small(&sides[1], 128), 32);
  }

  // Reads the weights of the first group of compressed-tensors.
  std::optional<packing> compressed() {
    const auto* groups = find("config_groups");
    if (groups == nullptr || groups->members() == nullptr || groups->members()->keys.empty())
      return std::nullopt;
    if (groups->members()->keys.size() > 1)
      to_.noted.add("quantisation: the first of several \"config_groups\" is counted for all",
                    Precision::about);
    const auto* weights = groups->members()->values.front().find("weights");
    if (weights == nullptr || weights->find("num_bits") == nullptr) return std::nullopt;
    const auto* group = weights->find("group_size");
    const auto* type = weights->find("type");
    const auto bits = small(weights->find("num_bits"), 8);
    const bool is_float = type != nullptr && type->text() != nullptr && *type->text() == "float";
    // NVFP4 and MXFP4 have scales of 8 bits.
    return group != nullptr ? in_groups(bits, small(group, 128), is_float && bits == 4 ? 8 : 16)
                            : in_groups(bits, 0, 0);
  }

  std::optional<packing> modelopt(const std::string& method) {
    const auto* algorithm = text("quant_algo");
    const std::string name = algorithm != nullptr       ? *algorithm
                             : method == "modelopt_fp4" ? "NVFP4"
                                                        : "FP8";
    const auto group = small(find("group_size"), 16);
    if (name == "NVFP4") return in_groups(4, group, 8);
    if (name == "FP8") return in_groups(8, 0, 0);
    return std::nullopt;
  }

  // ExLlama's bits are a mean, as 4.25, and its scales are in it.
  std::optional<packing> exllama() {
    const auto* bits = find("bits");
    const auto mean = bits != nullptr ? bits->real() : std::nullopt;
    if (!mean || !(*mean >= 1) || *mean > 16) return std::nullopt;
    const auto whole = std::floor(*mean);
    const auto hundredths = static_cast<std::uint32_t>(std::lround((*mean - whole) * 100));
    return in_groups(static_cast<std::uint32_t>(whole), 100, hundredths);
  }

  packing bitsandbytes() {
    const auto* four = find("load_in_4bit");
    const auto* twice = find("bnb_4bit_use_double_quant");
    if (four == nullptr || four->truth() != true) return in_groups(8, 0, 0);
    // Scales of 32 bits, or of 8 with one of 32 for 256 of these.
    return twice != nullptr && twice->truth() == true ? in_groups(4, 64, 9) : in_groups(4, 64, 32);
  }

  // Matrices other than these, that are left as they are, make more than is counted.
  void note_exceptions(bool only_experts) {
    for (const std::string_view name : {"modules_to_not_convert", "ignored_layers", "ignore",
                                        "exclude_modules", "llm_int8_skip_modules"}) {
      const auto* list = find(name);
      if (list == nullptr || list->items() == nullptr || only_experts) continue;
      for (const auto& each : *list->items())
        if (each.text() != nullptr && !is_small(*each.text())) {
          to_.noted.add(
              fmt::format("quantisation: \"{}\" leaves some matrices as they are, among them {}",
                          name, shown(each)),
              Precision::at_least);
          break;
        }
    }
  }
  static bool is_small(std::string_view module) {
    for (const std::string_view part :
         {"lm_head", "embed", "norm", "gate", "router", "vision", "visual", "audio", "mtp"})
      if (module.find(part) != std::string_view::npos &&
          module.find("gate_proj") == std::string_view::npos)
        return true;
    return false;
  }

  void note_unread(bool is_mlx) {
    constexpr std::string_view of_no_effect[] = {"activation_scheme",
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
    const json::Object& all = *given_.members();
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
      const std::string& key = all.keys[i];
      const json::Value& value = all.values[i];
      if (value.is_null() || read_.find(key) != read_.end()) continue;
      if (!is_mlx && value.truth() == false) continue;
      if (std::find(std::begin(of_no_effect), std::end(of_no_effect), key) !=
          std::end(of_no_effect))
        continue;
      if (key == "kv_cache_scheme" || key == "kv_cache_quant_algo")
        to_.noted.add(fmt::format("quantisation: \"{}\" names a type of keys and values: --kv-type "
                                  "decides here",
                                  key),
                      Precision::about);
      else if (is_mlx && value.truth() == false)
        to_.noted.add("quantisation: some matrices are left as they are", Precision::at_least);
      else if (is_mlx && value.members() != nullptr)
        to_.noted.add("quantisation: some matrices have bits of their own", Precision::about);
      else
        to_.noted.add(fmt::format("quantisation: \"{}\" is not understood", key), Precision::about);
    }
  }

  const json::Value& given_;
  Storage& to_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace

Recurrence recurrence_of(ConfigKeys& keys, Mixer mix, std::uint64_t hidden_size) {
  if (mix == Mixer::linear) return linear(keys, hidden_size);
  if (mix == Mixer::convolution) return convolution(keys, hidden_size);
  if (mix != Mixer::mamba && mix != Mixer::both) return {};
  const bool is_second = keys.facts() != nullptr && keys.facts()->state == StateKind::mamba2;
  const auto heads = is_second && keys.has(every_layer_mamba)
                         ? keys.taken({"num_heads"}, 1)
                         : keys.whole({"mamba_n_heads", "mamba_num_heads"});
  if (is_second && heads == 0)
    keys.noted.add("\"mamba_n_heads\" is missing: counted as Mamba of the first kind",
                   Precision::about);
  return heads != 0 ? mamba2(keys, heads, hidden_size) : mamba(keys, hidden_size);
}

CountedParameters count_parameters(ConfigKeys& keys, const std::vector<Block>& blocks) {
  CountedParameters made;
  Counter of(keys);
  for (const auto& each : blocks) made.layers.push_back(of.layer(each));
  if (!blocks.empty()) made.outside = of.outside(blocks);
  return made;
}

Storage storage_of(ConfigKeys& keys) {
  Storage made;
  const auto dtype = dtype_of(keys);
  if (!dtype) {
    made.is_specified = false;
    made.noted.add("weights count as bf16: the configuration does not give their type",
                   Precision::about);
  }
  made.name = dtype.value_or("bf16");
  made.plain = made.embeddings = made.matrices = made.experts = plain_packing(made.name);
  const auto* mlx = keys.object({"quantization"});
  const auto* given = keys.object({"quantization_config", "compression_config"});
  // MLX writes the same under both names.
  if (mlx != nullptr || given != nullptr) {
    const bool is_mlx = mlx != nullptr;
    Quantisation(is_mlx ? *mlx : *given, made).read(is_mlx);
  }
  return made;
}

Expected<std::uint64_t> bytes_of(const ParameterCount& numbers, const Storage& as) {
  std::uint64_t sum = 0;
  for (const auto& [elements, packed] :
       {std::pair(numbers.matrices, as.matrices), std::pair(numbers.experts, as.experts),
        std::pair(numbers.embeddings, as.embeddings), std::pair(numbers.plain, as.plain)}) {
    try {
      sum = plus(sum, hypomnesis::estimate_packed({elements}, packed));
    } catch (const hypomnesis::error& why) {
      return failed(fmt::format("{} numbers: {}", elements, why.status_name()));
    }
  }
  return sum;
}

Expected<Weights> weights_of(const ModelConfig& counted) {
  Weights made;
  for (const auto& each : counted.parameters.layers) {
    const auto bytes = bytes_of(each, counted.stored);
    if (!bytes) return bytes.why();
    made.layers.push_back(*bytes);
    made.parameters = plus(made.parameters, each.all());
  }
  const auto bytes = bytes_of(counted.parameters.outside, counted.stored);
  if (!bytes) return bytes.why();
  made.outside = *bytes;
  made.parameters = plus(made.parameters, counted.parameters.outside.all());
  if (made.total() == too_much) return failed("its sizes make more than 2^64 bytes");
  return made;
}

}  // namespace hmn::cli::fit
