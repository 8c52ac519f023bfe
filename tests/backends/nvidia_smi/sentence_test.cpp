// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::nvidia_smi;
using MessageSubject = Sentence::Subject;

namespace {

void check(const char* line, MessageSubject subject, Status code, const char* bus_id = "") {
  CAPTURE(line);
  const auto message = parse_sentence(line);
  REQUIRE(message);
  CHECK(message->subject == subject);
  CHECK(message->code == code);
  CHECK(message->bus_id.view() == bus_id);
  CHECK(message->advice[0] != '\0');
}

}  // namespace

TEST_CASE("the tool's messages are recognized") {
  check("No devices were found", MessageSubject::nothing, Status::no_device);
  check("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure…",
        MessageSubject::tool, Status::no_source);
  check("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", MessageSubject::tool,
        Status::no_source);
  check("Failed to initialize NVML: Driver/library version mismatch", MessageSubject::tool,
        Status::backend);
  check("Failed to initialize NVML: Driver Not Loaded", MessageSubject::tool, Status::no_source);
  check("Failed to initialize NVML: Unknown Error", MessageSubject::tool, Status::backend);
  check("Failed to initialize NVML: GPU access blocked by the operating system",
        MessageSubject::tool, Status::permission);
  check("Failed to initialize NVML: Insufficient Permissions", MessageSubject::tool,
        Status::permission);
  check("NVIDIA-SMI has failed because you do not have sufficient permissions.",
        MessageSubject::tool, Status::permission);
  check("ERROR: Option --foo is not recognized. Please run 'nvidia-smi -h' for help.",
        MessageSubject::tool, Status::unsupported);
  check("WARNING: infoROM is corrupted at gpu 0000:00:1E.0", MessageSubject::warning, Status::ok,
        "0000:00:1e.0");
}

TEST_CASE("the device that a message refers to is found") {
  check("Unable to determine the device handle for GPU0: 0000:81:00.0: Unknown Error",
        MessageSubject::device, Status::backend, "0000:81:00.0");
  check(
      "Unable to determine the device handle for GPU 0000:82:00.0: GPU is lost.  Reboot the system",
      MessageSubject::device, Status::device_lost, "0000:82:00.0");
  check("Unable to determine the device handle for GPU1: Unknown Error", MessageSubject::device,
        Status::backend);
}

TEST_CASE("the message about a refused column names the column") {
  const auto message = parse_sentence("Field \"cuda_version\" is not a valid field to query.");
  REQUIRE(message);
  CHECK(message->subject == MessageSubject::field);
  CHECK(message->field == "cuda_version");
  CHECK_FALSE(parse_sentence("Field \"x"));
  CHECK_FALSE(parse_sentence("Field \"x\" is nice"));
  CHECK_FALSE(parse_sentence("Field \"x is not a valid field to query."));
}

TEST_CASE("other text is not a message of the tool") {
  CHECK_FALSE(parse_sentence(""));
  CHECK_FALSE(parse_sentence("hello"));
  CHECK_FALSE(parse_sentence("0, NVIDIA A10, 45"));
}
