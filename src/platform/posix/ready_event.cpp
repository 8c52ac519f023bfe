// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/ready_event.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform/posix/event_ends.hpp"
#include "platform/posix/file_at.hpp"

namespace hmn::platform {

int ready_event::create() noexcept {
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

// Writes no more than one word, and only to what is still its own: a program may close all
// descriptors and open others.
void ready_event::set(bool ready) noexcept {
  if (!exists() || is_set_ == ready) return;
  if (!is_same_file(static_cast<int>(native_), device_, inode_)) return;
  std::uint64_t word = 1;
  const ssize_t done = ready ? ::write(writer_, &word, sizeof word)
                             : ::read(static_cast<int>(native_), &word, sizeof word);
  is_set_ = done >= 0 ? ready : is_set_;
}

void ready_event::close() noexcept {
  if (exists() && is_same_file(static_cast<int>(native_), device_, inode_)) {
    ::close(static_cast<int>(native_));
    if (writer_ != native_) ::close(writer_);
  }
  native_ = -1;
}

}  // namespace hmn::platform
