// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/child.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace hmn::cli;

namespace {

namespace fs = std::filesystem;

// What proc(5) and the control groups have, as plain files.
class plain_machine {
 public:
  plain_machine() {
    std::string name = (fs::temp_directory_path() / "hmn-cgroup-XXXXXX").string();
    root_ = mkdtemp(name.data());
    write("proc/self/cgroup", "0::/user.slice/a.scope\n");
  }
  ~plain_machine() { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  roots in() const {
    roots out;
    out.proc = (root_ / "proc").string();
    out.cgroup = (root_ / "cgroup").string();
    return out;
  }
  bool has_group() const {
    for (const auto& each : fs::recursive_directory_iterator(root_))
      if (each.path().filename().string().starts_with("hmn-run-")) return true;
    return false;
  }

 private:
  fs::path root_;
};

std::string why_not(const plain_machine& of) {
  const auto made = command_group::make(of.in());
  REQUIRE_FALSE(made);
  CHECK_FALSE(of.has_group());
  return made.why().message;
}

bool lists_pid(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("why there is no group is told, and none is left behind") {
  plain_machine machine;
  machine.write("proc/self/cgroup", "4:memory:/x\n");
  CHECK(lists_pid(why_not(machine), "version 2"));
  machine.write("proc/self/cgroup", "0::/../a\n");
  CHECK(lists_pid(why_not(machine), "not visible"));

  machine.write("proc/self/cgroup", "0::/user.slice/a.scope\n");
  machine.write("cgroup/user.slice/a.scope/cgroup.procs", "");
  machine.write("cgroup/user.slice/cgroup.subtree_control", "cpu pids\n");
  CHECK(lists_pid(why_not(machine), "memory controller"));
  machine.write("cgroup/user.slice/cgroup.subtree_control", "cpu memory pids\n");
  CHECK(lists_pid(why_not(machine), "cgroup.procs"));
  machine.write("cgroup/user.slice/cgroup.procs", "");
  CHECK(lists_pid(why_not(machine), "memory.peak"));

  machine.write("cgroup/user.slice/a.scope/memory.max", "1073741824\n");
  CHECK(lists_pid(why_not(machine), "would escape"));
  machine.write("cgroup/user.slice/a.scope/memory.max", "max\n");
  machine.write("cgroup/user.slice/a.scope/cpu.max", "50000 100000\n");
  CHECK(lists_pid(why_not(machine), "would escape"));
}

TEST_CASE("a service's processes stay in its group") {
  plain_machine machine;
  machine.write("proc/self/cgroup", "0::/system.slice/a.service\n");
  machine.write("cgroup/system.slice/cgroup.subtree_control", "memory\n");
  machine.write("cgroup/system.slice/cgroup.procs", "");
  machine.write("cgroup/system.slice/a.service/cgroup.procs", "");
  CHECK(lists_pid(why_not(machine), "no session"));
}
