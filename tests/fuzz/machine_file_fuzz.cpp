// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/script.hpp"
#include "fuzz.hpp"

using namespace hmn::simulated;

void fuzz(std::string_view input) {
  const auto result = read_script(input, 4242);
  const auto* loaded_script = std::get_if<MachineScript>(&result);
  if (loaded_script == nullptr) return;
  const Machine& first = loaded_script->initial_machine();
  promise(&loaded_script->machine_at(0, 0) == &loaded_script->machine_at(0, 0));
  for (std::uint64_t reading = 0; reading < 4; ++reading)
    (void)loaded_script->machine_at(reading, reading * 1000);
  (void)first;
}
