// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/process.hpp"

using hmn::procfs::explain_foreign_tree;

namespace {

namespace fs = std::filesystem;

class FakeProcTree {
 public:
  FakeProcTree() {
    std::string name = (fs::temp_directory_path() / "hmn-own-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~FakeProcTree() { fs::remove_all(root_); }

  // Adds the process that `self` links to, with its pids from this tree's namespace inwards.
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

TEST_CASE("the proc tree of this system is our own") {
  CHECK_FALSE(explain_foreign_tree("/proc"));
}

TEST_CASE("a tree whose self is this process is our own") {
  const FakeProcTree tree;
  tree.add_self(own_pid(), own_pid());
  CHECK_FALSE(explain_foreign_tree(tree.root()));
}

TEST_CASE("a tree whose self is another pid is foreign") {
  const FakeProcTree tree;
  tree.add_self("4194305", "4194305\t" + own_pid());
  CHECK(explain_foreign_tree(tree.root()) ==
        tree.root() +
            " is the tree of another PID namespace, where this process is 4194305; pids "
            "are those of that tree");
}

TEST_CASE("a tree of an outer namespace is foreign, even if the pids are equal") {
  const FakeProcTree tree;
  tree.add_self(own_pid(), own_pid() + "\t" + own_pid());
  CHECK(explain_foreign_tree(tree.root()));
}

TEST_CASE("a tree without this process is foreign") {
  const FakeProcTree tree;
  CHECK(explain_foreign_tree(tree.root()) == tree.root() + " is not a mounted proc file system");
  std::ofstream(fs::path(tree.root()) / "stat") << "cpu 0\n";
  const std::string reason =
      tree.root() + " does not show this process: it is the tree of another PID namespace";
  CHECK(explain_foreign_tree(tree.root()) == reason);
  // The kernel's link remains, without a target.
  fs::create_symlink("4194305", fs::path(tree.root()) / "self");
  CHECK(explain_foreign_tree(tree.root()));
}

TEST_CASE("copied files with a folder instead of the link are not reported as foreign") {
  const FakeProcTree tree;
  fs::create_directory(fs::path(tree.root()) / "self");
  CHECK_FALSE(explain_foreign_tree(tree.root()));
}
