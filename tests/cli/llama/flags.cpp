// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints what llama.cpp's own parser makes of the arguments of llama-server.
#include <cstdio>

#include "arg.h"
#include "common.h"

int main(int argc, char** argv) {
  common_params params;
  if (!common_params_parse(argc, argv, params, LLAMA_EXAMPLE_SERVER)) return 1;
  int expert_layers = 0;
  for (const auto& tensors : params.tensor_buft_overrides)
    if (tensors.pattern != nullptr) ++expert_layers;
  std::printf(
      R"({"context":%d,"slots":%d,"ubatch":%d,"layers":%d,"expert_layers":%d,"devices":%d,)",
      params.n_ctx, params.n_parallel, params.n_ubatch, params.n_gpu_layers, expert_layers,
      static_cast<int>(params.devices.size()));
  std::printf(R"("key_type":"%s","value_type":"%s","flash_attention":%d,"split":[%g,%g]})",
              ggml_type_name(params.cache_type_k), ggml_type_name(params.cache_type_v),
              static_cast<int>(params.flash_attn_type), params.tensor_split[0],
              params.tensor_split[1]);
}
