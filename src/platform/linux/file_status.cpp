// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "platform/posix/file_at.hpp"

namespace hmn::platform {

// A descriptor of a process may lead to a network mount that hangs; AT_STATX_DONT_SYNC never asks
// its server (Linux 4.11).
errno_or<file_status> status_at(int at, const char* name) noexcept {
  struct statx found;
  constexpr unsigned wanted = STATX_TYPE | STATX_INO | STATX_UID | STATX_SIZE;
  if (statx(at, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, wanted, &found) != 0)
    return {{}, errno};
  return {{.device = makedev(found.stx_dev_major, found.stx_dev_minor),
           .inode = found.stx_ino,
           .special_device_major = found.stx_rdev_major,
           .special_device_minor = found.stx_rdev_minor,
           .size = found.stx_size,
           .owner = found.stx_uid,
           .is_directory = S_ISDIR(found.stx_mode),
           .is_character_device = S_ISCHR(found.stx_mode)},
          0};
}

}  // namespace hmn::platform
