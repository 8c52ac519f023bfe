// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"

TEST_CASE("a traced context has each driver call, its duration and code, in the snapshot") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.flags = HMN_CONTEXT_TRACE});
  const TakenSnapshot p(m.context());
  const auto all = p.diagnostics();
  const auto memory = std::find_if(all.begin(), all.end(), [](const hmn_diagnostic& d) {
    return std::string(d.message).find("nvmlDeviceGetMemoryInfo_v2") != std::string::npos;
  });
  REQUIRE(memory != all.end());
  CHECK(std::string(memory->message) ==
        "nvmlDeviceGetMemoryInfo_v2: ok, total=48318382080, reserved=629145600, "
        "free=37580963840, used=10108272640");
  CHECK((memory->notes & HMN_NOTE_TRACE) != 0);
  CHECK((memory->present & HMN_DIAGNOSTIC_HAS_DURATION) != 0);
  CHECK(memory->native_domain == HMN_NATIVE_NVML);
  CHECK(memory->native_code == 0);
  CHECK(memory->backend == HMN_BACKEND_NVML);
  CHECK((p.info().notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("without the flag no call is recorded") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
  const TakenSnapshot p(m.context());
  for (const hmn_diagnostic& d : p.diagnostics()) CHECK((d.notes & HMN_NOTE_TRACE) == 0);
}
