// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A Mac of fakes: kernel and frameworks.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "backends/metal/source.hpp"
#include "fake_frameworks.hpp"
#include "fake_kernel.hpp"
#include "platform/clock.hpp"

namespace metal_test {

class plain_reading final : public hmn::reading {
 public:
  explicit plain_reading(std::uint64_t deadline_ms = 60'000)
      : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms) {}
  std::uint64_t deadline_ns() const noexcept override { return deadline_; }
  bool wants_trace() const noexcept override { return false; }
  void remark(hmn::diagnostic d) override { remarks.push_back(std::move(d)); }
  void opening() noexcept override { ++openings; }
  void opened() noexcept override { --openings; }

  // The first remark that has these words.
  [[nodiscard]] const hmn::diagnostic* find(std::string_view words) const {
    for (const hmn::diagnostic& d : remarks) {
      if (d.why.message.view().find(words) != std::string_view::npos) return &d;
    }
    return nullptr;
  }

  std::vector<hmn::diagnostic> remarks;
  int openings = 0;

 private:
  std::uint64_t deadline_;
};

// An M2 Pro with one GPU. At its end nothing may be held of the system.
struct machine {
  machine() {
    hardware.gpus.resize(1);
    hardware.gpus[0].statistics = {{"Device Utilization %", 37},
                                   {"Renderer Utilization %", 30},
                                   {"Tiler Utilization %", 12},
                                   {"In use system memory", 900 << 20},
                                   {"Alloc system memory", std::int64_t{3} << 30}};
    hardware.devices = {{hardware.gpus[0].id, std::uint64_t{12} << 30}};
    system.set("kern.osproductversion", "14.5");
  }
  ~machine() {
    source.close();
    CHECK(hmn_fake::apple::live() == 0);
  }

  // prepare() and devices() of a new reading.
  hmn::result<std::vector<hmn::device>> devices(plain_reading& r) {
    if (const auto ready = source.prepare(r); !ready) return ready.why();
    std::vector<hmn::device> found;
    if (const auto listed = source.devices(found, r); !listed) return listed.why();
    return found;
  }

  hmn_fake::mac system;
  hmn_fake::apple hardware;
  hmn::metal::metal_source source{hmn_fake::mac::calls(), hmn_fake::apple::load};
};

}  // namespace metal_test
