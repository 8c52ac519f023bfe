// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/reader.hpp"

#include "fuzz.hpp"

using hmn::simulated::parse_bytes;

void fuzz(std::string_view input) {
  const auto bytes = parse_bytes(input);
  if (bytes) promise(parse_bytes(std::to_string(*bytes) + " B") == bytes);
}
