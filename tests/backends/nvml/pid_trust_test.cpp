// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/pid_trust.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_tree.hpp"
#include "platform/file.hpp"

using hmn::nvml::PidTrust;

namespace {

std::string descriptor(int number) {
  return "proc/self/fd/" + std::to_string(number);
}

constexpr int cannot = 77;

int open_node(const char* path) {
  return open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
}

// In a /dev of its own: each node is held before NVML is opened, by NVML, or after.
int try_nodes(bool is_held_before) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/dev", "tmpfs", 0, nullptr) != 0) {
    return cannot;
  }
  const int below = open_node("/dev/other");
  const int high = fcntl(below, F_DUPFD_CLOEXEC, below + 5);  // free numbers are between
  if (high < 0 || (is_held_before && dup2(open_node("/dev/nvidia0"), high + 1) < 0)) return cannot;
  PidTrust trust("/proc");
  trust.before_opening();
  // Closed again, as a library's own files are, before the last of the driver's.
  const int passing = open_node("/dev/other");
  const bool is_opened = open_node("/dev/nvidiactl") >= 0 && open_node("/dev/nvidia0") >= 0;
  close(passing);
  trust.after_opening();
  if (!is_opened || trust.holds_no_gpu() == is_held_before) return 1;
  trust.begin_reading();
  return open_node("/dev/nvidia0") >= 0 && !trust.holds_no_gpu() ? 0 : 2;
}

}  // namespace

TEST_CASE("what NVML opens is not the caller's, what the caller holds is") {
  const hmn_fake::Tree tree;
  const int lowest = hmn::platform::lowest_free_descriptor();
  REQUIRE(lowest > 2);
  tree.link(descriptor(0), "/dev/null");
  PidTrust trust(tree.proc());
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

TEST_CASE("the running system: descriptors of NVML and of the caller, with free numbers between") {
  if (geteuid() != 0) return;
  for (const bool is_held_before : {false, true}) {
    CAPTURE(is_held_before);
    const pid_t child = fork();
    if (child == 0) _exit(try_nodes(is_held_before));
    int code = -1;
    waitpid(child, &code, 0);
    REQUIRE(WIFEXITED(code));
    if (WEXITSTATUS(code) == cannot) MESSAGE("no /dev of its own can be made here");
    CHECK((WEXITSTATUS(code) == 0 || WEXITSTATUS(code) == cannot));
  }
}

TEST_CASE("what is found holds for a reading, a descriptor until it is closed") {
  const hmn_fake::Tree tree;
  tree.link(descriptor(0), "/dev/null");
  PidTrust trust(tree.proc());
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
