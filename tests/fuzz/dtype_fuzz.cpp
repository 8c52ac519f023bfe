// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/dtype.hpp"

#include <string>

#include "fuzz.hpp"

using namespace hmn;

void fuzz(std::string_view input) {
  const std::uint32_t dtype = find_dtype(input);
  if (dtype == 0) return;
  promise(dtype_bits(dtype) != 0);
  promise(find_dtype(dtype_name(dtype)) == dtype);
  // Underscores do not count, and the longest spelling is one of torch's.
  promise(find_dtype(std::string(input) + "_") == dtype);
  std::string bare;
  for (const char c : input) {
    if (c != '_') bare += c;
  }
  promise(bare.size() <= std::string_view("torch.float8e4m3fnuz").size());
}
