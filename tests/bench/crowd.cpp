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

constexpr int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};

// Memory is the parent's: nothing but system calls. One whose parent died before it listened for
// that ends too, and so does one that a signal wakes.
int wait_for_the_end(void* parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != static_cast<pid_t>(reinterpret_cast<std::intptr_t>(parent))) return 0;
  syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
  return 0;
}

// A process that ends while thousands share its memory costs the kernel a search for the next owner
// of it, and so does each of these after it: they go first.
const std::vector<pid_t>* members = nullptr;

void end_members() {
  for (const pid_t pid : *members) kill(pid, SIGKILL);
  for (const pid_t pid : *members) waitpid(pid, nullptr, 0);
}

void end_at_signal(int number) {
  end_members();
  _exit(128 + number);
}

// Held back while the members are made, who inherit that: only the parent ends them.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t all;
    sigemptyset(&all);
    for (const int number : ends) sigaddset(&all, number);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    struct sigaction how = {};
    how.sa_handler = end_at_signal;
    sigfillset(&how.sa_mask);
    for (const int number : ends) sigaction(number, &how, nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
};

// As many as leave the system half of its pids.
int most_members(int wanted) {
  long pids = 0;
  if (FILE* const from = std::fopen("/proc/sys/kernel/pid_max", "re")) {
    if (std::fscanf(from, "%ld", &pids) != 1) pids = 0;
    std::fclose(from);
  }
  rlimit own = {};
  getrlimit(RLIMIT_NPROC, &own);
  if (own.rlim_cur != RLIM_INFINITY) pids = std::min(pids, static_cast<long>(own.rlim_cur));
  return static_cast<int>(std::min<long>(wanted, pids / 2));
}

std::vector<int> open_usual(int count) {
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
  if (most_members(count) < count) return;
  members = &pids_;
  pids_.reserve(static_cast<std::size_t>(count));
  const HeldSignals held;
  void* const parent = reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid()));
  constexpr int standard = 3;
  const std::vector<int> usual = open_usual(descriptors - standard);
  for (int i = 0; i < count; ++i) {
    // A closed number is the next that is given.
    const bool is_client = i * clients / count != (i + 1) * clients / count;
    if (is_client) close(usual.back());
    const int node = is_client ? open(device, O_RDWR) : -1;
    char* const top = stacks_.get() + (static_cast<std::size_t>(i) + 1) * stack_size;
    const pid_t pid = clone(wait_for_the_end, top, CLONE_VM | SIGCHLD, parent);
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
  const HeldSignals held;
  end_members();
  pids_.clear();
}

}  // namespace bench
