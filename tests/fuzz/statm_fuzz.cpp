// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include "fuzz.hpp"

using hmn::procfs::parse_statm;

void fuzz(std::string_view input) {
  const auto m = parse_statm(input);
  if (!m) return;
  const std::string plain = std::to_string(m->size) + " " + std::to_string(m->resident) + " 0\n";
  const auto again = parse_statm(plain);
  promise(again && again->size == m->size && again->resident == m->resident);
}
