// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "platform/posix/file.hpp"

namespace hmn::platform {
namespace {

struct CloseStream {
  void operator()(DIR* stream) const noexcept { closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseStream>;

DirectoryStream stream_over(int from) noexcept {
  Descriptor own(fcntl(from, F_DUPFD_CLOEXEC, 0));
  DirectoryStream made(own ? fdopendir(own.get()) : nullptr);
  if (made) own.release();
  return made;
}

}  // namespace

// There is no O_PATH, so the folder must be readable.
int open_base(const char* path) noexcept {
  return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int list_entries(int from, EntryVisitor visit) {
  const DirectoryStream stream = stream_over(from);
  if (!stream) return errno;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(stream.get());
    if (entry == nullptr) return errno;
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !visit(name)) return 0;
  }
}

ErrnoOr<FileStatus> status_at(int at, const char* name) noexcept {
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

// There is no dup3: a program that the host starts between the two steps can read the same input.
bool redirect(int to, int from) noexcept {
  if (dup2(from, to) < 0) return false;
  fcntl(to, F_SETFD, FD_CLOEXEC);
  return true;
}

}  // namespace hmn::platform
