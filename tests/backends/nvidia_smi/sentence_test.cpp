// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::nvidia_smi;
using about = sentence::about;

namespace {

void check(const char* line, about what, status code, const char* bus_id = "") {
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
  check("No devices were found", about::nothing, status::no_device);
  check("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure…",
        about::tool, status::no_source);
  check("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", about::tool,
        status::no_source);
  check("Failed to initialize NVML: Driver/library version mismatch", about::tool, status::backend);
  check("Failed to initialize NVML: Driver Not Loaded", about::tool, status::no_source);
  check("Failed to initialize NVML: Unknown Error", about::tool, status::backend);
  check("Failed to initialize NVML: GPU access blocked by the operating system", about::tool,
        status::permission);
  check("Failed to initialize NVML: Insufficient Permissions", about::tool, status::permission);
  check("NVIDIA-SMI has failed because you do not have sufficient permissions.", about::tool,
        status::permission);
  check("ERROR: Option --foo is not recognized. Please run 'nvidia-smi -h' for help.", about::tool,
        status::unsupported);
  check("WARNING: infoROM is corrupted at gpu 0000:00:1E.0", about::warning, status::ok,
        "0000:00:1e.0");
}

TEST_CASE("a device that is meant is found in the sentence") {
  check("Unable to determine the device handle for GPU0: 0000:81:00.0: Unknown Error",
        about::device, status::backend, "0000:81:00.0");
  check(
      "Unable to determine the device handle for GPU 0000:82:00.0: GPU is lost.  Reboot the system",
      about::device, status::device_lost, "0000:82:00.0");
  check("Unable to determine the device handle for GPU1: Unknown Error", about::device,
        status::backend);
}

TEST_CASE("a refused column") {
  const auto s = parse_sentence("Field \"cuda_version\" is not a valid field to query.");
  REQUIRE(s);
  CHECK(s->what == about::field);
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
