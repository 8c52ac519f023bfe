// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/dtype.hpp"

#include <string>

#include "fuzz.hpp"

using namespace hmn;

void fuzz(std::string_view input) {
  const std::uint32_t found = dtype_called(input);
  if (found == 0) return;
  promise(bits_of_dtype(found) != 0);
  promise(dtype_called(name_of_dtype(found)) == found);
  // Underscores do not count, and the longest spelling is one of torch's.
  promise(dtype_called(std::string(input) + "_") == found);
  std::string bare;
  for (const char c : input) {
    if (c != '_') bare += c;
  }
  promise(bare.size() <= std::string_view("torch.float8e4m3fnuz").size());
}
