// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/process.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/cgroup.hpp"
#include "procfs/process.hpp"

// The same numbers on all architectures; glibc has them since 2.31.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace hmn::cli {
namespace {

constexpr SignalChoice choices[] = {
    {SIGTERM, "TERM", "asks it to end"},
    {SIGINT, "INT", "as Ctrl-C does"},
    {SIGHUP, "HUP", "as a closed terminal does"},
    {SIGKILL, "KILL", "ends it at once"},
    {SIGSTOP, "STOP", "pauses it"},
    {SIGCONT, "CONT", "lets it continue"},
    {SIGUSR1, "USR1", "by the program's own use"},
    {SIGUSR2, "USR2", "by the program's own use"},
};

// File descriptor of a process.
class ProcessDescriptor {
 public:
  explicit ProcessDescriptor(std::uint32_t pid)
      : file_(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0))) {}
  ProcessDescriptor(const ProcessDescriptor&) = delete;
  ProcessDescriptor& operator=(const ProcessDescriptor&) = delete;
  ~ProcessDescriptor() {
    if (file_ >= 0) close(file_);
  }

  bool is_open() const { return file_ >= 0; }
  bool has_ended() const {
    pollfd poll_entry{file_, POLLIN, 0};
    return poll(&poll_entry, 1, 0) != 0;
  }
  bool send(int number) const {
    return syscall(SYS_pidfd_send_signal, file_, number, nullptr, 0) == 0;
  }

 private:
  int file_;
};

std::string describe_error(int error) {
  if (error == ESRCH) return "the process has ended";
  if (error == ENOSYS) return "needs Linux 5.3";
  return std::strerror(error);
}

}  // namespace

std::optional<std::uint32_t> find_namespace_pid(std::uint32_t pid) {
  const auto text = read_text_file(fmt::format("{}/{}/status", read_roots().proc, pid));
  const auto pids = procfs::parse_namespace_pids(text.value_or(""));
  return pids.empty() ? std::nullopt : std::optional(pids.back());
}

std::optional<std::uint64_t> read_process_cpu_ns(const Roots& roots, std::uint32_t pid) {
  std::array<char, 4096> buffer;
  const auto path = fmt::format("{}/{}/stat", roots.proc, pid);
  const auto length = platform::read_small(path.c_str(), buffer);
  if (!length) return std::nullopt;
  const auto ticks = procfs::parse_processor_ticks({buffer.data(), length.value});
  if (!ticks) return std::nullopt;
  return *ticks * (std::uint64_t{1'000'000'000} / platform::clock_ticks_per_second());
}

std::span<const SignalChoice> list_signal_choices() {
  return choices;
}

std::optional<std::string> send_signal(std::uint32_t pid, int number,
                                       const std::function<bool()>& is_same) {
  const ProcessDescriptor process(pid);
  if (!process.is_open()) return describe_error(errno);
  if (!is_same()) return "the process has ended, and its pid is another one's now";
  // The pid still belonged to the descriptor's process, unless that has ended by now.
  if (process.has_ended()) return describe_error(ESRCH);
  if (!process.send(number)) return describe_error(errno);
  return std::nullopt;
}

std::optional<procfs::Workload> read_process_workload(std::uint32_t pid) {
  const auto text = read_text_file(fmt::format("{}/{}/cgroup", read_roots().proc, pid));
  const bool is_read =
      text && !text->empty() && !procfs::parse_cgroup_membership(*text).is_malformed;
  return is_read ? std::optional(procfs::parse_workload(*text)) : std::nullopt;
}

}  // namespace hmn::cli
