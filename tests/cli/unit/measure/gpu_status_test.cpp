// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/gpu_status.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

using hypomnesis::vendor_id;

Gpu make_gpu(const char* name, vendor_id vendor) {
  Gpu gpu;
  gpu.device.name = name;
  gpu.device.vendor = vendor;
  return gpu;
}

}  // namespace

TEST_CASE("a short name omits the vendor") {
  CHECK(shorten_name(make_gpu("NVIDIA GeForce RTX 4090", vendor_id::nvidia)) == "GeForce RTX 4090");
  CHECK(shorten_name(make_gpu("AMD Radeon 780M", vendor_id::amd)) == "Radeon 780M");
  CHECK(shorten_name(make_gpu("Intel(R) Arc(TM) A770", vendor_id::intel)) == "Arc(TM) A770");
  CHECK(shorten_name(make_gpu("Intel Corporation DG2", vendor_id::intel)) == "DG2");
  CHECK(shorten_name(make_gpu("Apple M2", vendor_id::apple)) == "M2");
  CHECK(shorten_name(make_gpu("Tesla V100", vendor_id::nvidia)) == "Tesla V100");
  CHECK(shorten_name(make_gpu("NVIDIA", vendor_id::nvidia)) == "NVIDIA");
  CHECK(shorten_name(make_gpu("NVIDIAX 1", vendor_id::nvidia)) == "NVIDIAX 1");
  CHECK(shorten_name(Gpu()) == "?");
}

TEST_CASE("the short name of a partition omits its GPU's name") {
  const auto parent = make_gpu("NVIDIA A100", vendor_id::nvidia);
  CHECK(shorten_name(make_gpu("NVIDIA A100 MIG 1g.5gb", vendor_id::nvidia), &parent) ==
        "MIG 1g.5gb");
  CHECK(shorten_name(make_gpu("NVIDIA A100", vendor_id::nvidia), &parent) == "A100");
}

TEST_CASE("used memory is not derived from free memory") {
  Gpu gpu;
  CHECK_FALSE(get_used_bytes(gpu));
  gpu.memory.emplace();
  gpu.memory->total_bytes = 10;
  gpu.memory->free_bytes = 4;
  CHECK_FALSE(get_used_bytes(gpu));
  gpu.memory->used_bytes = 5;
  CHECK(get_used_bytes(gpu) == 5u);
}
