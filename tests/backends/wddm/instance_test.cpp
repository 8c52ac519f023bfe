// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/instance.hpp"

#include <doctest/doctest.h>

#include "model/metric.hpp"

using namespace hmn;
using namespace hmn::pdh;

TEST_CASE("an instance of adapter memory names an adapter and its physical part") {
  const auto instance = parse_instance("luid_0x00000000_0x0000D3F5_phys_0");
  REQUIRE(instance);
  CHECK(!instance->pid);
  CHECK(instance->adapter == 0xD3F5);
  CHECK(instance->physical == 0);
  CHECK(!instance->engine);
}

TEST_CASE("an instance of process memory also names the process") {
  const auto instance = parse_instance("pid_4294967295_luid_0xFFFFFFFF_0x00000001_phys_3");
  REQUIRE(instance);
  CHECK(instance->pid == 4294967295U);
  CHECK(instance->adapter == 0xFFFFFFFF00000001);
  CHECK(instance->physical == 3);
}

TEST_CASE("an instance of an engine names its number and type") {
  const auto instance =
      parse_instance("pid_12_luid_0x00000000_0x0001a2b3_phys_0_eng_11_engtype_VideoDecode");
  REQUIRE(instance);
  CHECK(instance->pid == 12U);
  CHECK(instance->adapter == 0x1A2B3);
  CHECK(instance->engine == 11U);
  CHECK(instance->engine_kind == metric_instance::engine::decode);
}

TEST_CASE("letters of either case and a number behind equal names are accepted") {
  const auto instance =
      parse_instance("PID_7_LUID_0x00000000_0x0000d3f5_PHYS_0_ENG_0_ENGTYPE_3D#2");
  REQUIRE(instance);
  CHECK(instance->pid == 7U);
  CHECK(instance->engine_kind == metric_instance::engine::graphics);
  CHECK(parse_instance("luid_0x0_0x1_phys_0#1"));
}

TEST_CASE("an invalid instance name is rejected") {
  for (const char* bad :
       {"", "_Total", "pid_", "pid_x_luid_0x0_0x1_phys_0", "pid_-1_luid_0x0_0x1_phys_0",
        "pid_4294967296_luid_0x0_0x1_phys_0", "pid_1", "luid_0x0_phys_0", "luid_0x_0x1_phys_0",
        "luid_0x0_0x100000000_phys_0", "luid_0x0_0x1", "luid_0x0_0x1_phys_",
        "luid_0x0_0x1_phys_0_eng_0", "luid_0x0_0x1_phys_0_eng_x_engtype_3D",
        "luid_0x0_0x1_phys_0_other"}) {
    CAPTURE(bad);
    CHECK(!parse_instance(bad));
  }
}

TEST_CASE("engine types are recognized by the drivers' names for them") {
  CHECK(find_engine_kind("3D") == metric_instance::engine::graphics);
  CHECK(find_engine_kind("High Priority 3D") == metric_instance::engine::graphics);
  CHECK(find_engine_kind("Graphics_1") == metric_instance::engine::graphics);
  CHECK(find_engine_kind("Compute_0") == metric_instance::engine::compute);
  CHECK(find_engine_kind("Cuda") == metric_instance::engine::compute);
  CHECK(find_engine_kind("Copy") == metric_instance::engine::copy);
  CHECK(find_engine_kind("VideoDecode") == metric_instance::engine::decode);
  CHECK(find_engine_kind("Video Decode") == metric_instance::engine::decode);
  CHECK(find_engine_kind("VideoEncode") == metric_instance::engine::encode);
  CHECK(find_engine_kind("VideoProcessing") == metric_instance::engine::video);
  CHECK(find_engine_kind("Video Codec 0") == metric_instance::engine::video);
  CHECK(find_engine_kind("Security") == metric_instance::engine::other);
  CHECK(find_engine_kind("") == metric_instance::engine::other);
}

TEST_CASE("instance names of the predecessor's tests are parsed or rejected") {
  const auto basic = parse_instance("pid_24168_luid_0x00000000_0x00012345_phys_0");
  REQUIRE(basic);
  CHECK(basic->pid == 24168U);
  CHECK(basic->adapter == 0x12345);
  const auto segment = parse_instance("pid_4242_luid_0x00000000_0x00000abc_phys_3");
  REQUIRE(segment);
  CHECK(segment->physical == 3);
  const auto full = parse_instance("pid_1_luid_0x00000000_0xDEADBEEF_phys_0");
  REQUIRE(full);
  CHECK(full->adapter == 0xDEADBEEF);
  const auto whole = parse_instance("luid_0x00000000_0x0000F391_phys_0");
  REQUIRE(whole);
  CHECK(!whole->pid);
  CHECK(whole->adapter == 0xF391);
  for (const char* bad :
       {"pid_1_luid_0xZZZZZZZZ_0x00000001_phys_0", "pid_1_luid_0x00000000_0xZZZZZZZZ_phys_0",
        "pid_abc_luid_0x00000000_0x00000001_phys_0", "pid_1_luid_0x00000000_0x00000001",
        "pid_1_luid_0x00000000_0x00000001_phys_", "luid_0x00000000_0x0000F391"}) {
    CAPTURE(bad);
    CHECK(!parse_instance(bad));
  }
}
