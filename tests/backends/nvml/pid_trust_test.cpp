// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/pid_trust.hpp"

#include <doctest/doctest.h>

#include "fake_tree.hpp"
#include "platform/file.hpp"

using hmn::nvml::pid_trust;

namespace {

std::string descriptor(int number) {
  return "proc/self/fd/" + std::to_string(number);
}

}  // namespace

TEST_CASE("what NVML opens is not the caller's, what the caller holds is") {
  const hmn_fake::tree tree;
  const int lowest = hmn::platform::lowest_free_descriptor();
  REQUIRE(lowest > 2);
  tree.link(descriptor(0), "/dev/null");
  pid_trust trust(tree.proc());
  SUBCASE("opened by NVML") {
    trust.before_opening();
    tree.link(descriptor(lowest), "/dev/nvidiactl");
    tree.link(descriptor(lowest + 1), "/dev/nvidia0");
    trust.after_opening();
    CHECK(trust.holds_no_gpu());
    trust.begin_reading();
    tree.link(descriptor(lowest + 2), "/dev/nvidia0");
    CHECK_FALSE(trust.holds_no_gpu());
  }
  SUBCASE("held before, also beside a free number") {
    tree.link(descriptor(lowest + 1), "/dev/nvidiactl");
    trust.before_opening();
    tree.link(descriptor(lowest), "/dev/nvidiactl");
    trust.after_opening();
    CHECK_FALSE(trust.holds_no_gpu());
  }
  SUBCASE("no node that NVML opens") {
    trust.before_opening();
    tree.link(descriptor(lowest), "/dev/nvidia-uvm");
    trust.after_opening();
    CHECK_FALSE(trust.holds_no_gpu());
  }
  SUBCASE("still NVML's after it was opened again") {
    trust.before_opening();
    tree.link(descriptor(lowest), "/dev/nvidiactl");
    trust.after_opening();
    trust.before_opening();
    tree.link(descriptor(lowest + 1), "/dev/nvidiactl");
    trust.after_opening();
    CHECK(trust.holds_no_gpu());
  }
}

TEST_CASE("what is found holds for a reading, a descriptor until it is closed") {
  const hmn_fake::tree tree;
  tree.link(descriptor(0), "/dev/null");
  pid_trust trust(tree.proc());
  trust.begin_reading();
  CHECK(trust.holds_no_gpu());
  tree.link(descriptor(9), "/dev/nvidia-uvm");
  CHECK(trust.holds_no_gpu());
  trust.begin_reading();
  CHECK_FALSE(trust.holds_no_gpu());
  tree.link(descriptor(9), "/dev/null");
  CHECK_FALSE(trust.holds_no_gpu());
  trust.begin_reading();
  CHECK(trust.holds_no_gpu());
  // Closed and used again by another node of a GPU: still the caller's.
  tree.link(descriptor(9), "/dev/nvidia0");
  trust.begin_reading();
  CHECK_FALSE(trust.holds_no_gpu());
  tree.link(descriptor(9), "/dev/dri/renderD128");
  trust.begin_reading();
  CHECK_FALSE(trust.holds_no_gpu());
}
