// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/identity.hpp"

#include <doctest/doctest.h>

using namespace hmn::nvml;

TEST_CASE("the kernel driver's page on a GPU yields its model and UUID") {
  const auto information = parse_information(
      "Model: \t\t NVIDIA GeForce RTX 3080 Laptop GPU\n"
      "IRQ:   \t\t 133\n"
      "GPU UUID: \t GPU-8a1b2c3d-0000-1111-2222-333344445555\n"
      "Video BIOS: \t 94.04.42.00.a2\n"
      "Device Minor: \t 0\n");
  CHECK(information.model == "NVIDIA GeForce RTX 3080 Laptop GPU");
  CHECK(information.uuid == "GPU-8a1b2c3d-0000-1111-2222-333344445555");
}

TEST_CASE("a GPU that was never initialised has no UUID yet") {
  const auto information = parse_information(
      "Model: \t\t Unknown\n"
      "GPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?\n");
  CHECK(information.model.empty());
  CHECK(information.uuid.empty());
}

TEST_CASE("text that is not the driver's page yields nothing") {
  for (const char* text : {"", "\n", ":", "Model", "Model:", "Model: \t \n", "GPU UUID: none"}) {
    const auto information = parse_information(text);
    CHECK_MESSAGE(information.model.empty(), text);
    CHECK_MESSAGE(information.uuid.empty(), text);
  }
}

TEST_CASE("the driver version is parsed for the closed and the open kernel module") {
  CHECK(parse_driver_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Fri Apr "
                             "11 19:06:08 UTC 2025\nGCC version:  gcc version 12.2.0\n") ==
        "550.163.01");
  CHECK(parse_driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.82.07  "
                             "Release Build\n") == "580.82.07");
  CHECK(parse_driver_version("GCC version: gcc 12.2.0\n").empty());
  CHECK(parse_driver_version("NVRM version: unknown .5 5. 550\n").empty());
  CHECK(parse_driver_version("").empty());
}
