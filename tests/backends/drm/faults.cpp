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

int calls_left = -1;
int error_code = 0;
bool is_torn = false;
bool has_fired = false;
int ended_fd = -1;  // descriptor at its end of file

bool count_down() {
  if (calls_left < 0) return false;
  if (calls_left-- != 0) return false;
  has_fired = true;
  return true;
}

bool should_fail() {
  if (is_torn || !count_down()) return false;
  errno = error_code;
  return true;
}

template <class F>
F find_real(F, const char* name) {
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

void arm(int index, int error) {
  calls_left = index;
  error_code = error;
  is_torn = has_fired = false;
}

void arm_torn(int index) {
  arm(index, 0);
  is_torn = true;
}

bool disarm() {
  calls_left = ended_fd = -1;
  return has_fired;
}

}  // namespace faults

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (should_fail()) return -1;
  return find_real(open, "open")(path, flags, mode);
}

int openat(int folder_fd, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (should_fail()) return -1;
  return find_real(openat, "openat")(folder_fd, path, flags, mode);
}

ssize_t read(int fd, void* buffer, size_t size) {
  if (fd == ended_fd) return 0;
  if (should_fail()) return -1;
  const bool tears = is_torn && calls_left >= 0 && is_fdinfo(fd) && count_down();
  const ssize_t length = find_real(read, "read")(fd, buffer, size);
  if (!tears) return length;
  ended_fd = fd;
  return length / 2;
}

ssize_t readlinkat(int folder_fd, const char* path, char* buffer, size_t size) noexcept {
  if (should_fail()) return -1;
  return find_real(readlinkat, "readlinkat")(folder_fd, path, buffer, size);
}

int statx(int folder_fd, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  if (should_fail()) return -1;
  return find_real(statx, "statx")(folder_fd, path, flags, mask, out);
}

long syscall(long number, ...) noexcept {
  va_list arguments;
  va_start(arguments, number);
  long words[6];
  for (long& word : words) word = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_getdents64 && should_fail()) return -1;
  return find_real(syscall, "syscall")(number, words[0], words[1], words[2], words[3], words[4],
                                       words[5]);
}
}
