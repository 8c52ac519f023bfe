// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/instance.hpp"

#include <doctest/doctest.h>

#include "model/metric.hpp"

using namespace hmn;
using namespace hmn::pdh;

TEST_CASE("an instance of adapter memory names an adapter and its part") {
  const auto i = parse_instance("luid_0x00000000_0x0000D3F5_phys_0");
  REQUIRE(i);
  CHECK(!i->pid);
  CHECK(i->adapter == 0xD3F5);
  CHECK(i->physical == 0);
  CHECK(!i->engine);
}

TEST_CASE("an instance of process memory names the process too") {
  const auto i = parse_instance("pid_4294967295_luid_0xFFFFFFFF_0x00000001_phys_3");
  REQUIRE(i);
  CHECK(i->pid == 4294967295U);
  CHECK(i->adapter == 0xFFFFFFFF00000001);
  CHECK(i->physical == 3);
}

TEST_CASE("an instance of an engine names its number and type") {
  const auto i =
      parse_instance("pid_12_luid_0x00000000_0x0001a2b3_phys_0_eng_11_engtype_VideoDecode");
  REQUIRE(i);
  CHECK(i->pid == 12U);
  CHECK(i->adapter == 0x1A2B3);
  CHECK(i->engine == 11U);
  CHECK(i->engine_kind == which::engine::decode);
}

TEST_CASE("letters in either case, and a number behind alike names") {
  const auto i = parse_instance("PID_7_LUID_0x00000000_0x0000d3f5_PHYS_0_ENG_0_ENGTYPE_3D#2");
  REQUIRE(i);
  CHECK(i->pid == 7U);
  CHECK(i->engine_kind == which::engine::graphics);
  CHECK(parse_instance("luid_0x0_0x1_phys_0#1"));
}

TEST_CASE("what is no instance is none") {
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

TEST_CASE("engines by what drivers call them") {
  CHECK(kind_of_engine("3D") == which::engine::graphics);
  CHECK(kind_of_engine("High Priority 3D") == which::engine::graphics);
  CHECK(kind_of_engine("Graphics_1") == which::engine::graphics);
  CHECK(kind_of_engine("Compute_0") == which::engine::compute);
  CHECK(kind_of_engine("Cuda") == which::engine::compute);
  CHECK(kind_of_engine("Copy") == which::engine::copy);
  CHECK(kind_of_engine("VideoDecode") == which::engine::decode);
  CHECK(kind_of_engine("Video Decode") == which::engine::decode);
  CHECK(kind_of_engine("VideoEncode") == which::engine::encode);
  CHECK(kind_of_engine("VideoProcessing") == which::engine::video);
  CHECK(kind_of_engine("Video Codec 0") == which::engine::video);
  CHECK(kind_of_engine("Security") == which::engine::other);
  CHECK(kind_of_engine("") == which::engine::other);
}

TEST_CASE("names that the predecessor was given") {
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
