// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/posix/descriptor.hpp"
#include "platform/posix/file_at.hpp"
#include "platform/real_file.hpp"

namespace hmn::platform {
namespace {

constexpr size_t first_growth = 4096;

size_t next_size(size_t size, size_t cap) {
  return std::min(cap, size + std::max(first_growth, size));
}

errno_or<bool> read_until(int from, std::string& out, size_t cap) {
  size_t filled = 0;
  while (filled < cap) {
    out.resize(next_size(filled, cap));
    const errno_or<size_t> got = read_full(from, std::span(out).subspan(filled));
    if (!got) return {false, got.error};
    filled += got.value;
    if (filled < out.size()) {
      out.resize(filled);
      return {false, 0};
    }
  }
  char beyond;
  const errno_or<size_t> more = read_full(from, {&beyond, 1});
  return {more.value != 0, more.error};
}

}  // namespace

errno_or<size_t> read_full(int from, std::span<char> buffer, size_t whole_below) noexcept {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::read(from, buffer.data() + filled, buffer.size() - filled);
    if (got == 0) break;
    if (got > 0) {
      filled += static_cast<size_t>(got);
      if (filled < whole_below) break;
    } else if (errno != EINTR) {
      return {0, errno};
    }
  }
  return {filled, 0};
}

int open_for_reading(int at, const char* name) noexcept {
  return openat(at, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

errno_or<size_t> read_small_at(int at, const char* name, std::span<char> buffer) noexcept {
  const descriptor from(open_for_reading(at, name));
  if (!from) return {0, errno};
  // A read that returns less was all: the kernel makes most files in one piece, and of those with
  // records it returns as many as fit a page.
  constexpr size_t quarter_page = 1024;
  return read_full(from.get(), buffer, quarter_page);
}

errno_or<size_t> read_link_at(int at, const char* name, std::span<char> buffer) noexcept {
  if (buffer.empty()) return {0, ENAMETOOLONG};
  const ssize_t length = readlinkat(at, name, buffer.data(), buffer.size());
  if (length < 0) return {0, errno};
  if (static_cast<size_t>(length) == buffer.size()) return {0, ENAMETOOLONG};
  return {static_cast<size_t>(length), 0};
}

errno_or<size_t> real::read_small(const char* path, std::span<char> buffer) noexcept {
  return read_small_at(AT_FDCWD, path, buffer);
}

errno_or<bool> real::read_whole(const char* path, std::string& out, size_t cap) {
  out.clear();
  const descriptor from(open_for_reading(AT_FDCWD, path));
  if (!from) return {false, errno};
  const errno_or<bool> cut = read_until(from.get(), out, cap);
  if (!cut) out.clear();
  return cut;
}

errno_or<size_t> real::read_link(const char* path, std::span<char> buffer) noexcept {
  return read_link_at(AT_FDCWD, path, buffer);
}

errno_or<file_status> real::status_of(const char* path) noexcept {
  return status_at(AT_FDCWD, path);
}

bool real::exists(const char* path) noexcept {
  return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

int lowest_free_descriptor() noexcept {
  const descriptor lowest(::open("/", O_RDONLY | O_CLOEXEC));
  return lowest.get();
}

bool real::is_executable_file(const char* path) noexcept {
  struct stat found;
  return stat(path, &found) == 0 && S_ISREG(found.st_mode) &&
         faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

bool is_absolute(std::string_view path) noexcept {
  return path.starts_with('/');
}

}  // namespace hmn::platform
