// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/describe.hpp"

#include <array>
#include <span>

#include "model/error_number.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"
#include "platform/file.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"
#include "procfs/workload.hpp"

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
  if (is_gone(error)) return name_state::exited;
  return is_refused(error) ? name_state::protected_process : name_state::unknown;
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

describer::describer(const std::string& root, std::size_t page_size, procfs::boot_time& boot,
                     procfs::boot_id& id)
    : root_(root),
      page_size_(page_size),
      boot_(boot),
      id_(id),
      proc_(platform::directory::open(root.c_str())) {}

std::string_view describer::read(proc_path& path, std::string_view file, std::span<char> buffer) {
  const auto got = proc_.value.read_small(path.to(file), buffer);
  return {buffer.data(), got ? got.value : 0};
}

void describer::name(proc_path& path, const stat& s, usage& row) {
  row.name_state = s.is_kernel_thread() ? name_state::kernel : name_state::resolved;
  if (s.is_kernel_thread()) return;
  std::array<char, 4096> cmdline;
  std::string_view full = s.comm;
  if (s.comm.size() >= longest_comm) full = full_name(s.comm, read(path, "cmdline", cmdline));
  row.name.clear();
  append_utf8(row.name, full);
  if (row.name.empty()) row.name_state = name_state::unknown;
}

void describer::describe(usage& row, function_ref<bool(usage&)> recall) {
  if (row.pid == 0) return;
  if (!proc_) {
    // Without the tree no process is known to have exited.
    const name_state why = state_of(proc_.error);
    if (row.name_state == name_state::unknown && why != name_state::exited) row.name_state = why;
    return;
  }
  proc_path path("", pid_name(row.pid).view(), "");
  if (!is_complete(row)) identify(path, row);
  if (!recall(row)) add_texts(path, row);
}

void describer::identify(proc_path& path, usage& row) {
  std::array<char, 2048> buffer;
  const auto got = proc_.value.read_small(path.to("stat"), buffer);
  if (!got) {
    if (row.name_state == name_state::unknown) row.name_state = state_of(got.error);
    return;
  }
  const auto s = parse_stat({buffer.data(), got.value});
  if (!s) return;
  if (row.name_state == name_state::unknown) name(path, *s, row);
  if (!row.start_unix_ns) row.start_unix_ns = boot_.unix_ns(root_, s->starttime);
  if (!row.process_key) row.process_key = id_.key_of(root_, *s);
  measure(*s, page_size_, row);
  if (row.uid) return;
  const auto folder = proc_.value.status_of(path.to(""));
  if (folder) row.uid = folder.value.owner;
}

void describer::add_texts(proc_path& path, usage& row) {
  std::array<char, 16384> buffer;
  // Limit of Linux before 4.2.
  constexpr std::size_t longest_command = 4096;
  if (row.command.empty()) {
    const std::string_view cmdline =
        read(path, "cmdline", std::span(buffer).first(longest_command));
    append_command(row.command, cmdline, cmdline.size() == longest_command);
  }
  if (!row.container.empty()) return;
  const std::string_view groups = read(path, "cgroup", buffer);
  if (groups != groups_) {
    groups_ = groups;
    container_.clear();
    const container in = parse_container(groups);
    if (!in.empty()) append_container(container_, in);
  }
  row.container = container_;
}

}  // namespace hmn::os
