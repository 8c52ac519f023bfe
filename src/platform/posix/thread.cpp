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
constexpr size_t max_stack_size = size_t{16} << 20;
constexpr size_t name_size = 16;  // prctl(2), PR_SET_NAME; macOS takes 64

struct ThreadStart {
  void (*entry)(void*);
  void* argument;
  char name[name_size];
};

extern "C" {
static void* run_start(void* argument) {
  const std::unique_ptr<ThreadStart> owner(static_cast<ThreadStart*>(argument));
  const ThreadStart start = *owner;
  name_own_thread(start.name);
  start.entry(start.argument);
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

int create_thread(ThreadStart* start) noexcept {
  Attributes attributes;
  if (attributes.error() != 0) return attributes.error();
  pthread_attr_setdetachstate(attributes.get(), PTHREAD_CREATE_DETACHED);
  const long min_size = sysconf(_SC_THREAD_STACK_MIN);
  size_t size = std::max(stack_size, min_size > 0 ? static_cast<size_t>(min_size) : 0);
  int error = EINVAL;
  // glibc takes the program's static TLS out of the stack and returns EINVAL when it does not fit.
  for (; error == EINVAL && size <= max_stack_size; size *= 2) {
    pthread_attr_setstacksize(attributes.get(), size);
    pthread_t thread;
    error = pthread_create(&thread, attributes.get(), run_start, start);
  }
  return error;
}

}  // namespace

int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept {
  std::unique_ptr<ThreadStart> start(new (std::nothrow) ThreadStart{entry, argument, {}});
  if (!start) return ENOMEM;
  std::strncpy(start->name, name, name_size - 1);
  stay_loaded();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = create_thread(start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) static_cast<void>(start.release());
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
  struct stat info;
  if (fstat(ends[0], &info) != 0) {
    const int error = errno;
    ::close(ends[0]);
    if (ends[1] != ends[0]) ::close(ends[1]);
    return error;
  }
  native_ = ends[0];
  writer_ = ends[1];
  device_ = static_cast<std::uint64_t>(info.st_dev);
  inode_ = info.st_ino;
  return 0;
}

// Writes at most one word, and only if the descriptor is still its own: a program may close all
// descriptors and open others.
void ReadyEvent::set(bool ready) noexcept {
  if (!exists() || is_set_ == ready) return;
  if (!is_same_file(static_cast<int>(native_), device_, inode_)) return;
  std::uint64_t word = 1;
  const ssize_t size = ready ? ::write(writer_, &word, sizeof word)
                             : ::read(static_cast<int>(native_), &word, sizeof word);
  is_set_ = size >= 0 ? ready : is_set_;
}

void ReadyEvent::close() noexcept {
  if (exists() && is_same_file(static_cast<int>(native_), device_, inode_)) {
    ::close(static_cast<int>(native_));
    if (writer_ != native_) ::close(writer_);
  }
  native_ = -1;
}

}  // namespace hmn::platform
