// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/process_tree.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace hmn::cli;

namespace {

namespace fs = std::filesystem;

// A proc tree of plain files, with or without CONFIG_PROC_CHILDREN.
class FakeProc {
 public:
  explicit FakeProc(bool has_children_files) : has_children_files_(has_children_files) {
    std::string name = (fs::temp_directory_path() / "hmn-proc-XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directory(fs::path(root_) / "self");
  }
  ~FakeProc() { fs::remove_all(root_); }

  void add(unsigned pid, unsigned parent, unsigned start, char state = 'S',
           int exit_signal = SIGCHLD) {
    const auto folder = fs::path(root_) / std::to_string(pid);
    const auto task = folder / "task" / std::to_string(pid);
    fs::create_directories(task);
    std::ofstream(folder / "stat")
        << pid << " (a (b) c) " << state << ' ' << parent << " 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 "
        << start << " 4096 7 0 0 0 0 0 0 0 0 0 0 0 0 0 " << exit_signal << " 0 0\n";
    if (has_children_files_) std::ofstream(task / "children") << "";
  }
  void set_children(unsigned pid, const std::string& list) {
    if (has_children_files_)
      std::ofstream(fs::path(root_) / std::to_string(pid) / "task" / std::to_string(pid) /
                    "children")
          << list;
  }
  void link_self(unsigned pid) {
    fs::remove(fs::path(root_) / "self");
    fs::create_symlink(std::to_string(pid), fs::path(root_) / "self");
  }
  void remove(unsigned pid) { fs::remove_all(fs::path(root_) / std::to_string(pid)); }
  Roots roots() const {
    Roots out;
    out.proc = root_;
    return out;
  }

 private:
  bool has_children_files_;
  std::string root_;
};

std::vector<std::uint32_t> list_pids(const ProcessTree& tree) {
  std::vector<std::uint32_t> pids;
  for (const auto& member : tree.members()) pids.push_back(member.pid);
  return pids;
}

using Pids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a start time distinguishes processes with one pid, and an ended process has none") {
  FakeProc proc(true);
  proc.add(7, 1, 100);
  CHECK(read_process_start(proc.roots(), 7) == 100u);
  proc.add(7, 1, 200);
  CHECK(read_process_start(proc.roots(), 7) == 200u);
  for (const char state : {'Z', 'X'}) {
    proc.add(7, 1, 200, state);
    CHECK_FALSE(read_process_start(proc.roots(), 7));
  }
  CHECK_FALSE(read_process_start(proc.roots(), 8));
  CHECK(read_process_start(Roots(), static_cast<std::uint32_t>(getpid())));
}

TEST_CASE("a tree lists a process, its children and their children only") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    FakeProc proc(has_children_files);
    proc.add(1, 0, 1);
    proc.add(10, 1, 100);
    proc.add(11, 10, 101);
    proc.add(9, 11, 102);  // lower than its parent: pids wrap around
    proc.add(20, 1, 103);
    proc.set_children(1, "10 20 ");
    proc.set_children(10, "11 ");
    proc.set_children(11, "9 ");
    ProcessTree tree(proc.roots(), 10);
    tree.refresh();
    CHECK(list_pids(tree) == Pids{10, 11, 9});
  }
}

TEST_CASE("a process whose parent has ended stays until it ends itself") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    FakeProc proc(has_children_files);
    proc.add(10, 1, 100);
    proc.add(11, 10, 101);
    proc.set_children(10, "11 ");
    ProcessTree tree(proc.roots(), 10);
    tree.refresh();
    proc.remove(10);
    proc.add(11, 1, 101);  // its parent is now init
    proc.add(12, 11, 102);
    proc.set_children(11, "12 ");
    tree.refresh();
    CHECK(list_pids(tree) == Pids{11, 12});
    proc.remove(11);
    tree.refresh();
    CHECK(list_pids(tree) == Pids{12});
  }
}

TEST_CASE("a process that reuses a pid is not a member, and neither is a zombie") {
  FakeProc proc(true);
  proc.add(10, 1, 100);
  proc.add(11, 10, 101);
  proc.set_children(10, "11 ");
  ProcessTree tree(proc.roots(), 10);
  tree.refresh();
  proc.set_children(10, "");
  proc.add(11, 1, 500);
  tree.refresh();
  CHECK(list_pids(tree) == Pids{10});
  proc.add(10, 1, 100, 'Z');
  tree.refresh();
  CHECK(list_pids(tree).empty());
}

