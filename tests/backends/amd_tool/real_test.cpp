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

TEST_CASE("the real rocm-smi without a card reports no device, and a reason") {
  if (!is_usable()) return;
  const auto plain = make_rocm_smi(Settings());
  const auto result = plain->probe();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
  CHECK(result.failure().message.view().find("no AMD GPU") != std::string::npos);

  // A tree with a card makes the tool run; it inspects the real machine and prints what is missing.
  Machine machine("rocm-smi");
  machine.script(std::string("exec ") + real_tool + " \"$@\"");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  CHECK(machine.starts().size() == 1);
  REQUIRE_FALSE(devices);
  CHECK(devices.failure().code == Status::no_source);
  CHECK(devices.failure().message.view().find("amdgpu") != std::string::npos);
}
