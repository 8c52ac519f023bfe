// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "fake_tree.hpp"

namespace hmn_fake {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  std::va_list first_pass, second_pass;
  va_start(first_pass, pattern);
  va_copy(second_pass, first_pass);
  const int length = std::vsnprintf(nullptr, 0, pattern, first_pass);
  va_end(first_pass);
  std::string out(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(out.data(), out.size(), pattern, second_pass);
  va_end(second_pass);
  out.pop_back();
  return out;
}

const char* state_name(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "disk sleep";
    case 'T':
      return "stopped";
    case 't':
      return "tracing stop";
    case 'Z':
      return "zombie";
    case 'X':
      return "dead";
    case 'I':
      return "idle";
    default:
      return "unknown";
  }
}

std::string kib_line(const char* name, const std::optional<std::uint64_t>& kib) {
  return kib ? format("%s:\t%8" PRIu64 " kB\n", name, *kib) : "";
}

std::string rollup_line(const char* name, std::uint64_t kib) {
  return format("%-15s %8" PRIu64 " kB\n", (std::string(name) + ":").c_str(), kib);
}

std::string process_folder(std::uint32_t pid) {
  return "proc/" + std::to_string(pid) + "/";
}

void write_if(const Tree& tree, const std::string& path, const std::optional<std::string>& text) {
  if (text) tree.write(path, *text);
}

}  // namespace

// Fields 1 to 52 of proc(5); fields without a member are 0.
std::string format_text(std::uint32_t pid, const StatLine& values) {
  return format("%u (%s) %c %u %u %u 0 -1 %u 0 0 0 0 %" PRIu64 " %" PRIu64 " 0 0 20 0 %u 0 %" PRIu64
                " %" PRIu64 " %" PRId64
                " 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                pid, values.comm.c_str(), values.state, values.parent, pid, pid, values.flags,
                values.user_ticks, values.system_ticks, values.threads, values.start_ticks,
                values.virtual_bytes, values.resident_pages);
}

std::string format_text(const StatmLine& values) {
  return format("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " 0\n", values.size,
                values.resident, values.shared, values.text, values.data);
}

std::string format_text(const StatusText& values) {
  std::string out =
      format("Name:\t%s\nUmask:\t0022\nState:\t%c (%s)\nTgid:\t%u\nNgid:\t0\n", values.name.c_str(),
             values.state, state_name(values.state), values.tgid);
  out += format("Pid:\t%u\nPPid:\t%u\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\n", values.tgid,
                values.ppid, values.uid, values.uid, values.uid, values.uid);
  if (!values.namespace_pids.empty()) {
    out += "NSpid:";
    for (const auto pid : values.namespace_pids) out += format("\t%u", pid);
    out += "\n";
  }
  out += kib_line("VmPeak", values.peak) + kib_line("VmSize", values.size) +
         kib_line("VmHWM", values.high_water);
  out += kib_line("VmRSS", values.resident) + kib_line("RssAnon", values.anonymous);
  out += kib_line("RssFile", values.file) + kib_line("RssShmem", values.shared);
  out += kib_line("VmPTE", values.page_tables) + kib_line("VmSwap", values.swap);
  return out + format("Threads:\t%u\n", values.threads);
}

std::string format_text(const SmapsRollupText& values) {
  std::string out =
      "00400000-ff709000 ---p 00000000 00:00 0                                  [rollup]\n";
  out += rollup_line("Rss", values.rss) + rollup_line("Pss", values.pss);
  out += rollup_line("Pss_Anon", values.pss_anon) + rollup_line("Pss_File", values.pss_file);
  out +=
      rollup_line("Pss_Shmem", values.pss_shmem) + rollup_line("Shared_Clean", values.shared_clean);
  out += rollup_line("Shared_Dirty", values.shared_dirty);
  out += rollup_line("Private_Clean", values.private_clean);
  out += rollup_line("Private_Dirty", values.private_dirty) +
         rollup_line("Anonymous", values.anonymous);
  return out + rollup_line("Swap", values.swap) + rollup_line("SwapPss", values.swap_pss);
}

void add_process(const Tree& tree, const Process& values) {
  const auto folder = process_folder(values.pid);
  tree.directory(folder + "fd");
  write_if(tree, folder + "comm", values.comm);
  write_if(tree, folder + "cmdline", values.cmdline);
  write_if(tree, folder + "stat", values.stat);
  write_if(tree, folder + "statm", values.statm);
  write_if(tree, folder + "status", values.status);
  write_if(tree, folder + "smaps_rollup", values.smaps_rollup);
  write_if(tree, folder + "cgroup", values.cgroup);
  write_if(tree, folder + "environ", values.environ);
  for (const auto& [number, target] : values.descriptors)
    tree.link(folder + "fd/" + std::to_string(number), target);
  for (const auto& [number, text] : values.fdinfo)
    tree.write(folder + "fdinfo/" + std::to_string(number), text);
  if (values.executable) tree.link(folder + "exe", *values.executable);
  if (values.pid_namespace) set_pid_namespace(tree, values.pid, *values.pid_namespace);
}

Process simple_process(std::uint32_t pid, const std::string& comm, std::uint64_t start_ticks,
                       std::uint64_t resident_pages) {
  StatLine stat;
  stat.comm = comm;
  stat.start_ticks = start_ticks;
  stat.resident_pages = static_cast<std::int64_t>(resident_pages);
  stat.virtual_bytes = resident_pages * 2 * 4096;
  StatusText status;
  status.name = comm;
  status.tgid = pid;
  status.namespace_pids = {pid};
  status.resident = resident_pages * 4;
  Process out;
  out.pid = pid;
  out.comm = comm + "\n";
  out.cmdline = "/usr/bin/" + comm + std::string(1, '\0');
  out.stat = format_text(pid, stat);
  out.statm = format_text(StatmLine{resident_pages * 2, resident_pages, 0, 0, 0});
  out.status = format_text(status);
  return out;
}

void set_self(const Tree& tree, std::uint32_t pid) {
  tree.link("proc/self", std::to_string(pid));
}

void set_host_namespace(const Tree& tree) {
  tree.link("proc/self/ns/pid", "pid:[4026531836]");
}

void set_pid_namespace(const Tree& tree, std::uint32_t pid, std::uint64_t inode) {
  tree.link(process_folder(pid) + "ns/pid", "pid:[" + std::to_string(inode) + "]");
}

}  // namespace hmn_fake
