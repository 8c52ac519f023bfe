// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_tree.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "open_watch.hpp"
#include "selftest.hpp"

namespace fs = std::filesystem;

namespace {

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

TEST_CASE("fake_tree: a tree is removed with its object") {
  std::string path;
  {
    const hmn_fake::Tree tree;
    path = tree.root().string();
    tree.write("proc/a/b/c", "text");
    CHECK(selftest::read_file(tree.path("proc/a/b/c")) == "text");
    tree.write("proc/a/b/c", "");
    CHECK(selftest::read_file(tree.path("proc/a/b/c")) == "");
  }
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("fake_tree: a stat line has the 52 fields of proc(5) in their order") {
  hmn_fake::StatLine stat;
  stat.comm = "x";
  stat.state = 'R';
  stat.parent = 5;
  stat.flags = 0x200000;
  stat.threads = 3;
  stat.start_ticks = 987;
  stat.virtual_bytes = 4096000;
  stat.resident_pages = 55;
  const auto words = split_words(hmn_fake::format_text(42, stat));
  REQUIRE(words.size() == 52);
  CHECK(words[0] == "42");
  CHECK(words[1] == "(x)");
  CHECK(words[2] == "R");
  CHECK(words[3] == "5");
  CHECK(words[8] == "2097152");
  CHECK(words[19] == "3");
  CHECK(words[21] == "987");
  CHECK(words[22] == "4096000");
  CHECK(words[23] == "55");
}

TEST_CASE("fake_tree: a process has the files given for it") {
  const hmn_fake::Tree tree;
  auto process = hmn_fake::simple_process(77, "trainer", 1234, 10);
  process.descriptors = {{3, "/dev/nvidia-uvm"}};
  process.fdinfo = {{3, "pos:\t0\n"}};
  process.pid_namespace = 4026531836;
  hmn_fake::add_process(tree, process);
  hmn_fake::set_self(tree, 77);
  CHECK(selftest::read_file(tree.proc() + "/77/comm") == "trainer\n");
  CHECK(split_words(selftest::read_file(tree.proc() + "/self/statm"))[1] == "10");
  CHECK(selftest::read_file(tree.proc() + "/77/status").find("VmRSS:\t      40 kB\n") !=
        std::string::npos);
  CHECK(fs::read_symlink(tree.proc() + "/77/fd/3") == "/dev/nvidia-uvm");
  CHECK(selftest::read_file(tree.proc() + "/77/fdinfo/3") == "pos:\t0\n");
  CHECK(fs::read_symlink(tree.proc() + "/77/ns/pid") == "pid:[4026531836]");
  CHECK_FALSE(fs::exists(tree.proc() + "/77/smaps_rollup"));
}

TEST_CASE("fake_tree: a PCI device is reached through every link") {
  const hmn_fake::Tree tree;
  hmn_fake::PciDevice gpu;
  gpu.address = "0000:01:00.0";
  gpu.device = 0x26b9;
  gpu.power_control = "auto";
  gpu.runtime_status = "suspended";
  gpu.driver = "nvidia";
  gpu.drm_nodes = {"card1", "renderD128"};
  hmn_fake::add_pci_device(tree, gpu);
  const auto path = tree.sys() + "/bus/pci/devices/0000:01:00.0";
  CHECK(selftest::read_file(path + "/vendor") == "0x10de\n");
  CHECK(selftest::read_file(path + "/device") == "0x26b9\n");
  CHECK(selftest::read_file(path + "/class") == "0x030200\n");
  CHECK(selftest::read_file(path + "/power/runtime_status") == "suspended\n");
  CHECK(fs::canonical(path + "/driver").filename() == "nvidia");
  CHECK(selftest::read_file(tree.sys() + "/class/drm/renderD128/device/vendor") == "0x10de\n");
  CHECK(fs::canonical(tree.sys() + "/class/drm/card1/device") == fs::canonical(path));
}

TEST_CASE("fake_tree: system files have the values given for them") {
  const hmn_fake::Tree tree;
  hmn_fake::Meminfo memory;
  memory.total = 131072;
  memory.huge_pages_total = 0;
  hmn_fake::set_meminfo(tree, memory);
  hmn_fake::set_boot_time(tree, 1700000000);
  hmn_fake::set_mountinfo(tree, "self", {{"/", "/sys/fs/cgroup", "cgroup2", "", "rw,nsdelegate"}});
  hmn_fake::set_cgroup_v2(tree, "/user.slice/a", {{"memory.max", "max\n"}});
  hmn_fake::set_cgroup_v1(tree, "memory", "docker/x", {{"memory.limit_in_bytes", "4096\n"}});
  CHECK(selftest::read_file(tree.proc() + "/meminfo") ==
        "MemTotal:         131072 kB\nHugePages_Total:        0\n");
  CHECK(selftest::read_file(tree.proc() + "/stat").find("\nbtime 1700000000\n") !=
        std::string::npos);
  CHECK(selftest::read_file(tree.proc() + "/self/mountinfo")
            .find(" - cgroup2 cgroup2 rw,nsdelegate\n") != std::string::npos);
  CHECK(selftest::read_file(tree.sys() + "/fs/cgroup/user.slice/a/memory.max") == "max\n");
  CHECK(selftest::read_file(tree.sys() + "/fs/cgroup/memory/docker/x/memory.limit_in_bytes") ==
        "4096\n");
}

TEST_CASE("fake_tree: opening a file is noticed") {
  const hmn_fake::Tree tree;
  hmn_fake::NvidiaInformation gpu;
  gpu.address = "0000:01:00.0";
  hmn_fake::add_nvidia_information(tree, gpu);
  const auto folder = tree.proc() + "/driver/nvidia/gpus/0000:01:00.0";
  hmn_fake::OpenWatch watch(folder);
  CHECK(watch.opened_names().empty());
  CHECK(selftest::read_file(folder + "/information").find("Device Minor: \t 0\n") !=
        std::string::npos);
  CHECK(watch.opened_names() == std::vector<std::string>{"information"});
  CHECK(watch.opened_names().empty());
}
