/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fit DTYPE TOKENS: the GPUs on which Llama 3.1 8B fits, for instance "fit bf16 8192". Exit status
 * 0 if any. */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTHING_FOUND = 1, WRONG_USAGE = 2, LAYERS = 32, KV_HEADS = 8, HEAD_DIM = 128 };
static const uint64_t parameters = 8030261248;

static void print_size(const char* label, uint64_t bytes) {
  char text[32];
  hmn_format_bytes(bytes, text, sizeof text, NULL, NULL);
  printf("%s: %s\n", label, text);
}

/* Weights as stored, keys and values of each token in 16 bits, and 10 % overhead. The values are as
 * large as the keys. */
static hmn_status estimate(uint32_t dtype, uint64_t tokens, uint64_t* bytes, hmn_error* error) {
  const hmn_cache keys = {.struct_size = sizeof keys,
                          .dtype = HMN_DTYPE_F16,
                          .layers = LAYERS,
                          .kv_heads = KV_HEADS,
                          .row_dim = HEAD_DIM};
  uint64_t parts[3], sum;
  hmn_status status = hmn_estimate_tensor(&parameters, 1, dtype, &parts[0], error);
  if (status == HMN_OK) status = hmn_estimate_cache(&keys, tokens, 1, &parts[1], error);
  parts[2] = parts[1];
  if (status == HMN_OK) status = hmn_estimate_sum(parts, 3, &sum, error);
  if (status == HMN_OK) status = hmn_estimate_overhead(sum, 0, bytes, error);
  if (status != HMN_OK) return status;
  print_size("weights", parts[0]);
  print_size("cache", parts[1] + parts[2]);
  print_size("with a tenth more", *bytes);
  return HMN_OK;
}

static int fits(hmn_context* context, uint32_t index, uint64_t bytes) {
  hmn_tracker* tracker = NULL;
  hmn_status status = hmn_tracker_create(context, index, NULL, &tracker, NULL);
  if (status == HMN_OK) status = hmn_tracker_would_fit(tracker, bytes, NULL);
  hmn_tracker_destroy(tracker);
  printf("GPU %u: %s\n", index,
         status == HMN_OK        ? "fits"
         : status == HMN_E_LIMIT ? "does not fit"
                                 : "not known");
  return status == HMN_OK;
}

int main(int argc, char** argv) {
  hmn_context* context = NULL;
  hmn_context_options options = HMN_INIT(hmn_context_options);
  hmn_error error = HMN_INIT(hmn_error);
  uint32_t dtype, count = 0, fitting = 0;
  uint64_t bytes;

  options.flags = HMN_CONTEXT_ENVIRONMENT;
  if (argc != 3) {
    fputs("usage: fit DTYPE TOKENS, for instance fit bf16 8192\n", stderr);
    return WRONG_USAGE;
  }
  if (hmn_dtype_from_name(argv[1], &dtype, &error) != HMN_OK ||
      estimate(dtype, strtoull(argv[2], NULL, 10), &bytes, &error) != HMN_OK) {
    fprintf(stderr, "%s\n", error.message);
    return WRONG_USAGE;
  }
  if (hmn_context_create(&options, &context, &error) != HMN_OK ||
      hmn_device_scan(context, &count, NULL, &error) != HMN_OK)
    fprintf(stderr, "%s\n", error.message);
  for (uint32_t i = 0; i < count; ++i) fitting += (uint32_t)fits(context, i, bytes);
  hmn_context_destroy(context);
  return fitting > 0 ? 0 : NOTHING_FOUND;
}
