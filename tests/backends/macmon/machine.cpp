// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <fstream>

namespace macmon_test {

void Machine::print(std::string_view text) const {
  tree_.write("tool/macmon.out", text);
  script("exec cat \"$0.out\"");
}

void Machine::script(const std::string& body) const {
  tree_.script("tool/macmon", "echo \"$*\" >>\"$0.log\"\n" + body);
}

std::vector<std::string> Machine::starts() const {
  std::vector<std::string> all;
  std::ifstream log(path() + ".log");
  for (std::string line; std::getline(log, line);) all.push_back(line);
  return all;
}

hmn::Result<std::vector<hmn::Device>> Machine::devices(PlainReading& reading) {
  if (const auto ready = source_.prepare(reading); !ready) return ready.failure();
  std::vector<hmn::Device> all;
  if (const auto result = source_.devices(all, reading); !result) return result.failure();
  return all;
}

}  // namespace macmon_test
