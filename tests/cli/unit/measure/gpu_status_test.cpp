// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/gpu_status.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

using hypomnesis::vendor_id;

Gpu named(const char* name, vendor_id vendor) {
  Gpu of;
  of.device.name = name;
  of.device.vendor = vendor;
  return of;
}

}  // namespace

TEST_CASE("a name is shown without its vendor's") {
  CHECK(short_name(named("NVIDIA GeForce RTX 4090", vendor_id::nvidia)) == "GeForce RTX 4090");
  CHECK(short_name(named("AMD Radeon 780M", vendor_id::amd)) == "Radeon 780M");
  CHECK(short_name(named("Intel(R) Arc(TM) A770", vendor_id::intel)) == "Arc(TM) A770");
  CHECK(short_name(named("Intel Corporation DG2", vendor_id::intel)) == "DG2");
  CHECK(short_name(named("Apple M2", vendor_id::apple)) == "M2");
  CHECK(short_name(named("Tesla V100", vendor_id::nvidia)) == "Tesla V100");
  CHECK(short_name(named("NVIDIA", vendor_id::nvidia)) == "NVIDIA");
  CHECK(short_name(named("NVIDIAX 1", vendor_id::nvidia)) == "NVIDIAX 1");
  CHECK(short_name(Gpu()) == "?");
}

TEST_CASE("a partition's name is shown without its GPU's") {
  const auto whole = named("NVIDIA A100", vendor_id::nvidia);
  CHECK(short_name(named("NVIDIA A100 MIG 1g.5gb", vendor_id::nvidia), &whole) == "MIG 1g.5gb");
  CHECK(short_name(named("NVIDIA A100", vendor_id::nvidia), &whole) == "A100");
}

TEST_CASE("used memory is not made up from what is free") {
  Gpu of;
  CHECK_FALSE(used_bytes_of(of));
  of.memory.emplace();
  of.memory->total_bytes = 10;
  of.memory->free_bytes = 4;
  CHECK_FALSE(used_bytes_of(of));
  of.memory->used_bytes = 5;
  CHECK(used_bytes_of(of) == 5u);
}
