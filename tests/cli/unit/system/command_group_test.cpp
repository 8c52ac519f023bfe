// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/command_group.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace hmn::cli;

namespace {

namespace fs = std::filesystem;

// What proc(5) and the control groups have, as plain files.
class PlainMachine {
 public:
  PlainMachine() {
    std::string name = (fs::temp_directory_path() / "hmn-cgroup-XXXXXX").string();
    root_ = mkdtemp(name.data());
    write("proc/self/cgroup", "0::/user.slice/a.scope\n");
  }
  ~PlainMachine() { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  Roots in() const {
    Roots out;
    out.proc = (root_ / "proc").string();
    out.cgroup = (root_ / "cgroup").string();
    return out;
  }

 private:
  fs::path root_;
};

std::string why_not(const PlainMachine& of) {
  const auto made = CommandGroup::make(of.in());
  REQUIRE_FALSE(made);
  return made.why().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string own_pid = std::to_string(getpid());
constexpr const char* group = "cgroup/user.slice/a.scope/";

void write_group(PlainMachine& to, const std::string& processes, const std::string& peak) {
  to.write(std::string(group) + "cgroup.procs", processes);
  to.write(std::string(group) + "memory.peak", peak);
}

}  // namespace

TEST_CASE("without a group of its own for the command there is a reason") {
  PlainMachine machine;
  machine.write("proc/self/cgroup", "4:memory:/x\n");
  CHECK(has(why_not(machine), "version 2"));
  machine.write("proc/self/cgroup", "0::/../a\n");
  CHECK(has(why_not(machine), "not visible"));
  machine.write("proc/self/cgroup", "0::/user.slice/a.scope\n");
  CHECK(has(why_not(machine), "has no memory.peak"));

  for (const std::string other : {"1\n", "0\n"}) {
    write_group(machine, own_pid + "\n" + other, "1048576\n");
    CHECK(has(why_not(machine), "holds other processes"));
  }
  write_group(machine, own_pid + "\n", "1048576\n");
  machine.write(std::string(group) + "cgroup.stat", "nr_descendants 1\nnr_dying_descendants 0\n");
  CHECK(has(why_not(machine), "holds other processes"));
}

TEST_CASE("a peak is exact above that of before, and else a bound") {
  PlainMachine machine;
  write_group(machine, own_pid + "\n", "1048576\n");
  machine.write(
      std::string(group) + "dmem.peak",
      "drm/0000:03:00.0/vram0 4096\ndrm/0000:03:00.0/stolen 7\ndrm/0000:04:00.0/vram0 0\n");
  auto made = CommandGroup::make(machine.in());
  REQUIRE(made);
  CHECK(made->peak().bytes == 1048576u);
  CHECK(has(made->peak().why_bound, "before the command"));
  CHECK(made->device_peak("00000000:03:00.0").bytes == 4096u);
  CHECK(has(made->device_peak("0000:03:00.0").why_bound, "before the command"));
  CHECK(made->device_peak("0000:04:00.0").bytes == 0u);
  CHECK(made->device_peak("0000:04:00.0").why_bound.empty());
  CHECK_FALSE(made->device_peak("0000:05:00.0").bytes);
  CHECK_FALSE(made->device_peak("").bytes);

  machine.write(std::string(group) + "memory.peak", "2097152\n");
  machine.write(std::string(group) + "dmem.peak", "drm/0000:03:00.0/vram0 8192\n");
  CHECK(made->peak().bytes == 2097152u);
  CHECK(made->peak().why_bound.empty());
  CHECK(made->device_peak("0000:03:00.0").bytes == 8192u);
  CHECK(made->device_peak("0000:03:00.0").why_bound.empty());
}

TEST_CASE("another process in the group makes the peak a bound, a member in another none") {
  PlainMachine machine;
  write_group(machine, own_pid + "\n", "1048576\n");
  auto made = CommandGroup::make(machine.in());
  REQUIRE(made);
  write_group(machine, own_pid + "\n70\n", "2097152\n");
  machine.write("proc/70/cgroup", "0::/user.slice/a.scope/inner\n");
  made->compare({{70, 1}});
  CHECK(made->peak().why_bound.empty());
  write_group(machine, own_pid + "\n70\n71\n", "2097152\n");
  made->compare({{70, 1}});
  CHECK(has(made->peak().why_bound, "other processes"));
  machine.write("proc/70/cgroup", "0::/user.slice/a.scope2\n");
  made->compare({{70, 1}});
  CHECK_FALSE(made->peak().bytes);
  CHECK(has(made->peak().why, "another control group"));
}
