// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/command_group.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace hmn::cli;

namespace {

namespace fs = std::filesystem;

// The files of proc(5) and of control groups, as plain files.
class CgroupMachine {
 public:
  CgroupMachine() {
    std::string name = (fs::temp_directory_path() / "hmn-cgroup-XXXXXX").string();
    root_ = mkdtemp(name.data());
    write("proc/self/cgroup", "0::/user.slice/a.scope\n");
  }
  ~CgroupMachine() { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  Roots roots() const {
    Roots out;
    out.proc = (root_ / "proc").string();
    out.cgroup = (root_ / "cgroup").string();
    return out;
  }

 private:
  fs::path root_;
};

std::string group_refusal(const CgroupMachine& machine) {
  const auto group = CommandGroup::make(machine.roots());
  REQUIRE_FALSE(group);
  return group.error().message;
}

bool includes(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string own_pid = std::to_string(getpid());
constexpr const char* group_folder = "cgroup/user.slice/a.scope/";

void write_group(CgroupMachine& machine, const std::string& processes, const std::string& peak) {
  machine.write(std::string(group_folder) + "cgroup.procs", processes);
  machine.write(std::string(group_folder) + "memory.peak", peak);
}

}  // namespace

TEST_CASE("a command without a control group of its own gets the reason") {
  CgroupMachine machine;
  machine.write("proc/self/cgroup", "4:memory:/x\n");
  CHECK(includes(group_refusal(machine), "version 2"));
  machine.write("proc/self/cgroup", "0::/../a\n");
  CHECK(includes(group_refusal(machine), "not visible"));
  machine.write("proc/self/cgroup", "0::/user.slice/a.scope\n");
  CHECK(includes(group_refusal(machine), "has no memory.peak"));

  for (const std::string pid_line : {"1\n", "0\n"}) {
    write_group(machine, own_pid + "\n" + pid_line, "1048576\n");
    CHECK(includes(group_refusal(machine), "holds other processes"));
  }
  write_group(machine, own_pid + "\n", "1048576\n");
  machine.write(std::string(group_folder) + "cgroup.stat",
                "nr_descendants 1\nnr_dying_descendants 0\n");
  CHECK(includes(group_refusal(machine), "holds other processes"));
}

TEST_CASE("a peak above the earlier one is exact, else it is a bound") {
  CgroupMachine machine;
  write_group(machine, own_pid + "\n", "1048576\n");
  machine.write(
      std::string(group_folder) + "dmem.peak",
      "drm/0000:03:00.0/vram0 4096\ndrm/0000:03:00.0/stolen 7\ndrm/0000:04:00.0/vram0 0\n");
  auto group = CommandGroup::make(machine.roots());
  REQUIRE(group);
  CHECK(group->peak().bytes == 1048576u);
  CHECK(includes(group->peak().bound_reason, "before the command"));
  CHECK(group->device_peak("00000000:03:00.0").bytes == 4096u);
  CHECK(includes(group->device_peak("0000:03:00.0").bound_reason, "before the command"));
  CHECK(group->device_peak("0000:04:00.0").bytes == 0u);
  CHECK(group->device_peak("0000:04:00.0").bound_reason.empty());
  CHECK_FALSE(group->device_peak("0000:05:00.0").bytes);
  CHECK_FALSE(group->device_peak("").bytes);

  machine.write(std::string(group_folder) + "memory.peak", "2097152\n");
  machine.write(std::string(group_folder) + "dmem.peak", "drm/0000:03:00.0/vram0 8192\n");
  CHECK(group->peak().bytes == 2097152u);
  CHECK(group->peak().bound_reason.empty());
  CHECK(group->device_peak("0000:03:00.0").bytes == 8192u);
  CHECK(group->device_peak("0000:03:00.0").bound_reason.empty());
}

TEST_CASE("another process in the group makes the peak a bound; a member elsewhere voids it") {
  CgroupMachine machine;
  write_group(machine, own_pid + "\n", "1048576\n");
  auto group = CommandGroup::make(machine.roots());
  REQUIRE(group);
  write_group(machine, own_pid + "\n70\n", "2097152\n");
  machine.write("proc/70/cgroup", "0::/user.slice/a.scope/inner\n");
  group->check_members({{70, 1}});
  CHECK(group->peak().bound_reason.empty());
  write_group(machine, own_pid + "\n70\n71\n", "2097152\n");
  group->check_members({{70, 1}});
  CHECK(includes(group->peak().bound_reason, "other processes"));
  machine.write("proc/70/cgroup", "0::/user.slice/a.scope2\n");
  group->check_members({{70, 1}});
  CHECK_FALSE(group->peak().bytes);
  CHECK(includes(group->peak().reason, "another control group"));
}
