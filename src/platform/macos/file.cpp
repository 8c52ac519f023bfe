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

DirectoryStream open_stream(int folder) noexcept {
  Descriptor duplicate(fcntl(folder, F_DUPFD_CLOEXEC, 0));
  DirectoryStream stream(duplicate ? fdopendir(duplicate.get()) : nullptr);
  if (stream) duplicate.release();
  return stream;
}

}  // namespace

// There is no O_PATH, so the folder must be readable.
int open_base(const char* path) noexcept {
  return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int list_entries(int folder, EntryVisitor visit) {
  const DirectoryStream stream = open_stream(folder);
  if (!stream) return errno;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(stream.get());
    if (entry == nullptr) return errno;
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !visit(name)) return 0;
  }
}

ErrnoOr<FileStatus> read_status_at(int folder, const char* name) noexcept {
  struct stat info;
  if (fstatat(folder, name, &info, 0) != 0) return {{}, errno};
  const auto special = static_cast<uint32_t>(info.st_rdev);
  return {{.device = static_cast<uint64_t>(info.st_dev),
           .inode = info.st_ino,
           .special_device_major = static_cast<uint64_t>(major(special)),
           .special_device_minor = static_cast<uint64_t>(minor(special)),
           .size = static_cast<uint64_t>(info.st_size),
           .owner = info.st_uid,
           .is_directory = S_ISDIR(info.st_mode),
           .is_character_device = S_ISCHR(info.st_mode)},
          0};
}

// There is no dup3: a program that the host starts between the two steps can read the same input.
bool redirect(int target, int source) noexcept {
  if (dup2(source, target) < 0) return false;
  fcntl(target, F_SETFD, FD_CLOEXEC);
  return true;
}

}  // namespace hmn::platform
