// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Asks llama.cpp what a model needs, with allocation off: no weights, no memory, no GPU.
//   probe tensors FILE PATTERN: the tensors that the architecture creates from the keys of FILE
//     (required ones, and optional ones whose name PATTERN matches), and the keys it looks for
//   probe contexts FILE SETTING...: the buffers of a context, which is
//     tokens,slots,ubatch,type,flash,shared,outputs
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"
#include "gguf.h"
#include "llama-ext.h"
#include "llama.h"

const std::vector<std::pair<std::string, ggml_tensor*>>& llama_internal_get_tensor_map(
    const llama_model*);

static bool lists_tensors;
static std::regex present_pattern;
static std::set<std::string> absent_tensors;
static std::set<std::string> wanted_keys;

// The libraries call these functions here, because symbols of an executable come first.
template <class Function>
static Function* find_next(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

extern "C" int64_t gguf_find_key(const gguf_context* file, const char* key) {
  wanted_keys.insert(key);
  for (int64_t i = 0, count = gguf_get_n_kv(file); i < count; ++i)
    if (strcmp(gguf_get_key(file, i), key) == 0) return i;
  return -1;
}

extern "C" int64_t gguf_find_tensor(const gguf_context* file, const char* name) {
  if (lists_tensors) {
    if (std::regex_search(name, present_pattern)) return 0;
    absent_tensors.insert(name);
    return -1;
  }
  for (int64_t i = 0, count = gguf_get_n_tensors(file); i < count; ++i)
    if (strcmp(gguf_get_tensor_name(file, i), name) == 0) return i;
  return -1;
}

extern "C" ggml_type gguf_get_tensor_type(const gguf_context* file, int64_t index) {
  static const auto next = find_next("gguf_get_tensor_type", gguf_get_tensor_type);
  return lists_tensors ? GGML_TYPE_F32 : next(file, index);
}

extern "C" ggml_backend_buffer* ggml_backend_alloc_ctx_tensors_from_buft(
    ggml_context* context, ggml_backend_buffer_type_t type) {
  static const auto next = find_next("ggml_backend_alloc_ctx_tensors_from_buft",
                                     ggml_backend_alloc_ctx_tensors_from_buft);
  if (!lists_tensors) return next(context, type);
  auto* buffer = ggml_backend_buft_alloc_buffer(type, 0);
  for (auto* tensor = ggml_get_first_tensor(context); tensor != nullptr;
       tensor = ggml_get_next_tensor(context, tensor))
    tensor->buffer = buffer;
  return buffer;
}

// llama_model_loader::done_getting_tensors(bool) const compares the number of tensors with the
// file's.
extern "C" void _ZNK18llama_model_loader20done_getting_tensorsEb(const void*, bool) {}

static void set_nothing(ggml_tensor*, void*) {}
static void print_log(ggml_log_level, const char* text, void*) {
  fputs(text, stderr);
}

static ggml_type find_type(const std::string& name) {
  for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
    const char* type = ggml_type_name(static_cast<ggml_type>(i));
    if (type != nullptr && name == type) return static_cast<ggml_type>(i);
  }
  fprintf(stderr, "error: type \"%s\": expected a type of ggml\n", name.c_str());
  exit(2);
}

static void print_tensors(const llama_model* model) {
  std::set<std::string> created;
  for (const auto& [name, tensor] : llama_internal_get_tensor_map(model)) {
    if (!created.insert(name).second) continue;
    printf("tensor %s", name.c_str());
    for (const auto size : tensor->ne) printf(" %lld", static_cast<long long>(size));
    printf("\n");
  }
  for (const auto& name : absent_tensors)
    if (created.count(name) == 0) printf("absent %s\n", name.c_str());
  for (const auto& key : wanted_keys) printf("key %s\n", key.c_str());
}

static int print_context(llama_model* model, const char* setting) {
  int tokens = 0;
  int slots = 0;
  int ubatch = 0;
  int flash = 0;
  int shared = 0;
  int outputs = 0;
  char type[32];
  if (sscanf(setting, "%d,%d,%d,%31[^,],%d,%d,%d", &tokens, &slots, &ubatch, type, &flash, &shared,
             &outputs) != 7)
    return 2;
  auto parameters = llama_context_default_params();
  parameters.n_ctx = static_cast<uint32_t>(tokens * (shared != 0 ? 1 : slots));
  parameters.n_seq_max = static_cast<uint32_t>(slots);
  parameters.n_batch = static_cast<uint32_t>(ubatch > 2048 ? ubatch : 2048);
  parameters.n_ubatch = static_cast<uint32_t>(ubatch);
  parameters.type_k = parameters.type_v = find_type(type);
  parameters.flash_attn_type = static_cast<llama_flash_attn_type>(flash);
  parameters.kv_unified = shared != 0;
  parameters.swa_full = false;
  parameters.n_outputs_max = static_cast<uint32_t>(outputs);
  fprintf(stderr, "\n== %s\n", setting);
  llama_context* context = llama_init_from_model(model, parameters);
  if (context == nullptr) {
    printf("context %s refused\n", setting);
    return 0;
  }
  size_t weights = 0;
  size_t cache = 0;
  size_t working = 0;
  for (const auto& [type_of_buffer, sizes] : llama_get_memory_breakdown(context)) {
    weights += sizes.model;
    cache += sizes.context;
    working += sizes.compute;
  }
  printf("context %s %zu %zu %zu\n", setting, weights, cache, working);
  fflush(stdout);
  llama_free(context);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  lists_tensors = strcmp(argv[1], "tensors") == 0;
  if (lists_tensors) present_pattern = argv[3];
  llama_log_set(print_log, nullptr);
  ggml_backend_load_all_from_path(getenv("GGML_BACKENDS"));
  llama_backend_init();
  gguf_context* file = gguf_init_from_file(argv[2], {/*no_alloc*/ true, nullptr});
  if (file == nullptr) return 3;
  auto parameters = llama_model_default_params();
  parameters.no_alloc = !lists_tensors;
  parameters.use_extra_bufts = false;
  llama_model* model = llama_model_init_from_user(file, set_nothing, nullptr, parameters);
  if (model == nullptr) return 4;
  if (lists_tensors) {
    print_tensors(model);
    return 0;
  }
  for (int i = 3; i < argc; ++i)
    if (const int status = print_context(model, argv[i]); status != 0) return status;
  return 0;
}
