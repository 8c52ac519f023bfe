// SPDX-License-Identifier: MIT OR Apache-2.0
#include "crowd.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace bench {
namespace {

// The loader, which binds a function at its first call, saves all registers there.
constexpr std::size_t stack_size = 16384;

constexpr int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};

// Shares the parent's memory, so only system calls are allowed. Also ends if the parent died before
// the death signal was set, or if a signal wakes it.
int wait_for_end(void* parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != static_cast<pid_t>(reinterpret_cast<std::intptr_t>(parent))) return 0;
  syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
  return 0;
}

// When a process ends while thousands share its memory, the kernel searches the next owner
// of that memory: so the members end first.
const std::vector<pid_t>* members = nullptr;

void end_members() {
  for (const pid_t pid : *members) kill(pid, SIGKILL);
  for (const pid_t pid : *members) waitpid(pid, nullptr, 0);
}

void end_at_signal(int number) {
  end_members();
  _exit(128 + number);
}

// Blocks signals while members are created, which inherit the mask: only the parent ends them.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigemptyset(&all);
    for (const int number : end_signals) sigaddset(&all, number);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  ~SignalBlock() {
    struct sigaction action = {};
    action.sa_handler = end_at_signal;
    sigfillset(&action.sa_mask);
    for (const int number : end_signals) sigaction(number, &action, nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
};

// Limits the count so that half of the system's PIDs stay free.
int limit_members(int count) {
  long pids = 0;
  if (FILE* const file = std::fopen("/proc/sys/kernel/pid_max", "re")) {
    if (std::fscanf(file, "%ld", &pids) != 1) pids = 0;
    std::fclose(file);
  }
  rlimit own = {};
  getrlimit(RLIMIT_NPROC, &own);
  if (own.rlim_cur != RLIM_INFINITY) pids = std::min(pids, static_cast<long>(own.rlim_cur));
  return static_cast<int>(std::min<long>(count, pids / 2));
}

std::vector<int> open_descriptors(int count) {
  std::vector<int> all;
  int pair[2];
  for (int i = 0; i < count; ++i) {
    switch (i % 4) {
      case 0:
        all.push_back(open("/etc/passwd", O_RDONLY));
        break;
      case 1:
        all.push_back(open("/dev/null", O_RDWR));
        break;
      case 2:
        if (pipe(pair) != 0) return all;
        close(pair[1]);
        all.push_back(pair[0]);
        break;
      default:
        all.push_back(socket(AF_UNIX, SOCK_STREAM, 0));
    }
  }
  return all;
}

void close_all(const std::vector<int>& all) {
  for (const int fd : all) close(fd);
}

}  // namespace

Crowd::Crowd(int count, int descriptors, int clients, const char* device)
    : stacks_(new char[static_cast<std::size_t>(count) * stack_size]) {
  if (limit_members(count) < count) return;
  members = &pids_;
  pids_.reserve(static_cast<std::size_t>(count));
  const SignalBlock block;
  void* const parent = reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid()));
  constexpr int standard = 3;
  const std::vector<int> usual = open_descriptors(descriptors - standard);
  for (int i = 0; i < count; ++i) {
    // The next open reuses the closed number.
    const bool is_client = i * clients / count != (i + 1) * clients / count;
    if (is_client) close(usual.back());
    const int node = is_client ? open(device, O_RDWR) : -1;
    char* const top = stacks_.get() + (static_cast<std::size_t>(i) + 1) * stack_size;
    const pid_t pid = clone(wait_for_end, top, CLONE_VM | SIGCHLD, parent);
    if (is_client) {
      close(node);
      (void)!open("/etc/passwd", O_RDONLY);
    }
    if (pid < 0) break;
    pids_.push_back(pid);
  }
  close_all(usual);
}

Crowd::~Crowd() {
  const SignalBlock block;
  end_members();
  pids_.clear();
}

}  // namespace bench
