// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "platform/posix/file_at.hpp"

namespace hmn::platform {
namespace {

bool visit_all(std::span<const char> entries, entry_visitor visit) {
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
int list_entries(int from, entry_visitor visit) {
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, from, entries, sizeof entries);
    if (got < 0) return errno;
    if (got == 0 || !visit_all({entries, static_cast<size_t>(got)}, visit)) return 0;
  }
}

}  // namespace hmn::platform
