// SPDX-License-Identifier: MIT OR Apache-2.0
// fit DTYPE TOKENS: the GPUs on which Llama 3.1 8B fits, for instance "fit bf16 8192". Exit status
// 0 if any.
#include <hypomnesis.hpp>
#include <iostream>

namespace {

enum exit_status { success = 0, nothing_found = 1, wrong_usage = 2 };

constexpr std::uint64_t parameters = 8030261248;

void print_size(const char* label, std::uint64_t bytes) {
  std::cout << label << ": " << hypomnesis::format_bytes(bytes) << '\n';
}

// Weights as stored, keys and values of each token in 16 bits, and 10 % overhead. The values are as
// large as the keys.
std::uint64_t estimate(hypomnesis::dtype_id dtype, std::uint64_t tokens) {
  hypomnesis::cache keys;
  keys.dtype = hypomnesis::dtype_id::f16;
  keys.layers = 32;
  keys.kv_heads = 8;
  keys.row_dim = 128;
  const std::uint64_t weights = hypomnesis::estimate_tensor({parameters}, dtype);
  const std::uint64_t keys_bytes = hypomnesis::estimate_cache(keys, tokens);
  const std::uint64_t cache = hypomnesis::estimate_sum({keys_bytes, keys_bytes});
  const auto bytes = hypomnesis::estimate_overhead(hypomnesis::estimate_sum({weights, cache}));
  print_size("weights", weights);
  print_size("cache", cache);
  print_size("with a tenth more", bytes);
  return bytes;
}

bool fits(const hypomnesis::context& context, std::uint32_t index, std::uint64_t bytes) {
  std::cout << "GPU " << index << ": ";
  try {
    const bool answer = context.track(index).would_fit(bytes);
    std::cout << (answer ? "fits" : "does not fit") << '\n';
    return answer;
  } catch (const hypomnesis::error&) {
    std::cout << "not known\n";
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: fit DTYPE TOKENS, for instance fit bf16 8192\n";
    return wrong_usage;
  }
  const std::uint64_t bytes = estimate(hypomnesis::dtype_from_name(argv[1]), std::stoull(argv[2]));
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::environment;
  const hypomnesis::context context(options);
  bool any = false;
  const std::uint32_t count = context.scan().count;
  for (std::uint32_t i = 0; i < count; ++i) any |= fits(context, i, bytes);
  return any ? success : nothing_found;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return wrong_usage;
}
