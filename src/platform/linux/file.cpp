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

bool visit_all(std::span<const char> entries, EntryVisitor visit) {
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
int list_entries(int from, EntryVisitor visit) {
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, from, entries, sizeof entries);
    if (got < 0) return errno;
    if (got == 0 || !visit_all({entries, static_cast<size_t>(got)}, visit)) return 0;
  }
}

// Avoids hanging on a descriptor that leads to a dead network mount: AT_STATX_DONT_SYNC never
// contacts the server (Linux 4.11).
ErrnoOr<FileStatus> status_at(int at, const char* name) noexcept {
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

// A direct system call: ThreadSanitizer would report a race with the readers of the descriptor.
bool redirect(int to, int from) noexcept {
  return syscall(SYS_dup3, from, to, O_CLOEXEC) >= 0;
}

}  // namespace hmn::platform
