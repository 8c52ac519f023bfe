// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/process.hpp"

using hmn::procfs::why_foreign;

namespace {

namespace fs = std::filesystem;

class ProcTree {
 public:
  ProcTree() {
    std::string name = (fs::temp_directory_path() / "hmn-own-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~ProcTree() { fs::remove_all(root_); }

  // Adds the process that `self` is, with its pids from this tree's namespace inwards.
  void add_self(const std::string& pid, const std::string& pids) const {
    fs::create_directory(fs::path(root_) / pid);
    std::ofstream(fs::path(root_) / pid / "status") << "Name:\ta\nNSpid:\t" << pids << "\n";
    fs::create_symlink(pid, fs::path(root_) / "self");
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

std::string own_pid() {
  return std::to_string(hmn::platform::current_pid());
}

}  // namespace

TEST_CASE("the proc tree of this system is ours") {
  CHECK_FALSE(why_foreign("/proc"));
}

TEST_CASE("a tree where self is this process is ours") {
  const ProcTree tree;
  tree.add_self(own_pid(), own_pid());
  CHECK_FALSE(why_foreign(tree.root()));
}

TEST_CASE("a tree where self has another pid is foreign") {
  const ProcTree tree;
  tree.add_self("4194305", "4194305\t" + own_pid());
  CHECK(why_foreign(tree.root()) ==
        tree.root() +
            " is the tree of another PID namespace, where this process is 4194305; pids "
            "are those of that tree");
}

TEST_CASE("a tree of an outer namespace is foreign, even if the pids are equal") {
  const ProcTree tree;
  tree.add_self(own_pid(), own_pid() + "\t" + own_pid());
  CHECK(why_foreign(tree.root()));
}

TEST_CASE("a tree without this process is foreign") {
  const ProcTree tree;
  CHECK(why_foreign(tree.root()) == tree.root() + " is not a mounted proc file system");
  std::ofstream(fs::path(tree.root()) / "stat") << "cpu 0\n";
  const std::string why =
      tree.root() + " does not show this process: it is the tree of another PID namespace";
  CHECK(why_foreign(tree.root()) == why);
  // The kernel's link remains, without a target.
  fs::create_symlink("4194305", fs::path(tree.root()) / "self");
  CHECK(why_foreign(tree.root()));
}

TEST_CASE("copied files, with a folder in place of the link, are not known to be foreign") {
  const ProcTree tree;
  fs::create_directory(fs::path(tree.root()) / "self");
  CHECK_FALSE(why_foreign(tree.root()));
}
