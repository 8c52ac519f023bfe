// SPDX-License-Identifier: MIT OR Apache-2.0
#include "syscall_trace.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {
namespace {

// Marks the beginning and the end of the body.
constexpr long marker = SYS_getppid;

void run_traced(const std::function<void()>& prepare, const std::function<void()>& body) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
  raise(SIGSTOP);
  prepare();
  syscall(marker);
  body();
  syscall(marker);
  _exit(0);
}

long read_entered_call(pid_t child) {
  __ptrace_syscall_info info{};
  void* size = reinterpret_cast<void*>(sizeof info);
  if (ptrace(PTRACE_GET_SYSCALL_INFO, child, size, &info) <= 0) return -1;
  return info.op == PTRACE_SYSCALL_INFO_ENTRY ? static_cast<long>(info.entry.nr) : -1;
}

}  // namespace

std::optional<std::vector<long>> trace_system_calls(const std::function<void()>& prepare,
                                                    const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) run_traced(prepare, body);
  std::vector<long> calls;
  int markers = 0;
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const long call = read_entered_call(child);
    if (call == marker) ++markers;
    if (call >= 0 && call != marker && markers == 1) calls.push_back(call);
  }
  if (markers != 2) return std::nullopt;
  return calls;
}

}  // namespace test