TEST_CASE("an unreadable process stays, with the reason, until it is readable again") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    FakeProc proc(has_children_files);
    proc.add(10, 1, 100);
    proc.add(11, 10, 101);
    proc.set_children(10, "11 ");
    ProcessTree tree(proc.roots(), 10);
    tree.refresh();
    CHECK(tree.error().empty());
    const auto stat = fs::path(proc.roots().proc) / "11" / "stat";
    fs::remove(stat);
    fs::create_directory(stat);
    tree.refresh();
    CHECK(list_pids(tree) == Pids{10, 11});
    CHECK(tree.error() == "cannot read " + stat.string() + ": Is a directory");
    fs::remove(stat);
    proc.add(11, 10, 101);
    tree.refresh();
    CHECK(list_pids(tree) == Pids{10, 11});
    CHECK(tree.error().empty());
  }
}

TEST_CASE("a command that is unreadable at first is not taken as ended") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    FakeProc proc(has_children_files);
    proc.add(10, 1, 100);
    const auto stat = fs::path(proc.roots().proc) / "10" / "stat";
    fs::remove(stat);
    fs::create_directory(stat);
    ProcessTree tree(proc.roots(), 10);
    const auto reason = "cannot read " + stat.string() + ": Is a directory";
    CHECK(tree.error() == reason);
    tree.refresh();
    CHECK(list_pids(tree).empty());
    CHECK(tree.error() == reason);
    fs::remove(stat);
    proc.add(10, 1, 100);
    tree.refresh();
    CHECK(list_pids(tree) == Pids{10});
    CHECK(tree.error().empty());
    proc.add(10, 1, 500);  // another process
    tree.refresh();
    CHECK(list_pids(tree).empty());
  }
}

TEST_CASE("more children than fit in a page are all found") {
  FakeProc proc(true);
  proc.add(1, 0, 1);
  std::string children;
  for (unsigned pid = 100'000; pid < 103'000; ++pid) {
    proc.add(pid, 1, pid);
    children += std::to_string(pid) + ' ';
  }
  proc.set_children(1, children);
  ProcessTree tree(proc.roots(), 1);
  tree.refresh();
  CHECK(tree.members().size() == 3001);
}

TEST_CASE("a control group adds members") {
  FakeProc proc(true);
  proc.add(10, 1, 100);
  proc.add(30, 1, 103);
  ProcessTree tree(proc.roots(), 10);
  tree.refresh({10, 30, 31});
  CHECK(list_pids(tree) == Pids{10, 30});
}

TEST_CASE("a proc tree of another PID namespace has no members") {
  FakeProc proc(true);
  proc.add(10, 1, 100);
  proc.add(11, 10, 101);
  proc.set_children(10, "11 ");
  proc.link_self(11);
  ProcessTree tree(proc.roots(), 10);
  tree.refresh({10});
  CHECK(list_pids(tree).empty());
  CHECK(tree.error().find("of another PID namespace, where this process is 11") !=
        std::string::npos);
  CHECK(ProcessTree(Roots{}, static_cast<std::uint32_t>(getpid())).error().empty());
}

TEST_CASE("a real child is found with the interface of the running kernel") {
  ProcessTree tree(Roots{}, static_cast<std::uint32_t>(getpid()));
  tree.refresh();
  const auto before = tree.members().size();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  tree.refresh();
  const auto during = list_pids(tree);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(during.size() == before + 1);
  CHECK(during.back() == static_cast<std::uint32_t>(child));
  tree.refresh();
  CHECK(tree.members().size() == before);
}

TEST_CASE("orphans that this process adopts are members, however late they are seen") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    FakeProc proc(has_children_files);
    const auto self_pid = static_cast<unsigned>(getpid());
    proc.add(self_pid, 1, 1);
    proc.add(10, self_pid, 100);
    ProcessTree tree(proc.roots(), 10, true);
    tree.refresh();
    proc.remove(10);
    proc.add(11, self_pid, 101);  // its parents came and went between two readings
    proc.add(12, 11, 102);
    proc.add(13, self_pid, 103, 'S', 0);  // part of hmn, not a program
    proc.add(14, 13, 104);                // started by that part for itself
    proc.add(15, 1, 105);
    proc.set_children(self_pid, "11 13 ");
    proc.set_children(11, "12 ");
    proc.set_children(13, "14 ");
    tree.refresh();
    CHECK(list_pids(tree) == Pids{11, 12});
  }
}
