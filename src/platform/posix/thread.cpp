// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/thread.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "platform/posix/file.hpp"
#include "platform/thread.hpp"

namespace hmn::platform {
namespace {

constexpr size_t stack_size = size_t{512} << 10;
constexpr size_t largest_stack = size_t{16} << 20;
constexpr size_t name_size = 16;  // prctl(2), PR_SET_NAME; macOS takes 64

struct Start {
  void (*entry)(void*);
  void* argument;
  char name[name_size];
};

extern "C" {
static void* run_start(void* given) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(given));
  const Start now = *owned;
  name_own_thread(now.name);
  now.entry(now.argument);
  return nullptr;
}
}

class Attributes {
 public:
  Attributes() noexcept : error_(pthread_attr_init(&value_)) {}
  Attributes(const Attributes&) = delete;
  ~Attributes() {
    if (error_ == 0) pthread_attr_destroy(&value_);
  }
  int error() const noexcept { return error_; }
  pthread_attr_t* get() noexcept { return &value_; }

 private:
  pthread_attr_t value_;
  int error_;
};

int create(Start* what) noexcept {
  Attributes given;
  if (given.error() != 0) return given.error();
  pthread_attr_setdetachstate(given.get(), PTHREAD_CREATE_DETACHED);
  const long least = sysconf(_SC_THREAD_STACK_MIN);
  size_t size = std::max(stack_size, least > 0 ? static_cast<size_t>(least) : 0);
  int error = EINVAL;
  // glibc takes the program's static TLS out of the stack and returns EINVAL when it does not fit.
  for (; error == EINVAL && size <= largest_stack; size *= 2) {
    pthread_attr_setstacksize(given.get(), size);
    pthread_t thread;
    error = pthread_create(&thread, given.get(), run_start, what);
  }
  return error;
}

}  // namespace

int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept {
  std::unique_ptr<Start> what(new (std::nothrow) Start{entry, argument, {}});
  if (!what) return ENOMEM;
  std::strncpy(what->name, name, name_size - 1);
  stay_loaded();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = create(what.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) static_cast<void>(what.release());
  return error;
}

NoCancel::NoCancel() noexcept : errno_(errno), state_(PTHREAD_CANCEL_ENABLE) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
}

NoCancel::~NoCancel() {
  pthread_setcancelstate(state_, nullptr);
  errno = errno_;
}

int ReadyEvent::create() noexcept {
  int ends[2];
  if (const int error = open_event(ends)) return error;
  struct stat made;
  if (fstat(ends[0], &made) != 0) {
    const int error = errno;
    ::close(ends[0]);
    if (ends[1] != ends[0]) ::close(ends[1]);
    return error;
  }
  native_ = ends[0];
  writer_ = ends[1];
  device_ = static_cast<std::uint64_t>(made.st_dev);
  inode_ = made.st_ino;
  return 0;
}

// Writes at most one word, and only if the descriptor is still its own: a program may close all
// descriptors and open others.
void ReadyEvent::set(bool ready) noexcept {
  if (!exists() || is_set_ == ready) return;
  if (!is_same_file(static_cast<int>(native_), device_, inode_)) return;
  std::uint64_t word = 1;
  const ssize_t done = ready ? ::write(writer_, &word, sizeof word)
                             : ::read(static_cast<int>(native_), &word, sizeof word);
  is_set_ = done >= 0 ? ready : is_set_;
}

void ReadyEvent::close() noexcept {
  if (exists() && is_same_file(static_cast<int>(native_), device_, inode_)) {
    ::close(static_cast<int>(native_));
    if (writer_ != native_) ::close(writer_);
  }
  native_ = -1;
}

}  // namespace hmn::platform
