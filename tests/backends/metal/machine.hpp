// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A Mac of fakes: kernel and frameworks.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "backends/metal/metal_source.hpp"
#include "fake_frameworks.hpp"
#include "fake_kernel.hpp"
#include "plain_reading.hpp"

namespace metal_test {

using hmn_fake::PlainReading;

// An M2 Pro with one GPU. Its destructor checks that every system object was released.
struct Machine {
  Machine() {
    hardware.gpus.resize(1);
    hardware.gpus[0].statistics = {{"Device Utilization %", 37},
                                   {"Renderer Utilization %", 30},
                                   {"Tiler Utilization %", 12},
                                   {"In use system memory", 900 << 20},
                                   {"Alloc system memory", std::int64_t{3} << 30}};
    hardware.devices = {{hardware.gpus[0].id, std::uint64_t{12} << 30}};
    system.set("kern.osproductversion", "14.5");
  }
  ~Machine() {
    source.close();
    CHECK(hmn_fake::Apple::count_references() == 0);
  }

  // prepare() and devices() of a new reading.
  hmn::Result<std::vector<hmn::Device>> devices(PlainReading& reading) {
    if (const auto ready = source.prepare(reading); !ready) return ready.failure();
    std::vector<hmn::Device> all;
    if (const auto result = source.devices(all, reading); !result) return result.failure();
    return all;
  }

  hmn_fake::Mac system;
  hmn_fake::Apple hardware;
  hmn::metal::MetalSource source{hmn_fake::Mac::calls(), hmn_fake::Apple::load};
};

}  // namespace metal_test
