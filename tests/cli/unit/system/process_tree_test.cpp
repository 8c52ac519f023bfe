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
class PlainProc {
 public:
  explicit PlainProc(bool has_children_files) : has_children_files_(has_children_files) {
    std::string name = (fs::temp_directory_path() / "hmn-proc-XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directory(fs::path(root_) / "self");
  }
  ~PlainProc() { fs::remove_all(root_); }

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
  void children(unsigned pid, const std::string& list) {
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
  Roots in() const {
    Roots out;
    out.proc = root_;
    return out;
  }

 private:
  bool has_children_files_;
  std::string root_;
};

std::vector<std::uint32_t> pids_of(const ProcessTree& of) {
  std::vector<std::uint32_t> all;
  for (const auto& each : of.members()) all.push_back(each.pid);
  return all;
}

using List = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a start time distinguishes processes of one pid; one that has ended has none") {
  PlainProc proc(true);
  proc.add(7, 1, 100);
  CHECK(process_start(proc.in(), 7) == 100u);
  proc.add(7, 1, 200);
  CHECK(process_start(proc.in(), 7) == 200u);
  for (const char ended : {'Z', 'X'}) {
    proc.add(7, 1, 200, ended);
    CHECK_FALSE(process_start(proc.in(), 7));
  }
  CHECK_FALSE(process_start(proc.in(), 8));
  CHECK(process_start(Roots(), static_cast<std::uint32_t>(getpid())));
}

TEST_CASE("children, and theirs, and none of others") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    PlainProc proc(has_children_files);
    proc.add(1, 0, 1);
    proc.add(10, 1, 100);
    proc.add(11, 10, 101);
    proc.add(9, 11, 102);  // lower than its parent: pids wrap around
    proc.add(20, 1, 103);
    proc.children(1, "10 20 ");
    proc.children(10, "11 ");
    proc.children(11, "9 ");
    ProcessTree tree(proc.in(), 10);
    tree.refresh();
    CHECK(pids_of(tree) == List{10, 11, 9});
  }
}

TEST_CASE("one that another process took over stays until it ends") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    PlainProc proc(has_children_files);
    proc.add(10, 1, 100);
    proc.add(11, 10, 101);
    proc.children(10, "11 ");
    ProcessTree tree(proc.in(), 10);
    tree.refresh();
    proc.remove(10);
    proc.add(11, 1, 101);  // its parent is now init
    proc.add(12, 11, 102);
    proc.children(11, "12 ");
    tree.refresh();
    CHECK(pids_of(tree) == List{11, 12});
    proc.remove(11);
    tree.refresh();
    CHECK(pids_of(tree) == List{12});
  }
}

TEST_CASE("a reused pid is not the process of before, and a zombie holds nothing") {
  PlainProc proc(true);
  proc.add(10, 1, 100);
  proc.add(11, 10, 101);
  proc.children(10, "11 ");
  ProcessTree tree(proc.in(), 10);
  tree.refresh();
  proc.children(10, "");
  proc.add(11, 1, 500);
  tree.refresh();
  CHECK(pids_of(tree) == List{10});
  proc.add(10, 1, 100, 'Z');
  tree.refresh();
  CHECK(pids_of(tree).empty());
}

TEST_CASE("a process that cannot be read stays, with the reason, until it can be read again") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    PlainProc proc(has_children_files);
    proc.add(10, 1, 100);
    proc.add(11, 10, 101);
    proc.children(10, "11 ");
    ProcessTree tree(proc.in(), 10);
    tree.refresh();
    CHECK(tree.why_not().empty());
    const auto stat = fs::path(proc.in().proc) / "11" / "stat";
    fs::remove(stat);
    fs::create_directory(stat);
    tree.refresh();
    CHECK(pids_of(tree) == List{10, 11});
    CHECK(tree.why_not() == "cannot read " + stat.string() + ": Is a directory");
    fs::remove(stat);
    proc.add(11, 10, 101);
    tree.refresh();
    CHECK(pids_of(tree) == List{10, 11});
    CHECK(tree.why_not().empty());
  }
}

TEST_CASE("a command that cannot be read at first is not one that ended") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    PlainProc proc(has_children_files);
    proc.add(10, 1, 100);
    const auto stat = fs::path(proc.in().proc) / "10" / "stat";
    fs::remove(stat);
    fs::create_directory(stat);
    ProcessTree tree(proc.in(), 10);
    const auto why = "cannot read " + stat.string() + ": Is a directory";
    CHECK(tree.why_not() == why);
    tree.refresh();
    CHECK(pids_of(tree).empty());
    CHECK(tree.why_not() == why);
    fs::remove(stat);
    proc.add(10, 1, 100);
    tree.refresh();
    CHECK(pids_of(tree) == List{10});
    CHECK(tree.why_not().empty());
    proc.add(10, 1, 500);  // another process
    tree.refresh();
    CHECK(pids_of(tree).empty());
  }
}

TEST_CASE("more children than a page has room for are all found") {
  PlainProc proc(true);
  proc.add(1, 0, 1);
  std::string children;
  for (unsigned pid = 100'000; pid < 103'000; ++pid) {
    proc.add(pid, 1, pid);
    children += std::to_string(pid) + ' ';
  }
  proc.children(1, children);
  ProcessTree tree(proc.in(), 1);
  tree.refresh();
  CHECK(tree.members().size() == 3001);
}

TEST_CASE("a control group adds members") {
  PlainProc proc(true);
  proc.add(10, 1, 100);
  proc.add(30, 1, 103);
  ProcessTree tree(proc.in(), 10);
  tree.refresh({10, 30, 31});
  CHECK(pids_of(tree) == List{10, 30});
}

TEST_CASE("a tree of another PID namespace has no process of ours under any pid") {
  PlainProc proc(true);
  proc.add(10, 1, 100);
  proc.add(11, 10, 101);
  proc.children(10, "11 ");
  proc.link_self(11);
  ProcessTree tree(proc.in(), 10);
  tree.refresh({10});
  CHECK(pids_of(tree).empty());
  CHECK(tree.why_not().find("of another PID namespace, where this process is 11") !=
        std::string::npos);
  CHECK(ProcessTree(Roots{}, static_cast<std::uint32_t>(getpid())).why_not().empty());
}

TEST_CASE("a real child is found, by whatever this kernel has") {
  ProcessTree tree(Roots{}, static_cast<std::uint32_t>(getpid()));
  tree.refresh();
  const auto before = tree.members().size();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  tree.refresh();
  const auto during = pids_of(tree);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(during.size() == before + 1);
  CHECK(during.back() == static_cast<std::uint32_t>(child));
  tree.refresh();
  CHECK(tree.members().size() == before);
}

TEST_CASE("orphans that this process adopts belong, however late they are seen") {
  for (const bool has_children_files : {true, false}) {
    CAPTURE(has_children_files);
    PlainProc proc(has_children_files);
    const auto own = static_cast<unsigned>(getpid());
    proc.add(own, 1, 1);
    proc.add(10, own, 100);
    ProcessTree tree(proc.in(), 10, true);
    tree.refresh();
    proc.remove(10);
    proc.add(11, own, 101);  // its parents came and went between two readings
    proc.add(12, 11, 102);
    proc.add(13, own, 103, 'S', 0);  // part of hmn: no program
    proc.add(14, 13, 104);           // which it has started for itself
    proc.add(15, 1, 105);
    proc.children(own, "11 13 ");
    proc.children(11, "12 ");
    proc.children(13, "14 ");
    tree.refresh();
    CHECK(pids_of(tree) == List{11, 12});
  }
}
