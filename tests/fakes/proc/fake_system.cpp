// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cinttypes>
#include <cstdio>

#include "fake_tree.hpp"

namespace hmn_fake {
namespace {

std::string meminfo_line(const char* name, const std::optional<std::uint64_t>& value,
                         const char* unit = " kB") {
  if (!value) return "";
  char line[96];
  std::snprintf(line, sizeof line, "%-15s %8" PRIu64 "%s\n", (std::string(name) + ":").c_str(),
                *value, unit);
  return line;
}

void write_all(const Tree& tree, const std::string& folder,
               const std::map<std::string, std::string>& files) {
  tree.directory(folder);
  for (const auto& [name, text] : files) tree.write(folder + "/" + name, text);
}

// "/a/b" and "a/b" name the same group, "/" the root.
std::string group_folder(std::string folder, std::string_view group) {
  while (group.starts_with('/')) group.remove_prefix(1);
  return group.empty() ? folder : folder.append("/").append(group);
}

}  // namespace

void set_meminfo(const Tree& tree, const Meminfo& values) {
  tree.write("proc/meminfo",
             meminfo_line("MemTotal", values.total) + meminfo_line("MemFree", values.free) +
                 meminfo_line("MemAvailable", values.available) +
                 meminfo_line("Buffers", values.buffers) + meminfo_line("Cached", values.cached) +
                 meminfo_line("SwapTotal", values.swap_total) +
                 meminfo_line("SwapFree", values.swap_free) + meminfo_line("Shmem", values.shmem) +
                 meminfo_line("HugePages_Total", values.huge_pages_total, "") +
                 meminfo_line("HugePages_Free", values.huge_pages_free, "") +
                 meminfo_line("Hugepagesize", values.huge_page_size));
}

void set_boot_time(const Tree& tree, std::uint64_t unix_seconds) {
  tree.write("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime " +
                              std::to_string(unix_seconds) +
                              "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
}

void set_mountinfo(const Tree& tree, std::string_view pid, const std::vector<Mount>& mounts) {
  std::string text;
  int id = 20;
  for (const auto& mount : mounts) {
    ++id;
    text += std::to_string(id) + " 1 0:" + std::to_string(id) + " " + mount.root + " " +
            mount.point + " rw,nosuid,nodev,noexec,relatime shared:" + std::to_string(id) + " - " +
            mount.type + " " + (mount.source.empty() ? mount.type : mount.source) + " " +
            mount.super_options + "\n";
  }
  tree.write("proc/" + std::string(pid) + "/mountinfo", text);
}

void set_cgroup_v2(const Tree& tree, std::string_view group,
                   const std::map<std::string, std::string>& files) {
  write_all(tree, group_folder("sys/fs/cgroup", group), files);
}

void set_cgroup_v1(const Tree& tree, std::string_view controller, std::string_view group,
                   const std::map<std::string, std::string>& files) {
  write_all(tree, group_folder("sys/fs/cgroup/" + std::string(controller), group), files);
}

}  // namespace hmn_fake
