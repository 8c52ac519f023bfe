// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/describe.hpp"

#include <array>
#include <cerrno>
#include <span>

#include "model/scan.hpp"
#include "model/text.hpp"
#include "platform/file.hpp"
#include "procfs/cmdline.hpp"
#include "procfs/container.hpp"
#include "procfs/path.hpp"
#include "procfs/pids.hpp"
#include "procfs/stat.hpp"

namespace hmn::os {
namespace {

using procfs::append_command;
using procfs::append_container;
using procfs::container;
using procfs::full_name;
using procfs::longest_comm;
using procfs::parse_container;
using procfs::parse_stat;
using procfs::pid_name;
using procfs::proc_path;
using procfs::stat;

name_state state_of(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH:
      return name_state::exited;
    case EACCES:
    case EPERM:
      return name_state::protected_process;
    default:
      return name_state::unknown;
  }
}

void name(proc_path& path, const stat& s, usage& row) {
  row.name_state = s.is_kernel_thread() ? name_state::kernel : name_state::resolved;
  if (s.is_kernel_thread()) return;
  std::array<char, 4096> cmdline;
  std::string_view full = s.comm;
  if (s.comm.size() >= longest_comm) {
    const auto got = platform::read_small(path.to("cmdline"), cmdline);
    full = full_name(s.comm, {cmdline.data(), got ? got.value : 0});
  }
  row.name.clear();
  append_utf8(row.name, full);
  if (row.name.empty()) row.name_state = name_state::unknown;
}

void measure(const stat& s, std::size_t page_size, usage& row) {
  if (row.host_resident || s.is_kernel_thread() || s.is_dead() || !s.rss) return;
  row.host_resident = scan::product(*s.rss, page_size);
}

bool is_complete(const usage& row) {
  return row.name_state != name_state::unknown && row.start_unix_ns && row.process_key && row.uid &&
         row.host_resident;
}

}  // namespace

void describe(std::string_view root, std::size_t page_size, procfs::boot_time& boot,
              procfs::boot_id& id, usage& row) {
  if (row.pid == 0 || is_complete(row)) return;
  proc_path path(root, pid_name(row.pid).view(), "stat");
  std::array<char, 2048> buffer;
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) {
    if (row.name_state == name_state::unknown) row.name_state = state_of(got.error);
    return;
  }
  const auto s = parse_stat({buffer.data(), got.value});
  if (!s) return;
  if (row.name_state == name_state::unknown) name(path, *s, row);
  if (!row.start_unix_ns) row.start_unix_ns = boot.unix_ns(root, s->starttime);
  if (!row.process_key) row.process_key = id.key_of(root, *s);
  measure(*s, page_size, row);
  if (row.uid) return;
  const auto folder = platform::status_of(path.to(""));
  if (folder) row.uid = folder.value.owner;
}

void describe_texts(std::string_view root, usage& row) {
  if (row.pid == 0) return;
  proc_path path(root, pid_name(row.pid).view(), "");
  std::array<char, 16384> buffer;
  const auto read = [&](std::string_view file, std::size_t most) -> std::string_view {
    const auto got = platform::read_small(path.to(file), std::span(buffer).first(most));
    return {buffer.data(), got ? got.value : 0};
  };
  // Limit of Linux before 4.2.
  constexpr std::size_t longest_command = 4096;
  if (row.command.empty()) {
    const std::string_view cmdline = read("cmdline", longest_command);
    append_command(row.command, cmdline, cmdline.size() == longest_command);
  }
  if (!row.container.empty()) return;
  const container in = parse_container(read("cgroup", buffer.size()));
  if (!in.empty()) append_container(row.container, in);
}

}  // namespace hmn::os
