// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/script.hpp"
#include "fuzz.hpp"

using namespace hmn::simulated;

void fuzz(std::string_view input) {
  const auto read = read_script(input, 4242);
  const auto* s = std::get_if<Script>(&read);
  if (s == nullptr) return;
  const Machine& first = s->beginning();
  promise(&s->at(0, 0) == &s->at(0, 0));
  for (std::uint64_t reading = 0; reading < 4; ++reading) (void)s->at(reading, reading * 1000);
  (void)first;
}
