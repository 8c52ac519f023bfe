// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/diagnostics.hpp"

#include <doctest/doctest.h>
#include <hypomnesis.hpp>

using namespace hmn::cli;

namespace {

using hypomnesis::part;

hypomnesis::diagnostic make_diagnostic(part subject, std::uint64_t field) {
  hypomnesis::diagnostic diagnostic;
  diagnostic.subject = subject;
  diagnostic.field = field;
  diagnostic.count = 1;
  return diagnostic;
}

}  // namespace

TEST_CASE("a field bit is named according to its subject") {
  CHECK(format_fields(make_diagnostic(part::telemetry,
                                      HMN_TELEMETRY_HAS_ENERGY | HMN_TELEMETRY_HAS_P_STATE)) ==
        "energy, P-state");
  // The same bit is another field of another subject.
  CHECK(format_fields(make_diagnostic(part::telemetry, 1 << 1)) == "load of the memory controller");
  CHECK(format_fields(make_diagnostic(part::pools, 1 << 1)) == "free memory");
  CHECK(format_fields(make_diagnostic(part::devices, 1 << 1)) == "UUID");
  hypomnesis::diagnostic diagnostic;
  diagnostic.metric = hypomnesis::metric_id::voltage;
  CHECK(format_fields(diagnostic) == "voltage");
}

TEST_CASE("a diagnostic about a whole subject or a window has no field names") {
  CHECK(format_fields(make_diagnostic(part::telemetry, HMN_TELEMETRY_HAS_WINDOW)).empty());
  auto whole = make_diagnostic(part::telemetry, 0);
  whole.field.reset();
  CHECK(format_fields(whole).empty());
}

TEST_CASE("a description can include the names of its fields") {
  auto diagnostic = make_diagnostic(part::pools, HMN_POOL_HAS_USED);
  diagnostic.device_index = 2;
  diagnostic.count = 3;
  diagnostic.message = "not reported by the driver";
  CHECK(describe(diagnostic) == "GPU 2: not reported by the driver (and 2 more like it)");
  CHECK(describe_with_fields(diagnostic) ==
        "GPU 2: used memory: not reported by the driver (and 2 more like it)");
  diagnostic.field.reset();
  CHECK(describe_with_fields(diagnostic) == describe(diagnostic));
}

TEST_CASE("a message without a device names its source once") {
  hypomnesis::diagnostic diagnostic;
  diagnostic.count = 1;
  diagnostic.backend = hypomnesis::backend_id::nvidia_smi;
  diagnostic.message = "not found in its default folders";
  CHECK(describe(diagnostic) == "nvidia-smi: not found in its default folders");
  diagnostic.message = "nvidia-smi prints nothing";
  CHECK(describe(diagnostic) == "nvidia-smi prints nothing");
  diagnostic.backend = hypomnesis::backend_id::nvml;
  diagnostic.message = "NVML lists no GPU";
  CHECK(describe(diagnostic) == "NVML lists no GPU");
  diagnostic.device_index = 1;
  diagnostic.message = "gone";
  CHECK(describe(diagnostic) == "GPU 1: gone");
  CHECK(describe_without_device(diagnostic) == "nvml: gone");
  diagnostic.device_index.reset();
  diagnostic.backend = hypomnesis::backend_id::simulated;
  CHECK(describe(diagnostic) == "gone");
}
