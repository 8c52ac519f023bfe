// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/file.hpp"
#include "platform/linux/descriptor.hpp"
#include "platform/linux/file_at.hpp"

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

int for_each_entry_at(int at, const char* name, entry_visitor visit) {
  const descriptor from(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!from) return errno;
  // opendir would allocate.
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, from.get(), entries, sizeof entries);
    if (got < 0) return errno;
    if (got == 0 || !visit_all({entries, static_cast<size_t>(got)}, visit)) return 0;
  }
}

}  // namespace

int for_each_entry(const char* path, entry_visitor visit) {
  return for_each_entry_at(AT_FDCWD, path, visit);
}

errno_or<directory> directory::open(const char* path) noexcept {
  const int opened = ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return {{}, errno};
  return {directory(opened), 0};
}

directory::directory(directory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

directory& directory::operator=(directory&& other) noexcept {
  directory before(std::move(other));
  std::swap(descriptor_, before.descriptor_);
  return *this;
}

directory::~directory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

errno_or<size_t> directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  return read_small_at(descriptor_, name, buffer);
}

errno_or<size_t> directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  return read_link_at(descriptor_, name, buffer);
}

errno_or<file_status> directory::status_of(const char* name) const noexcept {
  return status_at(descriptor_, name);
}

int directory::for_each_entry(const char* name, entry_visitor visit) const {
  return for_each_entry_at(descriptor_, name, visit);
}

}  // namespace hmn::platform
