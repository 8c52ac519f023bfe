// SPDX-License-Identifier: MIT OR Apache-2.0
#include "open_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace hmn_fake {

OpenWatch::OpenWatch(const std::string& path) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (fd_ >= 0 && inotify_add_watch(fd_, path.c_str(), IN_OPEN) >= 0) return;
  const int why = errno;
  if (fd_ >= 0) close(fd_);
  throw std::system_error(why, std::generic_category(), path);
}

OpenWatch::~OpenWatch() {
  close(fd_);
}

std::vector<std::string> OpenWatch::opened() {
  std::vector<std::string> out;
  char buffer[4096];
  for (;;) {
    const auto got = read(fd_, buffer, sizeof buffer);
    if (got <= 0) return out;
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      out.emplace_back(event.len ? buffer + at + sizeof event : "");
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

}  // namespace hmn_fake
