// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every recorded file of a process or control group yields the values of its index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "backends/os/linux/group_limits.hpp"
#include "fake_tree.hpp"
#include "model/scan.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/process.hpp"
#include "procfs/workload.hpp"

using namespace hmn::procfs;
using recorded::Entry;

namespace {

void check_amount(const Amount& amount, const Entry& entry, const char* key) {
  CAPTURE(key);
  if (entry.has(key)) {
    CHECK(amount.value() == entry.number(key));
  } else {
    CHECK_FALSE(amount.value());
  }
}

int check_all(const char* key, void (*check)(const Entry&)) {
  int count = 0;
  for (const Entry& entry : recorded::find_all("proc-pid/")) {
    if (!entry.expected.contains(key)) continue;
    CAPTURE(entry.file);
    check(entry);
    ++count;
  }
  return count;
}

void check_stat(const Entry& entry) {
  const std::string text = entry.text();
  const auto stat = parse_stat(text);
  REQUIRE(stat);
  CHECK(stat->pid == entry.number("pid"));
  CHECK(stat->comm == entry.expected.at("comm").get<std::string>());
  CHECK(std::string(1, stat->state) == entry.expected.at("state").get<std::string>());
  CHECK(stat->num_threads == entry.number("num_threads"));
  CHECK(stat->starttime == entry.number("starttime_ticks"));
  CHECK(stat->vsize == entry.number("vsize_bytes"));
  CHECK(stat->rss == entry.number("rss_pages"));
}

void check_status(const Entry& entry) {
  const StatusMemory memory = parse_status(entry.text());
  check_amount(memory.vm_rss, entry, "VmRSS_bytes");
  check_amount(memory.vm_hwm, entry, "VmHWM_bytes");
  check_amount(memory.vm_size, entry, "VmSize_bytes");
  check_amount(memory.vm_swap, entry, "VmSwap_bytes");
}

void check_statm(const Entry& entry) {
  const auto statm = parse_statm(entry.text());
  REQUIRE(statm);
  CHECK(statm->size == entry.number("size_pages"));
  CHECK(statm->resident == entry.number("resident_pages"));
  CHECK(statm->resident * 4096 == entry.number("rss_bytes_at_4k_pages"));
}

void check_smaps(const Entry& entry) {
  const SmapsRollup rollup = parse_smaps_rollup(entry.text());
  check_amount(rollup.pss, entry, "Pss_bytes");
  check_amount(rollup.unique(), entry, "uss_bytes");
}

std::string read_file(const Entry& tree, const char* name) {
  std::ifstream file(tree.path() + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("recorded /proc/<pid>/stat files yield the values of their index") {
  CHECK(check_all("starttime_ticks", check_stat) == 12);
}
TEST_CASE("recorded /proc/<pid>/status files yield the values of their index") {
  CHECK(check_all("VmPeak_bytes", check_status) == 8);
}
TEST_CASE("recorded /proc/<pid>/statm files yield the values of their index") {
  CHECK(check_all("size_pages", check_statm) == 2);
}
TEST_CASE("recorded smaps_rollup files yield the values of their index") {
  CHECK(check_all("Pss_bytes", check_smaps) == 2);
}

TEST_CASE("a recorded kernel thread is recognized, and a recorded program is not one") {
  const std::string kthread =
      recorded::find_one("proc-pid/node_exporter-10-stat-kthread.txt").text();
  CHECK(parse_stat(kthread)->is_kernel_thread());
  const std::string vim = recorded::find_one("proc-pid/procfs-26231-stat.txt").text();
  CHECK_FALSE(parse_stat(vim)->is_kernel_thread());
}

TEST_CASE("recorded control groups yield the limit and use of their index") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("cgroup/")) {
    if (!entry.expected.contains("usage_bytes")) continue;
    CAPTURE(entry.file);
    ++count;
    const bool is_v1 = entry.number("version") == 1;
    const char* const usage = is_v1 ? "memory.usage_in_bytes" : "memory.current";
    CHECK(parse_cgroup_usage(read_file(entry, usage)) == entry.number("usage_bytes"));
    const hmn_fake::Tree tree;
    tree.write("proc/self/cgroup", is_v1 ? "4:memory:/\n" : "0::/\n");
    const auto limit = hmn::os::GroupLimits(tree.proc(), entry.path()).read();
    CHECK(limit.bytes.has_value() == entry.has("limit_bytes"));
    CHECK_FALSE(limit.is_partial);
    if (!is_v1) continue;
    const auto hierarchical_limit =
        parse_cgroup_hierarchical_limit(read_file(entry, "memory.stat"));
    CHECK((hierarchical_limit.state == CgroupLimit::State::limited) ==
          entry.has("hierarchical_limit_bytes"));
  }
  CHECK(count == 5);
}

TEST_CASE("recorded memberships yield the path of their index") {
  using Version = CgroupMembership::Version;
  for (const Entry& entry : recorded::find_all("cgroup/")) {
    const bool is_v1 = entry.expected.contains("memory_path");
    if (!is_v1 && !entry.expected.contains("path")) continue;
    CAPTURE(entry.file);
    const std::string text = entry.text();
    const auto membership = parse_cgroup_membership(text);
    CHECK(membership.version == (is_v1 ? Version::v1 : Version::v2));
    CHECK(membership.path == entry.expected.at(is_v1 ? "memory_path" : "path").get<std::string>());
  }
}

TEST_CASE("recorded mounts yield the control group roots of their index") {
  const Entry entry = recorded::find_one("cgroup/elastic-docker2-mountinfo");
  const std::string text = entry.text();
  std::vector<std::string> roots;
  std::string_view remaining = text;
  while (!remaining.empty()) {
    const auto mount = parse_mount(hmn::scan::take_line(remaining));
    if (mount && mount->is_cgroup_v2()) roots.emplace_back(mount->root);
  }
  CHECK(roots.size() == entry.number("cgroup2_mounts"));
  CHECK(roots == entry.expected.at("roots").get<std::vector<std::string>>());
}

// The index has no container id but the path with it: "…/<name>-<id>.scope".
TEST_CASE("recorded memberships yield id and runtime of their container") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("cgroup/")) {
    const char* const key = entry.expected.contains("memory_path") ? "memory_path" : "path";
    if (!entry.expected.contains(key)) continue;
    CAPTURE(entry.file);
    const std::string path = entry.expected.at(key).get<std::string>();
    const std::size_t start = path.rfind('-') + 1;
    const std::string text = entry.text();
    const Container container = parse_container(text);
    CHECK(container.id == path.substr(start, path.rfind('.') - start));
    const bool is_docker = path.find("/docker-") != std::string::npos;
    CHECK(container.runtime == (is_docker ? "docker" : "containerd"));
    ++count;
  }
  CHECK(count == 3);
}
