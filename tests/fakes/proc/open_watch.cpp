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
  const int error = errno;
  if (fd_ >= 0) close(fd_);
  throw std::system_error(error, std::generic_category(), path);
}

OpenWatch::~OpenWatch() {
  close(fd_);
}

std::vector<std::string> OpenWatch::opened_names() {
  std::vector<std::string> names;
  char buffer[4096];
  for (;;) {
    const auto length = read(fd_, buffer, sizeof buffer);
    if (length <= 0) return names;
    for (ssize_t offset = 0; offset < length;) {
      inotify_event event;
      std::memcpy(&event, buffer + offset, sizeof event);
      names.emplace_back(event.len ? buffer + offset + sizeof event : "");
      offset += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

}  // namespace hmn_fake
