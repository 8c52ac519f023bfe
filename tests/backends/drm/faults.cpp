// SPDX-License-Identifier: MIT OR Apache-2.0
#include "faults.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace {

int left = -1;
int error_now = 0;
bool is_torn = false;
bool has_fired = false;
int ended = -1;  // a descriptor that gives nothing more

bool counts_down() {
  if (left < 0) return false;
  if (left-- != 0) return false;
  has_fired = true;
  return true;
}

bool fails() {
  if (is_torn || !counts_down()) return false;
  errno = error_now;
  return true;
}

template <class F>
F real(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

bool is_fdinfo(int fd) {
  char link[64];
  char target[512];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = ::syscall(SYS_readlink, link, target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)).find("fdinfo") !=
                           std::string_view::npos;
}

}  // namespace

namespace faults {

void arm(int n, int error) {
  left = n;
  error_now = error;
  is_torn = has_fired = false;
}

void arm_torn(int n) {
  arm(n, 0);
  is_torn = true;
}

bool disarm() {
  left = ended = -1;
  return has_fired;
}

}  // namespace faults

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (fails()) return -1;
  return real(open, "open")(path, flags, mode);
}

int openat(int at, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (fails()) return -1;
  return real(openat, "openat")(at, path, flags, mode);
}

ssize_t read(int fd, void* buffer, size_t size) {
  if (fd == ended) return 0;
  if (fails()) return -1;
  const bool tears = is_torn && left >= 0 && is_fdinfo(fd) && counts_down();
  const ssize_t got = real(read, "read")(fd, buffer, size);
  if (!tears) return got;
  ended = fd;
  return got / 2;
}

ssize_t readlinkat(int at, const char* path, char* buffer, size_t size) noexcept {
  if (fails()) return -1;
  return real(readlinkat, "readlinkat")(at, path, buffer, size);
}

int statx(int at, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  if (fails()) return -1;
  return real(statx, "statx")(at, path, flags, mask, out);
}

long syscall(long number, ...) noexcept {
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& word : a) word = va_arg(more, long);
  va_end(more);
  if (number == SYS_getdents64 && fails()) return -1;
  return real(syscall, "syscall")(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}
