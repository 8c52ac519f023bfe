// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "platform/posix/file.hpp"

namespace hmn::platform {
namespace {

bool visit_entries(std::span<const char> entries, EntryVisitor visit) {
  while (!entries.empty()) {
    const auto* entry = reinterpret_cast<const dirent64*>(entries.data());
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !visit(name)) return false;
    entries = entries.subspan(entry->d_reclen);
  }
  return true;
}

}  // namespace

int open_base(const char* path) noexcept {
  return ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

// opendir would allocate.
int list_entries(int folder, EntryVisitor visit) {
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long size = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (size < 0) return errno;
    if (size == 0 || !visit_entries({entries, static_cast<size_t>(size)}, visit)) return 0;
  }
}

// Avoids hanging on a descriptor that leads to a dead network mount: AT_STATX_DONT_SYNC never
// contacts the server (Linux 4.11).
ErrnoOr<FileStatus> read_status_at(int folder, const char* name) noexcept {
  struct statx info;
  constexpr unsigned mask = STATX_TYPE | STATX_INO | STATX_UID | STATX_SIZE;
  if (statx(folder, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, mask, &info) != 0)
    return {{}, errno};
  return {{.device = makedev(info.stx_dev_major, info.stx_dev_minor),
           .inode = info.stx_ino,
           .special_device_major = info.stx_rdev_major,
           .special_device_minor = info.stx_rdev_minor,
           .size = info.stx_size,
           .owner = info.stx_uid,
           .is_directory = S_ISDIR(info.stx_mode),
           .is_character_device = S_ISCHR(info.stx_mode)},
          0};
}

// A direct system call: ThreadSanitizer would report a race with the readers of the descriptor.
bool redirect(int target, int source) noexcept {
  return syscall(SYS_dup3, source, target, O_CLOEXEC) >= 0;
}

}  // namespace hmn::platform
