// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every recorded file of a process and of a control group yields what is in its index.
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

void check_amount(const Amount& found, const Entry& e, const char* key) {
  CAPTURE(key);
  if (e.has(key)) {
    CHECK(found.value() == e.number(key));
  } else {
    CHECK_FALSE(found.value());
  }
}

int count_of(const char* key, void (*check)(const Entry&)) {
  int count = 0;
  for (const Entry& e : recorded::all("proc-pid/")) {
    if (!e.expected.contains(key)) continue;
    CAPTURE(e.file);
    check(e);
    ++count;
  }
  return count;
}

void check_stat(const Entry& e) {
  const std::string text = e.text();
  const auto s = parse_stat(text);
  REQUIRE(s);
  CHECK(s->pid == e.number("pid"));
  CHECK(s->comm == e.expected.at("comm").get<std::string>());
  CHECK(std::string(1, s->state) == e.expected.at("state").get<std::string>());
  CHECK(s->num_threads == e.number("num_threads"));
  CHECK(s->starttime == e.number("starttime_ticks"));
  CHECK(s->vsize == e.number("vsize_bytes"));
  CHECK(s->rss == e.number("rss_pages"));
}

void check_status(const Entry& e) {
  const StatusMemory m = parse_status(e.text());
  check_amount(m.vm_rss, e, "VmRSS_bytes");
  check_amount(m.vm_hwm, e, "VmHWM_bytes");
  check_amount(m.vm_size, e, "VmSize_bytes");
  check_amount(m.vm_swap, e, "VmSwap_bytes");
}

void check_statm(const Entry& e) {
  const auto m = parse_statm(e.text());
  REQUIRE(m);
  CHECK(m->size == e.number("size_pages"));
  CHECK(m->resident == e.number("resident_pages"));
  CHECK(m->resident * 4096 == e.number("rss_bytes_at_4k_pages"));
}

void check_smaps(const Entry& e) {
  const SmapsRollup r = parse_smaps_rollup(e.text());
  check_amount(r.pss, e, "Pss_bytes");
  check_amount(r.unique(), e, "uss_bytes");
}

std::string file_of(const Entry& tree, const char* name) {
  std::ifstream file(tree.path() + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("recorded /proc/<pid>/stat") {
  CHECK(count_of("starttime_ticks", check_stat) == 12);
}
TEST_CASE("recorded /proc/<pid>/status") {
  CHECK(count_of("VmPeak_bytes", check_status) == 8);
}
TEST_CASE("recorded /proc/<pid>/statm") {
  CHECK(count_of("size_pages", check_statm) == 2);
}
TEST_CASE("recorded smaps_rollup") {
  CHECK(count_of("Pss_bytes", check_smaps) == 2);
}

TEST_CASE("a recorded kernel thread is one, a recorded program is none") {
  const std::string kthread = recorded::one("proc-pid/node_exporter-10-stat-kthread.txt").text();
  CHECK(parse_stat(kthread)->is_kernel_thread());
  const std::string vim = recorded::one("proc-pid/procfs-26231-stat.txt").text();
  CHECK_FALSE(parse_stat(vim)->is_kernel_thread());
}

TEST_CASE("recorded limits and use of control groups") {
  int count = 0;
  for (const Entry& e : recorded::all("cgroup/")) {
    if (!e.expected.contains("usage_bytes")) continue;
    CAPTURE(e.file);
    ++count;
    const bool v1 = e.number("version") == 1;
    const char* const usage = v1 ? "memory.usage_in_bytes" : "memory.current";
    CHECK(parse_cgroup_usage(file_of(e, usage)) == e.number("usage_bytes"));
    const hmn_fake::Tree tree;
    tree.write("proc/self/cgroup", v1 ? "4:memory:/\n" : "0::/\n");
    const auto found = hmn::os::GroupLimits(tree.proc(), e.path()).read();
    CHECK(found.bytes.has_value() == e.has("limit_bytes"));
    CHECK_FALSE(found.is_partial);
    if (!v1) continue;
    const auto above = parse_cgroup_hierarchical_limit(file_of(e, "memory.stat"));
    CHECK((above.what == CgroupLimit::Is::known) == e.has("hierarchical_limit_bytes"));
  }
  CHECK(count == 5);
}

TEST_CASE("recorded memberships") {
  using Version = CgroupMembership::Version;
  for (const Entry& e : recorded::all("cgroup/")) {
    const bool v1 = e.expected.contains("memory_path");
    if (!v1 && !e.expected.contains("path")) continue;
    CAPTURE(e.file);
    const std::string text = e.text();
    const auto m = parse_cgroup_membership(text);
    CHECK(m.hierarchy == (v1 ? Version::v1 : Version::v2));
    CHECK(m.path == e.expected.at(v1 ? "memory_path" : "path").get<std::string>());
  }
}

TEST_CASE("recorded mounts") {
  const Entry e = recorded::one("cgroup/elastic-docker2-mountinfo");
  const std::string text = e.text();
  std::vector<std::string> roots;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto m = parse_mount(hmn::scan::take_line(rest));
    if (m && m->is_cgroup_v2()) roots.emplace_back(m->root);
  }
  CHECK(roots.size() == e.number("cgroup2_mounts"));
  CHECK(roots == e.expected.at("roots").get<std::vector<std::string>>());
}

// The index has no container's id, but the path that names it: "…/<name>-<id>.scope".
TEST_CASE("recorded memberships name their containers") {
  int count = 0;
  for (const Entry& e : recorded::all("cgroup/")) {
    const char* const key = e.expected.contains("memory_path") ? "memory_path" : "path";
    if (!e.expected.contains(key)) continue;
    CAPTURE(e.file);
    const std::string path = e.expected.at(key).get<std::string>();
    const std::size_t start = path.rfind('-') + 1;
    const std::string text = e.text();
    const Container in = parse_container(text);
    CHECK(in.id == path.substr(start, path.rfind('.') - start));
    const bool docker = path.find("/docker-") != std::string::npos;
    CHECK(in.runtime == (docker ? "docker" : "containerd"));
    ++count;
  }
  CHECK(count == 3);
}
