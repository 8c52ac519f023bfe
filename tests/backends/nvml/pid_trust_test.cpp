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

std::string descriptor_path(int number) {
  return "proc/self/fd/" + std::to_string(number);
}

constexpr int exit_skipped = 77;

int open_node(const char* path) {
  return open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
}

// In its own /dev: nodes are opened before NVML, by NVML, or after it.
int try_nodes(bool is_held_before) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", "/dev", "tmpfs", 0, nullptr) != 0) {
    return exit_skipped;
  }
  const int lower = open_node("/dev/other");
  const int high = fcntl(lower, F_DUPFD_CLOEXEC, lower + 5);  // free numbers are between
  if (high < 0 || (is_held_before && dup2(open_node("/dev/nvidia0"), high + 1) < 0))
    return exit_skipped;
  PidTrust trust("/proc");
  trust.begin_opening();
  // Closed again, as a library's own files are, before the last of the driver's.
  const int transient = open_node("/dev/other");
  const bool is_opened = open_node("/dev/nvidiactl") >= 0 && open_node("/dev/nvidia0") >= 0;
  close(transient);
  trust.end_opening();
  if (!is_opened || trust.holds_no_gpu() == is_held_before) return 1;
  trust.begin_reading();
  return open_node("/dev/nvidia0") >= 0 && !trust.holds_no_gpu() ? 0 : 2;
}

}  // namespace

TEST_CASE("descriptors opened by NVML are not the caller's, and others are") {
  const hmn_fake::Tree tree;
  const int lowest = hmn::platform::lowest_free_descriptor();
  REQUIRE(lowest > 2);
  tree.link(descriptor_path(0), "/dev/null");
  PidTrust trust(tree.proc());
  SUBCASE("opened by NVML") {
    trust.begin_opening();
    tree.link(descriptor_path(lowest), "/dev/nvidiactl");
    tree.link(descriptor_path(lowest + 1), "/dev/nvidia0");
    trust.end_opening();
    CHECK(trust.holds_no_gpu());
    trust.begin_reading();
    tree.link(descriptor_path(lowest + 2), "/dev/nvidia0");
    CHECK_FALSE(trust.holds_no_gpu());
  }
  SUBCASE("held before, next to a free descriptor number") {
    tree.link(descriptor_path(lowest + 1), "/dev/nvidiactl");
    trust.begin_opening();
    tree.link(descriptor_path(lowest), "/dev/nvidiactl");
    trust.end_opening();
    CHECK_FALSE(trust.holds_no_gpu());
  }
  SUBCASE("node that NVML does not open") {
    trust.begin_opening();
    tree.link(descriptor_path(lowest), "/dev/nvidia-uvm");
    trust.end_opening();
    CHECK_FALSE(trust.holds_no_gpu());
  }
  SUBCASE("reopened by NVML") {
    trust.begin_opening();
    tree.link(descriptor_path(lowest), "/dev/nvidiactl");
    trust.end_opening();
    trust.begin_opening();
    tree.link(descriptor_path(lowest + 1), "/dev/nvidiactl");
    trust.end_opening();
    CHECK(trust.holds_no_gpu());
  }
}

TEST_CASE("running system: descriptors of NVML and of the caller are distinguished") {
  if (geteuid() != 0) return;
  for (const bool is_held_before : {false, true}) {
    CAPTURE(is_held_before);
    const pid_t child = fork();
    if (child == 0) _exit(try_nodes(is_held_before));
    int code = -1;
    waitpid(child, &code, 0);
    REQUIRE(WIFEXITED(code));
    if (WEXITSTATUS(code) == exit_skipped) MESSAGE("no /dev of its own can be made here");
    CHECK((WEXITSTATUS(code) == 0 || WEXITSTATUS(code) == exit_skipped));
  }
}

TEST_CASE("descriptors are checked once per reading, and again at the next") {
  const hmn_fake::Tree tree;
  tree.link(descriptor_path(0), "/dev/null");
  PidTrust trust(tree.proc());
  trust.begin_reading();
  CHECK(trust.holds_no_gpu());
  tree.link(descriptor_path(9), "/dev/nvidia-uvm");
  CHECK(trust.holds_no_gpu());
  trust.begin_reading();
  CHECK_FALSE(trust.holds_no_gpu());
  tree.link(descriptor_path(9), "/dev/null");
  CHECK_FALSE(trust.holds_no_gpu());
  trust.begin_reading();
  CHECK(trust.holds_no_gpu());
  // Reused for another GPU node: still the caller's.
  tree.link(descriptor_path(9), "/dev/nvidia0");
  trust.begin_reading();
  CHECK_FALSE(trust.holds_no_gpu());
  tree.link(descriptor_path(9), "/dev/dri/renderD128");
  trust.begin_reading();
  CHECK_FALSE(trust.holds_no_gpu());
}
