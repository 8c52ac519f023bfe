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

void write_all(const Tree& to, const std::string& folder,
               const std::map<std::string, std::string>& files) {
  to.directory(folder);
  for (const auto& [name, text] : files) to.write(folder + "/" + name, text);
}

// "/a/b" and "a/b" name the same group, "/" the root.
std::string below(std::string folder, std::string_view group) {
  while (group.starts_with('/')) group.remove_prefix(1);
  return group.empty() ? folder : folder.append("/").append(group);
}

}  // namespace

void set_meminfo(const Tree& to, const Meminfo& v) {
  to.write("proc/meminfo",
           meminfo_line("MemTotal", v.total) + meminfo_line("MemFree", v.free) +
               meminfo_line("MemAvailable", v.available) + meminfo_line("Buffers", v.buffers) +
               meminfo_line("Cached", v.cached) + meminfo_line("SwapTotal", v.swap_total) +
               meminfo_line("SwapFree", v.swap_free) + meminfo_line("Shmem", v.shmem) +
               meminfo_line("HugePages_Total", v.huge_pages_total, "") +
               meminfo_line("HugePages_Free", v.huge_pages_free, "") +
               meminfo_line("Hugepagesize", v.huge_page_size));
}

void set_boot_time(const Tree& to, std::uint64_t unix_seconds) {
  to.write("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime " +
                            std::to_string(unix_seconds) +
                            "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
}

void set_mountinfo(const Tree& to, std::string_view pid, const std::vector<Mount>& mounts) {
  std::string text;
  int id = 20;
  for (const auto& one : mounts) {
    ++id;
    text += std::to_string(id) + " 1 0:" + std::to_string(id) + " " + one.root + " " + one.point +
            " rw,nosuid,nodev,noexec,relatime shared:" + std::to_string(id) + " - " + one.type +
            " " + (one.source.empty() ? one.type : one.source) + " " + one.super_options + "\n";
  }
  to.write("proc/" + std::string(pid) + "/mountinfo", text);
}

void set_cgroup_v2(const Tree& to, std::string_view group,
                   const std::map<std::string, std::string>& files) {
  write_all(to, below("sys/fs/cgroup", group), files);
}

void set_cgroup_v1(const Tree& to, std::string_view controller, std::string_view group,
                   const std::map<std::string, std::string>& files) {
  write_all(to, below("sys/fs/cgroup/" + std::string(controller), group), files);
}

}  // namespace hmn_fake
