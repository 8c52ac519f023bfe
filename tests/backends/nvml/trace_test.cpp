// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "machine.hpp"

using namespace hmn;

namespace {

std::vector<diagnostic> traces(const plain_reading& r) {
  std::vector<diagnostic> all;
  std::copy_if(r.diagnostics.begin(), r.diagnostics.end(), std::back_inserter(all),
               [](const diagnostic& d) { return (d.notes & note::trace) != 0; });
  return all;
}

}  // namespace

TEST_CASE("each driver call of a traced reading is recorded with its time and code") {
  machine m(one_gpu(R"("temperature": 45)",
                    R"("rules": [{"call": "nvmlDeviceGetMemoryInfo_v2", "delay_ms": 20}])"));
  m.reading.trace = true;
  std::vector<device> found;
  require_ok(m.prepare());
  require_ok(m.list(found));
  pools memory;
  require_ok(m.source().memory(0, memory, m.reading));
  hmn::telemetry t;
  require_ok(m.source().telemetry(0, telemetry_field::all, t, m.reading));
  const auto all = traces(m.reading);
  CHECK(all.size() == m.driver.calls(nullptr));
  CHECK(all.front().why.message.view() == "nvmlInitWithFlags");
  bool slow = false;
  bool refused = false;
  for (const diagnostic& d : all) {
    CHECK(d.why.from == source::nvml);
    CHECK(d.why.native.domain == native_domain::nvml);
    REQUIRE(d.duration_ns.has_value());
    if (d.why.message.view() == "nvmlDeviceGetMemoryInfo_v2" && d.about == subject::pools) {
      slow = *d.duration_ns >= 20'000'000 && d.why.code == status::ok && d.device == 0;
    }
    refused = refused || (d.why.native.code == 3 && d.why.code == status::unsupported);
  }
  CHECK(slow);
  CHECK(refused);
}

TEST_CASE("nothing is recorded unless it is wanted") {
  machine m(one_gpu());
  m.devices();
  m.pool();
  CHECK(m.reading.diagnostics.empty());
}
