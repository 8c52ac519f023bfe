// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"

TEST_CASE("a traced context has every driver call in the snapshot, with duration and code") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.flags = HMN_CONTEXT_TRACE});
  const Snapshot snapshot(machine.context());
  const auto all = snapshot.diagnostics();
  const auto memory = std::find_if(all.begin(), all.end(), [](const hmn_diagnostic& diagnostic) {
    return std::string(diagnostic.message).find("nvmlDeviceGetMemoryInfo_v2") != std::string::npos;
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
  CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("without HMN_CONTEXT_TRACE no call is recorded") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  const Snapshot snapshot(machine.context());
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics())
    CHECK((diagnostic.notes & HMN_NOTE_TRACE) == 0);
}
