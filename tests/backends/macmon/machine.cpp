// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <fstream>

#include "platform/clock.hpp"

namespace macmon_test {

plain_reading::plain_reading(std::uint64_t deadline_ms)
    : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms) {}

const hmn::diagnostic* plain_reading::find(std::string_view words) const {
  for (const hmn::diagnostic& d : remarks) {
    if (d.why.message.view().find(words) != std::string::npos) return &d;
  }
  return nullptr;
}

void machine::print(std::string_view text) const {
  tree_.write("tool/macmon.out", text);
  script("exec cat \"$0.out\"");
}

void machine::script(const std::string& body) const {
  tree_.write("tool/macmon", "#!/bin/sh\necho \"$*\" >>\"$0.log\"\n" + body + "\n");
  tree_.mode("tool/macmon", 0755);
}

std::vector<std::string> machine::starts() const {
  std::vector<std::string> all;
  std::ifstream log(path() + ".log");
  for (std::string line; std::getline(log, line);) all.push_back(line);
  return all;
}

hmn::result<std::vector<hmn::device>> machine::devices(plain_reading& r) {
  if (const auto ready = source_.prepare(r); !ready) return ready.why();
  std::vector<hmn::device> found;
  if (const auto listed = source_.devices(found, r); !listed) return listed.why();
  return found;
}

}  // namespace macmon_test
