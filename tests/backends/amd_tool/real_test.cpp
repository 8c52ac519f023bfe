// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Debian's own rocm-smi where it is installed, on a machine without an AMD card.
#include <doctest/doctest.h>

#include "machine.hpp"
#include "platform/file.hpp"

using namespace hmn;
using namespace amd_test;

namespace {

constexpr const char* real_tool = "/usr/bin/rocm-smi";

bool is_usable() {
  if (!platform::is_executable_file(real_tool)) {
    MESSAGE("skipped: backends.amd_tool_real: there is no rocm-smi on this machine");
    return false;
  }
  if (platform::exists("/sys/module/amdgpu")) {
    MESSAGE("skipped: backends.amd_tool_real: this machine has the amdgpu driver");
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the real rocm-smi without a card: no device, and a reason") {
  if (!is_usable()) return;
  const auto plain = make_rocm_smi(Settings());
  const auto probed = plain->probe();
  REQUIRE_FALSE(probed);
  CHECK(probed.why().code == Status::no_source);
  CHECK(probed.why().message.view().find("no AMD GPU") != std::string::npos);

  // A tree that has a card makes it run; it looks at the real machine and prints what it misses.
  Machine m("rocm-smi");
  m.script(std::string("exec ") + real_tool + " \"$@\"");
  PlainReading r;
  const auto found = m.devices(r);
  CHECK(m.starts().size() == 1);
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::no_source);
  CHECK(found.why().message.view().find("amdgpu") != std::string::npos);
}
