// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/stall.hpp"

#include "fuzz.hpp"

using hmn::os::parse_stall;

void fuzz(std::string_view input) {
  const auto share = parse_stall(input);
  if (!share) return;
  promise(*share >= 0 && *share <= 100);
  // Only that line counts.
  const std::string line(input.substr(0, input.find('\n')));
  promise(parse_stall(line + "\nfull avg10=0.00\n") == share);
}
