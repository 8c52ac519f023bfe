// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/neutral.hpp"

#include <string>

#include "fuzz.hpp"

using hmn::simulated::Neutral;

void fuzz(std::string_view input) {
  Neutral n;
  n.know("alice", Neutral::Kind::user);
  n.know("alicebox", Neutral::Kind::host);
  n.learn(input);
  const std::string once = n.plain(input);
  promise(n.plain(input) == once);
  const std::string known = n.known(input);
  promise(n.known(input) == known);
  (void)n.program(input, "run");
  (void)n.id(input, 16);
}
