// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/architecture.hpp"

#include <algorithm>

namespace hmn::cli::fit {
namespace {

using State = StateKind;
using Rule = StateRule;

// Facts that llama.cpp and vLLM know without a key of the file. A source "gemma2" means
// src/models/gemma2.cpp of https://github.com/ggml-org/llama.cpp (load_arch_hparams) and
// src/transformers/models/gemma2 of https://github.com/huggingface/transformers; other sources are
// named. Sizes of caches and states: src/llama-kv-cache*.cpp and src/llama-memory-recurrent.cpp
// there, and vllm/v1/kv_cache_interface.py of https://github.com/vllm-project/vllm.
constexpr ArchitectureFacts table[] = {
    // Llama and those that keep keys and values of all tokens in all layers.
    {.gguf = "llama mistral3 deci arcee apertus smollm3 seed_oss minimax-m2 llama-embed",
     .config = "llama mistral3_text mixtral yi internlm2 internlm3 baichuan seed_oss olmo granite "
               "stablelm exaone ministral aquila xverse orion bitnet chatglm glm "
               "hunyuan_v1_moe pangu_embedded maincoder nanbeige talkie smallthinker grovemoe "
               "solar_open telechat2 mellum deepseek",
     .traits = expert_is_intermediate_size,
     .source = "llama; LLM_ARCH_LLAMA reads no window"},
    {.gguf = "grok",
     .traits = no_flash_attention,
     .source = "grok; llama_init_from_model of src/llama-context.cpp"},
    {.gguf = "nanbeige", .traits = looped, .source = "nanbeige: num_loops"},
    {.gguf = "graniteswitch",
     .traits = router_layer,
     .source = "granite-switch: a last layer of one head routes"},
    {.config = "mistral ministral3",
     .traits = window_everywhere,
     .source = "mistral: vLLM applies sliding_window to each layer"},
    {.gguf = "olmo olmoe granite granitemoe dbrx xverse orion internlm2 baichuan "
             "exaone jais jais2 plamo codeshell refact chatglm glm4 bitnet chameleon openelm "
             "arctic deepseek dots1 bailingmoe bailingmoe2 hunyuan-moe hunyuan-dense hunyuan_vl "
             "hy_v3 ernie4_5 ernie4_5-moe grovemoe pangu-embedded cogvlm maincoder minicpm gemma "
             "stablelm command-r paddleocr deepseek2-ocr talkie hrm_text",
     .config = "glm4 hunyuan_v1_dense dots1 bailing_moe bailing_moe_v2 bailing_moe_linear "
               "bailing_moe_linear_v2",
     .source = "the file of that name: no swa_type, no recurrent layers"},
    {.config = "ernie4_5_moe", .traits = tied, .source = "Ernie4_5_MoeConfig"},
    {.config = "granitemoe olmoe dbrx",
     .traits = expert_is_intermediate_size,
     .source = "granitemoe, olmoe, dbrx: their configurations"},
    {.config = "smollm3 ernie4_5", .traits = tied, .source = "SmolLM3Config, Ernie4_5Config"},
    {.config = "arcee apertus jais2",
     .traits = two_matrices,
     .source = "arcee, apertus, jais2: no ffn_gate"},
    {.config = "plm", .traits = two_matrices | whole_keys, .source = "plm: no ffn_gate"},
    {.config = "codeshell",
     .traits = two_matrices | tied | query_bias,
     .source = "codeshell: no ffn_gate"},
    {.config = "gemma", .traits = tied, .source = "gemma"},
    {.config = "cohere minicpm", .traits = tied, .source = "cohere; MiniCPM's configuration"},
    {.config = "minimax_m2",
     .traits = expert_is_intermediate_size,
     .source = "minimax-m2; MiniMaxM2Config"},
    {.gguf = "qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3vl qwen3vlmoe qwen",
     .config = "qwen3 qwen3_moe qwen3_vl_text qwen3_vl_moe_text",
     .traits = window_needs_switch,
     .source = "qwen3: use_sliding_window is false unless given"},
    {.config = "qwen2 qwen2_moe qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text mimo",
     .traits = query_bias | window_needs_switch,
     .source = "qwen2; biases of queries, keys and values; MiMo-7B's configuration"},
    {.config = "qwen",
     .traits = query_bias | half_feed_forward | window_needs_switch,
     .source = "Qwen's modeling_qwen.py: each matrix has half of intermediate_size"},
    {.gguf = "phi2 phi3 phimoe",
     .config = "phi3 phimoe",
     .traits = window_everywhere | expert_is_intermediate_size,
     .source = "phi3: llama.cpp ignores the window and keeps the whole context"},
    {.config = "phi", .traits = two_matrices | query_bias, .source = "phi"},
    {.gguf = "gpt2",
     .config = "gpt2",
     .traits = two_matrices | tied | query_bias | learned_positions,
     .source = "gpt2"},
    {.gguf = "starcoder",
     .config = "gpt_bigcode",
     .traits = two_matrices | tied | query_bias | learned_positions,
     .source = "gpt_bigcode"},
    {.config = "opt",
     .traits = two_matrices | tied | query_bias | learned_positions,
     .source = "opt"},
    {.gguf = "starcoder2",
     .config = "starcoder2",
     .traits = two_matrices | tied | query_bias | window_everywhere,
     .source = "starcoder2"},
    {.gguf = "gptneox",
     .config = "gpt_neox",
     .traits = two_matrices | query_bias,
     .source = "gpt_neox"},
    {.gguf = "bloom",
     .config = "bloom",
     .traits = two_matrices | tied | query_bias,
     .source = "bloom"},
    {.config = "gptj gpt_neo persimmon codegen", .traits = two_matrices, .source = "gptj"},
    {.gguf = "mpt", .config = "mpt", .traits = two_matrices | tied, .source = "mpt"},
    {.gguf = "falcon",
     .config = "falcon",
     .traits = two_matrices | tied | one_kv_head,
     .source = "falcon: num_kv_heads counts in the new decoder architecture alone"},
    {.gguf = "nemotron", .config = "nemotron", .traits = two_matrices, .source = "nemotron"},

    // Windows.
    {.gguf = "llama4",
     .config = "llama4_text llama4",
     .window = {.period = 4, .size = 8192, .forced_size = 8192, .is_chunked = true},
     .traits = shared_expert_like_routed | expert_is_intermediate_size,
     .source = "llama4: n_swa is 8192 and each fourth layer is full, whatever the file has; "
               "Llama4TextConfig"},
    {.gguf = "gemma2",
     .config = "gemma2",
     .window = {.period = 2, .size = 4096},
     .traits = tied | four_norms,
     .source = "gemma2"},
    {.gguf = "gemma3",
     .config = "gemma3_text",
     .window = {.period = 6},
     .traits = tied | four_norms,
     .source = "gemma3: without its key there is no window"},
    {.gguf = "gemma3n",
     .config = "gemma3n_text",
     .window = {.period = 5},
     .traits = tied | embedding_twice,
     .source = "gemma3n: n_layer_kv_from_start is 20",
     .layers_with_kv = 20},
    {.config = "gemma4_text",
     .window = {.period = 6},
     .traits = tied | four_norms,
     .source = "Gemma4TextConfig: 5 of 6"},
    {.gguf = "cohere2moe", .window = {.period = 4, .first_is_full = true}, .source = "cohere2moe"},
    {.gguf = "cohere2",
     .config = "cohere2",
     .window = {.period = 4},
     .traits = tied,
     .source = "cohere2"},
    {.gguf = "gpt-oss",
     .config = "gpt_oss",
     .window = {.period = 2},
     .traits = expert_is_intermediate_size,
     .source = "gpt_oss"},
    {.gguf = "olmo2", .config = "olmo2 olmo3", .window = {.period = 4}, .source = "olmo2; olmo3"},
    {.gguf = "exaone4",
     .config = "exaone4",
     .window = {.period = 4, .only_layers = 64},
     .source = "exaone4: only the model of 64 layers has windows"},
    {.gguf = "mellum muse-glimmer", .window = {.period = 4}, .source = "mellum, muse-glimmer"},
    {.gguf = "plamo3", .window = {.period = 8}, .source = "plamo3"},
    {.gguf = "exaone-moe",
     .config = "exaone_moe",
     .window = {.period = 4},
     .traits = approximate_weights,
     .source = "exaone-moe"},
    {.gguf = "afmoe",
     .config = "afmoe",
     .window = {.period = 4},
     .traits = query_gate | four_norms,
     .source = "afmoe: global_attn_every_n_layers is 4"},
    {.gguf = "smallthinker",
     .window = {.period = 4, .first_is_full = true, .forced_size = 4096},
     .source = "smallthinker: n_swa is 4096 if the file has any"},
    {.gguf = "laguna", .window = {.period = 4, .first_is_full = true}, .source = "laguna"},
    {.gguf = "gemma4 mimo2 step35 maple spark2_5 granite_swa dflash",
     .window = {.period = WindowRule::listed},
     .source = "the file of that name: sliding_window_pattern lists the layers"},
    {.config = "mimo_v2_flash", .source = "MiMoV2FlashConfig"},

    // Latent attention, and indexers with a cache of their own.
    {.gguf = "deepseek2 plm mistral4",
     .config = "deepseek_v2 deepseek_v3 kimi_k2 deepseek_vl_v2 glm4_moe_lite mistral4",
     .source = "deepseek2; src/llama-kv-cache.cpp keeps no values where is_mla()"},
    {.gguf = "minicpm3",
     .config = "minicpm3",
     .traits = tied | whole_keys,
     .source = "minicpm3; vllm/model_executor/models/minicpm3.py"},
    {.gguf = "minimax-m3",
     .traits = indexer_keeps_values | indexer_scores_by_head,
     .source = "minimax-m3; src/llama-kv-cache-msa.cpp"},
    {.gguf = "hy_v4", .source = "hy-v4; src/llama-kv-cache-dsa.cpp"},
    {.gguf = "dots3note",
     .window = {.period = WindowRule::listed},
     .source = "dots3note; src/llama-kv-cache-dsa-iswa.cpp"},
    {.gguf = "deepseek32",
     .config = "deepseek_v32",
     .source = "deepseek32; src/llama-kv-cache-dsa.cpp"},
    {.gguf = "glm-dsa",
     .config = "glm_moe_dsa",
     .traits = indexer_shared,
     .source = "glm-dsa: GLM_5_2_DEFAULT_INDEXER_TYPES; src/llama-kv-cache-dsa.cpp"},
    {.gguf = "deepseek4",
     .config = "deepseek_v4",
     .window = {.period = WindowRule::all, .size = 128},
     .traits = approximate_weights | compressed_keys,
     .source = "deepseek4: set_swa_pattern(0); src/llama-kv-cache-dsv4.cpp; DeepseekV4Config"},
    {.gguf = "glm4moe", .config = "glm4_moe", .source = "glm4-moe: the last layers predict"},

    // States.
    {.gguf = "mamba",
     .config = "mamba falcon_mamba",
     .state = State::mamba,
     .state_rule = Rule::all,
     .traits = tied | inner_is_intermediate_size | every_layer_mamba,
     .source = "mamba"},
    {.gguf = "mamba2",
     .config = "mamba2",
     .state = State::mamba2,
     .state_rule = Rule::all,
     .traits = every_layer_mamba,
     .source = "mamba2"},
    {.gguf = "jamba",
     .config = "jamba",
     .state = State::mamba,
     .state_rule = Rule::without_kv,
     .traits = expert_is_intermediate_size,
     .source = "jamba"},
    {.gguf = "falcon-h1",
     .config = "falcon_h1",
     .state = State::mamba2,
     .state_rule = Rule::all_with_attention,
     .traits = every_layer_both,
     .source = "falcon-h1"},
    {.gguf = "granitehybrid",
     .config = "granitemoehybrid bamba",
     .state = State::mamba2,
     .state_rule = Rule::without_kv,
     .traits = expert_is_intermediate_size,
     .source = "granite-hybrid"},
    {.gguf = "nemotron_h nemotron_h_moe",
     .config = "nemotron_h",
     .state = State::mamba2,
     .state_rule = Rule::without_kv_and_feed_forward,
     .traits = two_matrices,
     .source = "nemotron-h: a layer with experts or a network has neither cache nor state"},
    {.gguf = "plamo2", .state = State::mamba2, .state_rule = Rule::without_kv, .source = "plamo2"},
    {.gguf = "qwen3next qwen35 qwen35moe",
     .config = "qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
     .state = State::delta,
     .state_rule = Rule::interval,
     .traits = query_gate,
     .source = "qwen3next, qwen35: each fourth layer has attention"},
    {.gguf = "qwen4exp",
     .state = State::delta,
     .state_rule = Rule::interval,
     .traits = indexer_scores_by_head,
     .source = "qwen4exp; src/llama-memory-hybrid-idx.cpp"},
    {.gguf = "minimax-01",
     .state = State::lightning,
     .state_rule = Rule::interval,
     .source = "minimax-01: n_embd_head_la in src/llama-hparams.cpp",
     .interval = 8},
    {.gguf = "bailingmoe3 kimi-k3",
     .state = State::kimi_delta,
     .state_rule = Rule::without_kv,
     .source = "bailingmoe3, kimi-k3: n_embd_head_kda in src/llama-hparams.cpp"},
    {.gguf = "kimi-linear",
     .config = "kimi_linear",
     .state = State::kimi_delta,
     .state_rule = Rule::without_kv,
     .source = "kimi-linear"},
    {.gguf = "lfm2 lfm2moe",
     .config = "lfm2_moe",
     .window = {.period = WindowRule::all},
     .state = State::convolution,
     .state_rule = Rule::without_kv,
     .traits = tied,
     .source = "lfm2: n_embd_r in src/llama-hparams.cpp"},
    {.config = "lfm2",
     .state = State::convolution,
     .traits = tied | adjusted_feed_forward,
     .source = "Lfm2Config"},
    {.config = "minimax minimax_text_01 minimax_m1",
     .traits = approximate_weights | expert_is_intermediate_size,
     .source = "MiniMaxConfig: a state of head by head size in layers of linear attention"},
    {.gguf = "rwkv6 rwkv7 rwkv6qwen2 arwkv7",
     .state = State::rwkv,
     .state_rule = Rule::all,
     .source = "rwkv6: token_shift_count is 2 unless given; n_embd_s in src/llama-hparams.cpp"},

    // Models that do not write text token by token, or that a runtime does not run.
    {.gguf = "bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 "
             "eurobert gemma-embedding t5encoder",
     .config = "bert roberta xlm-roberta xlm-roberta-xl camembert distilbert albert electra "
               "deberta deberta-v2 modernbert nomic_bert neobert eurobert mpnet roformer ernie "
               "nezha esm longformer big_bird funnel squeezebert mobilebert megatron-bert "
               "convbert layoutlm layoutlmv2 layoutlmv3 splinter ibert flaubert xlm fnet canine",
     .traits = encoder,
     .source = "encoders process all tokens at once and keep nothing",
     .refusal = "an encoder"},
    {.gguf = "t5",
     .config = "t5 mt5 umt5 longt5 switch_transformers t5gemma t5gemma2 bart mbart barthez pegasus "
               "pegasus_x bigbird_pegasus marian m2m_100 nllb-moe blenderbot blenderbot-small led "
               "prophetnet xlm-prophetnet plbart fsmt mvp encoder-decoder vision-encoder-decoder "
               "pix2struct udop",
     .source = "is_encoder_decoder of their configurations",
     .refusal = "an encoder and a decoder"},
    {.gguf = "dream llada llada-moe rnd1",
     .config = "dream Dream llada llada_moe llada2_moe rnd1 diffucoder sdar sdar_moe mdlm d3pm",
     .source = "dream, llada, llada-moe, rnd1: all tokens at once, without a cache",
     .refusal = "a diffusion model"},
    {.gguf = "clip",
     .config = "clip clip_vision_model siglip siglip_vision_model siglip2 vit vit_mae vit_msn deit "
               "beit swin swinv2 convnext convnextv2 resnet dinov2 dinov3_vit dinov3_convnext sam "
               "sam2 sam_hq detr deformable_detr conditional_detr rt_detr rt_detr_v2 d_fine yolos "
               "segformer mask2former maskformer oneformer dpt depth_anything zoedepth blip "
               "owlvit owlv2 grounding-dino align altclip chinese_clip groupvit xclip videomae "
               "timesformer vivit mobilenet_v1 mobilenet_v2 mobilevit mobilevitv2 efficientnet "
               "regnet levit cvt poolformer pvt pvt_v2 hiera ijepa vjepa2 timm_wrapper",
     .source = "their configurations",
     .refusal = "an image model: no language layers"},
    {.gguf = "wavtokenizer-dec qwen3tts pockettts",
     .config = "whisper wav2vec2 wav2vec2-bert wav2vec2-conformer hubert wavlm unispeech "
               "unispeech-sat data2vec-audio sew sew-d encodec dac mimi clap speech_to_text "
               "speecht5 vits bark musicgen musicgen_melody seamless_m4t seamless_m4t_v2 "
               "moonshine parakeet audio-spectrogram-transformer univnet",
     .source = "their configurations",
     .refusal = "an audio model: no text"},
    {.gguf = "gemma4-assistant",
     .source = "gemma4-assistant: layer_share_cb in src/llama-model.cpp",
     .refusal = "a draft model that uses the cache of its main model"},
    {.gguf = "gptj",
     .source = "src/llama-model.cpp has no such model",
     .refusal = "an architecture that llama.cpp names and does not run"},
    {.gguf = "eagle3", .source = "eagle3: a draft model with a cache of its own"},
    {.config = "rwkv rwkv5 rwkv6 rwkv6qwen2 rwkv7 rwkv_hybrid xlstm recurrent_gemma retnet hyena "
               "stripedhyena",
     .source = "vllm/model_executor/models/registry.py",
     .refusal = "a recurrent model that vLLM does not run"},
    {.config = "xlnet reformer transfo-xl ctrl cpmant xmod decision_transformer "
               "trajectory_transformer timesfm time_series_transformer informer autoformer "
               "patchtst patchtsmixer graphormer esmfold",
     .source = "vllm/model_executor/models/registry.py",
     .refusal = "a model that vLLM does not run"},
};

struct DefaultValue {
  std::string_view type;
  std::string_view key;
  std::uint64_t value;
  bool only_nested = false;  // in LLaVA and similar, whose text_config lists differences only
};
// From configuration_*.py of transformers.
constexpr DefaultValue defaults[] = {
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "vocab_size", 262208},
    {"gemma3_text", "max_position_embeddings", 131072},
    {"gemma3_text", "sliding_window", 4096, true},
    {"gemma", "head_dim", 256},
    {"gemma2", "head_dim", 256},
    {"gemma2", "sliding_window", 4096},
    {"gemma3n_text", "num_kv_shared_layers", 15},
    {"gemma3n_text", "head_dim", 256},
    {"gemma4_text", "head_dim", 256},
    {"gemma4_text", "global_head_dim", 512},
    {"gemma4_text", "sliding_window", 512},
    {"llama4_text", "attention_chunk_size", 8192},
    {"deepseek_v4", "sliding_window", 128},
    {"deepseek_v4", "head_dim", 512},
    {"deepseek_v4", "index_head_dim", 128},
    {"llama", "hidden_size", 4096, true},
    {"llama", "intermediate_size", 11008, true},
    {"llama", "num_hidden_layers", 32, true},
    {"llama", "num_attention_heads", 32, true},
    {"mistral", "hidden_size", 4096, true},
    {"mistral", "intermediate_size", 14336, true},
    {"mistral", "num_hidden_layers", 32, true},
    {"mistral", "num_attention_heads", 32, true},
    {"mistral", "num_key_value_heads", 8, true},
    {"mistral", "vocab_size", 32000, true},
};

// Calls `predicate` for each blank-separated word until it returns true.
template <class Is>
bool any_word(std::string_view words, const Is& predicate) {
  while (!words.empty()) {
    const auto word = words.substr(0, words.find(' '));
    if (predicate(word)) return true;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return false;
}

bool has_word(std::string_view words, std::string_view needle) {
  return !needle.empty() && any_word(words, [needle](auto word) { return word == needle; });
}

// '*' at the beginning or the end of a pattern matches anything.
bool matches_any(std::string_view patterns, std::string_view key) {
  return any_word(patterns, [key](std::string_view pattern) {
    const bool is_start = pattern.ends_with('*');
    if (is_start) pattern.remove_suffix(1);
    if (!pattern.starts_with('*')) return is_start ? key.starts_with(pattern) : key == pattern;
    pattern.remove_prefix(1);
    return is_start ? key.find(pattern) != std::string_view::npos : key.ends_with(pattern);
  });
}

bool contains_any(std::string_view parts, std::string_view key) {
  return any_word(parts, [key](auto part) { return key.find(part) != std::string_view::npos; });
}

// Words of keys that describe attention, states, experts, windows and caches.
constexpr std::string_view memory_words =
    "attention attn head kv key value window sliding chunk swa expert moe ssm mamba conv state "
    "recurr linear delta lora rank index compress cache nextn predict mtp layer_type block_type "
    "hybrid interval wkv kda token_shift latent memory quant pattern shared global";

// Keys with such words that change numbers, not sizes, or only weights, which are in the file.
constexpr std::string_view harmless_gguf_keys =
    "attention.layer_norm_epsilon attention.layer_norm_rms_epsilon attention.group_norm_* "
    "attention.scale attention.output_scale attention.value_scale attention.temperature_* "
    "attention.max_alibi_bias attention.clamp_kqv attention.q_lora_rank "
    "attention.output_lora_rank attention.output_group_count attention.compress_rope_freq_base "
    "attention.gate_lora_rank attention.decay_lora_rank attention.iclr_lora_rank "
    "attention.value_residual_mix_lora_rank attention.relative_buckets_count "
    "attention.indexer.head_count attention.indexer.top_k attention.use_norm "
    "attention.sigmoid_scale attn_logit_softcapping router_logit_softcapping expert_weights_scale "
    "expert_weights_norm expert_gating_func expert_group_count expert_group_used_count "
    "expert_group_scale experts_per_group moe_every_n_layers moe_latent_size "
    "interleave_moe_layer_step ssm.time_step_rank ssm.dt_b_c_rms rope.* swiglu_clamp_* "
    "expert_latent_length attention.indexer.block_size attention.indexer.local_blocks "
    "attn_res.block_size adapters.* activation.* kda.safe_gate kda.gate_lower_bound "
    "hyper_connection.* "
    "expert_chunk_feed_forward_length time_mix_extra_dim time_decay_extra_dim "
    "rescale_every_n_layers decoder_start_token_id";

constexpr std::string_view harmless_config_keys =
    "attention_dropout attn_dropout attn_pdrop attention_probs_dropout_prob _attn_implementation* "
    "attn_implementation attention_multiplier attention_softcap attn_logit_softcapping "
    "attn_output_gate attn_scale attn_temperature_tuning attention_out_bias attention_qkv_bias "
    "attention_in_multiplier attention_out_multiplier attention_value_scale attention_invalid_* "
    "add_swa_attention_sink_bias add_full_attention_sink_bias add_qkv_bias qkv_bias qk_*norm* "
    "use_qk_norm* qk_head_dim query_pre_attn_scalar floor_scale head_dropout lm_head_multiplier "
    "key_multiplier use_cache cache_implementation use_mamba_kernels mamba_chunk_size chunk_size "
    "mamba_conv_bias mamba_proj_bias mamba_dt_* mamba_rms_norm mamba_norm_before_gate "
    "mamba_hidden_act mamba_use_mlp mamba_ssm_cache_dtype mamba_ssm_dtype use_conv_bias conv_bias "
    "conv_dim* conv_use_xavier_init use_conv1d ssm_*multiplier* ssm_in_multiplier "
    "ssm_out_multiplier ssm_multipliers residual_in_fp32 moe_router_* moe_aux_loss* moe_z_loss* "
    "moe_loss* moe_jitter* moe_normalize_expert_weights moe_act* moe_grouped* router_* "
    "output_router_logits use_expert_bias use_moe expert_dropout use_bidirectional_attention "
    "activation_sparsity_pattern laurel_rank mtp_use_* mtp_transformer_layers use_mtp mtp_loss* "
    "mtp_hybrid_override_pattern shared_moe_mode swa_rope_* attention_projection_layout "
    "hybrid_block_size num_expert_group moe_renormalize moe_capacity moe_gate moe_use_aux_free "
    "moe_group_score* seq_aux num_hash_layers mlp_bias no_rope_layer_interval "
    "interleave_sliding_window rotary_* rope_* head_hidden* num_key_value_groups return_dict "
    "output_* clip_qkv attn_uses_sequence_id alibi* attn_impl* softmax_scale prefix_lm qk_ln "
    "sliding_window_layers norm_topk_prob shared_expert_gate route_scale rope_interleave "
    "indexer_rope_interleave index_topk index_topk_freq index_n_heads index_skip_topk_offset "
    "compress_rope_theta o_lora_rank full_attn_mod attention_type attn_type attention_mode no_kv* "
    "layernorm_* pad_token_index image_token_index video_token_index vision_feature_* vision_* "
    "audio_* image_* video_* boa_token_index eoa_token_index lm_head_bias attn_config ffn_config "
    "linear_attn_config parallel_attn use_qkv_bias norm_head moe_primary_router_apply_softmax "
    "global_attn_every_n_layers expert_dtype key_length value_length";

// Keys without such words that change no size either, or only words of the vocabulary.
constexpr std::string_view common_config_keys =
    "architectures auto_map model_type transformers_version torch_dtype dtype _name_or_path "
    "*_token_id *_token_ids *_token *dropout* *_eps *_epsilon *epsilon* initializer_* *_init* "
    "*init_std* hidden_act* *activation* act_* rope* *_rope* *rope_* *theta* rotary* mrope* "
    "task_specific_params id2label label2id problem_type pretraining_tp *scale* *scaling* "
    "*multiplier* *softcap* *_cap *clamp* *clip* gradient_checkpointing tokenizer_class *norm* "
    "is_* use_* *bias* bad_words* max_length min_length do_sample num_beams* temperature top_k "
    "top_p typical_p repetition_penalty length_penalty diversity_penalty no_repeat_ngram_size "
    "early_stopping num_return_sequences remove_invalid_values exponential_decay* suppress_tokens "
    "begin_suppress_tokens forced_* finetuning_task prefix torchscript tf_legacy_loss "
    "pruned_heads chunk_size_feed_forward tie_encoder_decoder cross_attention_hidden_size "
    "add_cross_attention unsloth_* vision_config audio_config text_config *position_embedding* "
    "residual* embedding_multiplier *_multiplier type_vocab_size summary_* n_special "
    "predict_special_tokens afn gelu* swiglu* mup_* *_mup* dim_model_base scale_* "
    "transformers.js_config quantization_config compression_config quantization _commit_hash "
    "ignored_layers no_bias logit* logits_* learned_pos_emb max_window_layers "
    "num_logits_to_keep z_loss* *_loss* *loss_weight* scoring_func score_func topk_method n_group "
    "topk_group topk_prob* route* parallel_* apply_* fp32_* *in_fp32 original_max_* "
    "max_sequence_length seq_length seq_len max_seq_len model_max_length n_ctx emb_dropout "
    "embd_pdrop resid_pdrop embd_* debug* dataset* vocab_file name name_or_path license "
    "pad_vocab_size_multiple* special_tokens* tokens tokenizer* processor* image* video* audio* "
    "language* visual* mm_* projector* vit_* freeze* template* ps_version downsample_* "
    "select_layer dynamic_image_size max_dynamic_patch min_dynamic_patch force_image_size "
    "thinker* talker* token2wav* enable_* speech* timestep* ";

}  // namespace

void Notes::add(std::string line, Precision line_precision) {
  precision = std::max(precision, line_precision);
  if (lines.size() < 24 && std::find(lines.begin(), lines.end(), line) == lines.end())
    lines.push_back(std::move(line));
}

void Notes::append(const Notes& other) {
  precision = std::max(precision, other.precision);
  for (const auto& line : other.lines) add(line);
}

const ArchitectureFacts* find_gguf_facts(std::string_view architecture) noexcept {
  for (const auto& facts : table)
    if (has_word(facts.gguf, architecture)) return &facts;
  return nullptr;
}

const ArchitectureFacts* find_config_facts(std::string_view model_type) noexcept {
  for (const auto& facts : table)
    if (has_word(facts.config, model_type)) return &facts;
  return nullptr;
}

std::optional<std::uint64_t> find_default(std::string_view model_type, std::string_view key,
                                          bool is_nested) noexcept {
  for (const auto& entry : defaults)
    if (entry.type == model_type && entry.key == key && (is_nested || !entry.only_nested))
      return entry.value;
  return std::nullopt;
}

bool may_change_memory_in_gguf(std::string_view key) noexcept {
  return contains_any(memory_words, key) && !matches_any(harmless_gguf_keys, key);
}

bool may_change_memory_in_config(std::string_view key) noexcept {
  return contains_any(memory_words, key) && !matches_any(harmless_config_keys, key);
}

bool is_unknown_in_config(std::string_view key) noexcept {
  return !contains_any(memory_words, key) && !matches_any(common_config_keys, key) &&
         !matches_any(harmless_config_keys, key);
}

}  // namespace hmn::cli::fit
