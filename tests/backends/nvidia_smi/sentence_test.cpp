// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::nvidia_smi;
using About = Sentence::About;

namespace {

void check(const char* line, About what, Status code, const char* bus_id = "") {
  CAPTURE(line);
  const auto s = parse_sentence(line);
  REQUIRE(s);
  CHECK(s->what == what);
  CHECK(s->code == code);
  CHECK(s->bus_id.view() == bus_id);
  CHECK(s->advice[0] != '\0');
}

}  // namespace

TEST_CASE("the tool's own words") {
  check("No devices were found", About::nothing, Status::no_device);
  check("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure…",
        About::tool, Status::no_source);
  check("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", About::tool,
        Status::no_source);
  check("Failed to initialize NVML: Driver/library version mismatch", About::tool, Status::backend);
  check("Failed to initialize NVML: Driver Not Loaded", About::tool, Status::no_source);
  check("Failed to initialize NVML: Unknown Error", About::tool, Status::backend);
  check("Failed to initialize NVML: GPU access blocked by the operating system", About::tool,
        Status::permission);
  check("Failed to initialize NVML: Insufficient Permissions", About::tool, Status::permission);
  check("NVIDIA-SMI has failed because you do not have sufficient permissions.", About::tool,
        Status::permission);
  check("ERROR: Option --foo is not recognized. Please run 'nvidia-smi -h' for help.", About::tool,
        Status::unsupported);
  check("WARNING: infoROM is corrupted at gpu 0000:00:1E.0", About::warning, Status::ok,
        "0000:00:1e.0");
}

TEST_CASE("a device that is meant is found in the sentence") {
  check("Unable to determine the device handle for GPU0: 0000:81:00.0: Unknown Error",
        About::device, Status::backend, "0000:81:00.0");
  check(
      "Unable to determine the device handle for GPU 0000:82:00.0: GPU is lost.  Reboot the system",
      About::device, Status::device_lost, "0000:82:00.0");
  check("Unable to determine the device handle for GPU1: Unknown Error", About::device,
        Status::backend);
}

TEST_CASE("a refused column") {
  const auto s = parse_sentence("Field \"cuda_version\" is not a valid field to query.");
  REQUIRE(s);
  CHECK(s->what == About::field);
  CHECK(s->field == "cuda_version");
  CHECK_FALSE(parse_sentence("Field \"x"));
  CHECK_FALSE(parse_sentence("Field \"x\" is nice"));
  CHECK_FALSE(parse_sentence("Field \"x is not a valid field to query."));
}

TEST_CASE("other text is no sentence of the tool") {
  CHECK_FALSE(parse_sentence(""));
  CHECK_FALSE(parse_sentence("hello"));
  CHECK_FALSE(parse_sentence("0, NVIDIA A10, 45"));
}
