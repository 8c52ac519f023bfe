// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/reader.hpp"

#include "fuzz.hpp"

using hmn::simulated::bytes_of;

void fuzz(std::string_view input) {
  const auto bytes = bytes_of(input);
  if (bytes) promise(bytes_of(std::to_string(*bytes) + " B") == bytes);
}
