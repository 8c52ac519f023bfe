// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "fake_tree.hpp"

namespace hmn_fake {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  std::va_list measured, written;
  va_start(measured, pattern);
  va_copy(written, measured);
  const int length = std::vsnprintf(nullptr, 0, pattern, measured);
  va_end(measured);
  std::string out(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(out.data(), out.size(), pattern, written);
  va_end(written);
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

std::string folder_of(std::uint32_t pid) {
  return "proc/" + std::to_string(pid) + "/";
}

void write_if(const Tree& to, const std::string& at, const std::optional<std::string>& text) {
  if (text) to.write(at, *text);
}

}  // namespace

// Fields 1 to 52 of proc(5); those without a member are 0.
std::string text_of(std::uint32_t pid, const StatLine& v) {
  return format("%u (%s) %c %u %u %u 0 -1 %u 0 0 0 0 %" PRIu64 " %" PRIu64 " 0 0 20 0 %u 0 %" PRIu64
                " %" PRIu64 " %" PRId64
                " 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                pid, v.comm.c_str(), v.state, v.parent, pid, pid, v.flags, v.user_ticks,
                v.system_ticks, v.threads, v.start_ticks, v.virtual_bytes, v.resident_pages);
}

std::string text_of(const StatmLine& v) {
  return format("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " 0\n", v.size,
                v.resident, v.shared, v.text, v.data);
}

std::string text_of(const StatusText& v) {
  std::string out = format("Name:\t%s\nUmask:\t0022\nState:\t%c (%s)\nTgid:\t%u\nNgid:\t0\n",
                           v.name.c_str(), v.state, state_name(v.state), v.tgid);
  out += format("Pid:\t%u\nPPid:\t%u\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\n", v.tgid, v.ppid, v.uid,
                v.uid, v.uid, v.uid);
  if (!v.namespace_pids.empty()) {
    out += "NSpid:";
    for (const auto pid : v.namespace_pids) out += format("\t%u", pid);
    out += "\n";
  }
  out += kib_line("VmPeak", v.peak) + kib_line("VmSize", v.size) + kib_line("VmHWM", v.high_water);
  out += kib_line("VmRSS", v.resident) + kib_line("RssAnon", v.anonymous);
  out += kib_line("RssFile", v.file) + kib_line("RssShmem", v.shared);
  out += kib_line("VmPTE", v.page_tables) + kib_line("VmSwap", v.swap);
  return out + format("Threads:\t%u\n", v.threads);
}

std::string text_of(const SmapsRollupText& v) {
  std::string out =
      "00400000-ff709000 ---p 00000000 00:00 0                                  [rollup]\n";
  out += rollup_line("Rss", v.rss) + rollup_line("Pss", v.pss);
  out += rollup_line("Pss_Anon", v.pss_anon) + rollup_line("Pss_File", v.pss_file);
  out += rollup_line("Pss_Shmem", v.pss_shmem) + rollup_line("Shared_Clean", v.shared_clean);
  out += rollup_line("Shared_Dirty", v.shared_dirty);
  out += rollup_line("Private_Clean", v.private_clean);
  out += rollup_line("Private_Dirty", v.private_dirty) + rollup_line("Anonymous", v.anonymous);
  return out + rollup_line("Swap", v.swap) + rollup_line("SwapPss", v.swap_pss);
}

void add_process(const Tree& to, const Process& v) {
  const auto folder = folder_of(v.pid);
  to.directory(folder + "fd");
  write_if(to, folder + "comm", v.comm);
  write_if(to, folder + "cmdline", v.cmdline);
  write_if(to, folder + "stat", v.stat);
  write_if(to, folder + "statm", v.statm);
  write_if(to, folder + "status", v.status);
  write_if(to, folder + "smaps_rollup", v.smaps_rollup);
  write_if(to, folder + "cgroup", v.cgroup);
  write_if(to, folder + "environ", v.environ);
  for (const auto& [number, target] : v.descriptors)
    to.link(folder + "fd/" + std::to_string(number), target);
  for (const auto& [number, text] : v.fdinfo)
    to.write(folder + "fdinfo/" + std::to_string(number), text);
  if (v.executable) to.link(folder + "exe", *v.executable);
  if (v.pid_namespace) set_pid_namespace(to, v.pid, *v.pid_namespace);
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
  out.stat = text_of(pid, stat);
  out.statm = text_of(StatmLine{resident_pages * 2, resident_pages, 0, 0, 0});
  out.status = text_of(status);
  return out;
}

void set_self(const Tree& to, std::uint32_t pid) {
  to.link("proc/self", std::to_string(pid));
}

void set_host_namespace(const Tree& to) {
  to.link("proc/self/ns/pid", "pid:[4026531836]");
}

void set_pid_namespace(const Tree& to, std::uint32_t pid, std::uint64_t inode) {
  to.link(folder_of(pid) + "ns/pid", "pid:[" + std::to_string(inode) + "]");
}

}  // namespace hmn_fake
