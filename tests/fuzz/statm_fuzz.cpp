// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include "fuzz.hpp"

using hmn::procfs::parse_statm;

void fuzz(std::string_view input) {
  const auto statm = parse_statm(input);
  if (!statm) return;
  const std::string plain =
      std::to_string(statm->size) + " " + std::to_string(statm->resident) + " 0\n";
  const auto again = parse_statm(plain);
  promise(again && again->size == statm->size && again->resident == statm->resident);
}
