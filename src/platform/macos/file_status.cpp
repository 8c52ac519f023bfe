// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>

#include "platform/posix/file_at.hpp"

namespace hmn::platform {

errno_or<file_status> status_at(int at, const char* name) noexcept {
  struct stat found;
  if (fstatat(at, name, &found, 0) != 0) return {{}, errno};
  const auto special = static_cast<uint32_t>(found.st_rdev);
  return {{.device = static_cast<uint64_t>(found.st_dev),
           .inode = found.st_ino,
           .special_device_major = static_cast<uint64_t>(major(special)),
           .special_device_minor = static_cast<uint64_t>(minor(special)),
           .size = static_cast<uint64_t>(found.st_size),
           .owner = found.st_uid,
           .is_directory = S_ISDIR(found.st_mode),
           .is_character_device = S_ISCHR(found.st_mode)},
          0};
}

}  // namespace hmn::platform
