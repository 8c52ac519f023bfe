// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/own_tree.hpp"

#include <array>
#include <string_view>

#include "model/compose.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/path.hpp"
#include "procfs/pids.hpp"
#include "procfs/status.hpp"

namespace hmn::procfs {
namespace {

// Returns whether the tree is of an outer namespace, which may have given the caller the same
// number.
bool has_inner_pids(proc_path& self) {
  std::array<char, 4096> buffer;
  const auto got = platform::read_small(self.to("status"), buffer);
  return got && parse_namespace_pids({buffer.data(), got.value}).size() > 1;
}

}  // namespace

std::optional<std::string> why_foreign(const std::string& proc_root) {
  if (!platform::has_pid_namespaces()) return std::nullopt;
  proc_path self(proc_root, "self", "");
  std::array<char, 64> target;
  const auto got = platform::read_link(self.c_str(), target);
  if (!got) {
    if (platform::exists(self.c_str())) return std::nullopt;
    // Present in every proc tree that hides processes, absent where none is mounted.
    if (!platform::exists(proc_path(proc_root, "", "stat").c_str())) {
      return compose({proc_root, " is not a mounted proc file system"});
    }
    return compose(
        {proc_root, " does not show this process: it is the tree of another PID namespace"});
  }
  const std::string_view number(target.data(), got.value);
  if (number == pid_name(platform::current_pid()).view() && !has_inner_pids(self)) {
    return std::nullopt;
  }
  return compose({proc_root, " is the tree of another PID namespace, where this process is ",
                  number, "; pids are those of that tree"});
}

}  // namespace hmn::procfs
