// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/diagnostics.hpp"

#include <doctest/doctest.h>
#include <hypomnesis.hpp>

using namespace hmn::cli;

namespace {

using hypomnesis::part;

hypomnesis::diagnostic about(part subject, std::uint64_t field) {
  hypomnesis::diagnostic d;
  d.subject = subject;
  d.field = field;
  d.count = 1;
  return d;
}

}  // namespace

TEST_CASE("fields have names") {
  CHECK(field_words(about(part::telemetry, HMN_TELEMETRY_HAS_ENERGY | HMN_TELEMETRY_HAS_P_STATE)) ==
        "energy, P-state");
  // The same bit is another field of another subject.
  CHECK(field_words(about(part::telemetry, 1 << 1)) == "load of the memory controller");
  CHECK(field_words(about(part::pools, 1 << 1)) == "free memory");
  CHECK(field_words(about(part::devices, 1 << 1)) == "UUID");
  hypomnesis::diagnostic d;
  d.metric = hypomnesis::metric_id::voltage;
  CHECK(field_words(d) == "voltage");
}

TEST_CASE("what is about a whole subject, or a field of another one, has no names") {
  CHECK(field_words(about(part::telemetry, HMN_TELEMETRY_HAS_WINDOW)).empty());
  auto whole = about(part::telemetry, 0);
  whole.field.reset();
  CHECK(field_words(whole).empty());
}

TEST_CASE("a line with the names of its fields") {
  auto d = about(part::pools, HMN_POOL_HAS_USED);
  d.device_index = 2;
  d.count = 3;
  d.message = "not reported by the driver";
  CHECK(describe(d) == "GPU 2: not reported by the driver (and 2 more like it)");
  CHECK(describe_with_fields(d) ==
        "GPU 2: used memory: not reported by the driver (and 2 more like it)");
  d.field.reset();
  CHECK(describe_with_fields(d) == describe(d));
}

TEST_CASE("a message without a device names its source, once") {
  hypomnesis::diagnostic d;
  d.count = 1;
  d.backend = hypomnesis::backend_id::nvidia_smi;
  d.message = "not found in its default folders";
  CHECK(describe(d) == "nvidia-smi: not found in its default folders");
  d.message = "nvidia-smi prints nothing";
  CHECK(describe(d) == "nvidia-smi prints nothing");
  d.backend = hypomnesis::backend_id::nvml;
  d.message = "NVML lists no GPU";
  CHECK(describe(d) == "NVML lists no GPU");
  d.device_index = 1;
  d.message = "gone";
  CHECK(describe(d) == "GPU 1: gone");
  CHECK(describe_process(d) == "nvml: gone");
  d.device_index.reset();
  d.backend = hypomnesis::backend_id::simulated;
  CHECK(describe(d) == "gone");
}
