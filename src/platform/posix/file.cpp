// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/posix/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "platform/file.hpp"
#include "platform/process.hpp"
#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

constexpr size_t first_growth = 4096;

size_t next_size(size_t size, size_t cap) {
  return std::min(cap, size + std::max(first_growth, size));
}

ErrnoOr<bool> read_until(int descriptor, std::string& out, size_t cap) {
  size_t filled = 0;
  while (filled < cap) {
    out.resize(next_size(filled, cap));
    const ErrnoOr<size_t> result = read_full(descriptor, std::span(out).subspan(filled));
    if (!result) return {false, result.error};
    filled += result.value;
    if (filled < out.size()) {
      out.resize(filled);
      return {false, 0};
    }
  }
  char beyond;
  const ErrnoOr<size_t> extra = read_full(descriptor, {&beyond, 1});
  return {extra.value != 0, extra.error};
}

// Path of an entry of a folder for which a SystemOverride answers.
class EntryPath {
 public:
  EntryPath(const std::string& folder, const char* name) noexcept {
    const size_t length = std::strlen(name);
    const bool fits = folder.size() + length + 2 <= sizeof bytes_;
    bytes_[0] = '\0';
    if (!fits) return;
    std::memcpy(bytes_, folder.data(), folder.size());
    bytes_[folder.size()] = '/';
    std::memcpy(bytes_ + folder.size() + 1, name, length + 1);
  }
  const char* c_str() const noexcept { return bytes_; }

 private:
  char bytes_[4352];
};

int for_each_entry_at(int folder, const char* name, EntryVisitor visit) {
  const Descriptor listing(openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return listing ? list_entries(listing.get(), visit) : errno;
}

bool stat_if_same(int descriptor, uint64_t device, uint64_t inode, struct stat& info) noexcept {
  return descriptor >= 0 && fstat(descriptor, &info) == 0 &&
         static_cast<uint64_t>(info.st_dev) == device && info.st_ino == inode;
}

// Returns whether the descriptor still refers to the file, and the file still has a name: a
// replaced file has none.
bool is_current(int descriptor, uint64_t device, uint64_t inode) noexcept {
  struct stat info;
  return stat_if_same(descriptor, device, inode, info) && info.st_nlink != 0;
}

ErrnoOr<size_t> read_once(int descriptor, std::span<char> buffer) noexcept {
  for (;;) {
    const ssize_t size = pread(descriptor, buffer.data(), buffer.size(), 0);
    if (size >= 0) return {static_cast<size_t>(size), 0};
    if (errno != EINTR) return {0, errno};
  }
}

}  // namespace

ErrnoOr<size_t> read_full(int descriptor, std::span<char> buffer, size_t complete_below) noexcept {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t size = ::read(descriptor, buffer.data() + filled, buffer.size() - filled);
    if (size == 0) break;
    if (size > 0) {
      filled += static_cast<size_t>(size);
      if (filled < complete_below) break;
    } else if (errno != EINTR) {
      return {0, errno};
    }
  }
  return {filled, 0};
}

int open_for_reading(int folder, const char* name) noexcept {
  return openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

ErrnoOr<size_t> read_small_at(int folder, const char* name, std::span<char> buffer) noexcept {
  const Descriptor file(open_for_reading(folder, name));
  if (!file) return {0, errno};
  // A shorter read is complete: the kernel returns most files in one piece, and fills a page with
  // records.
  constexpr size_t quarter_page = 1024;
  return read_full(file.get(), buffer, quarter_page);
}

ErrnoOr<size_t> read_link_at(int folder, const char* name, std::span<char> buffer) noexcept {
  if (buffer.empty()) return {0, ENAMETOOLONG};
  const ssize_t length = readlinkat(folder, name, buffer.data(), buffer.size());
  if (length < 0) return {0, errno};
  if (static_cast<size_t>(length) == buffer.size()) return {0, ENAMETOOLONG};
  return {static_cast<size_t>(length), 0};
}

ErrnoOr<size_t> real::read_small(const char* path, std::span<char> buffer) noexcept {
  return read_small_at(AT_FDCWD, path, buffer);
}

ErrnoOr<bool> real::read_whole(const char* path, std::string& out, size_t cap) {
  out.clear();
  const Descriptor file(open_for_reading(AT_FDCWD, path));
  if (!file) return {false, errno};
  const ErrnoOr<bool> result = read_until(file.get(), out, cap);
  if (!result) out.clear();
  return result;
}

ErrnoOr<size_t> real::read_link(const char* path, std::span<char> buffer) noexcept {
  return read_link_at(AT_FDCWD, path, buffer);
}

ErrnoOr<FileStatus> real::read_status(const char* path) noexcept {
  return read_status_at(AT_FDCWD, path);
}

bool real::exists(const char* path) noexcept {
  return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

int lowest_free_descriptor() noexcept {
  const Descriptor lowest(::open("/", O_RDONLY | O_CLOEXEC));
  return lowest.get();
}

bool real::is_executable_file(const char* path) noexcept {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
         faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

bool is_absolute(std::string_view path) noexcept {
  return path.starts_with('/');
}

int real::for_each_entry(const char* path, EntryVisitor visit) {
  return for_each_entry_at(AT_FDCWD, path, visit);
}

int for_each_entry(const char* path, EntryVisitor visit) {
  if (SystemOverride* const active = SystemOverride::active())
    return active->for_each_entry(path, visit);
  return real::for_each_entry(path, visit);
}

ErrnoOr<Directory> Directory::open(const char* path) noexcept {
  if (SystemOverride* const active = SystemOverride::active()) {
    const int error = active->open_directory(path);
    return error == 0 ? make_from_path(path) : ErrnoOr<Directory>{{}, error};
  }
  const int descriptor = open_base(path);
  if (descriptor < 0) return {{}, errno};
  return {Directory(descriptor), 0};
}

ErrnoOr<Directory> Directory::make_from_path(const char* path) noexcept {
  Directory directory;
  try {
    directory.path_ = std::make_unique<const std::string>(path);
  } catch (const std::bad_alloc&) {
    return {{}, ENOMEM};
  }
  return {std::move(directory), 0};
}

Directory::Directory(Directory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)) {}

Directory& Directory::operator=(Directory&& other) noexcept {
  Directory before(std::move(other));
  std::swap(descriptor_, before.descriptor_);
  std::swap(path_, before.path_);
  return *this;
}

Directory::~Directory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ErrnoOr<size_t> Directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  if (path_) return platform::read_small(EntryPath(*path_, name).c_str(), buffer);
  return read_small_at(descriptor_, name, buffer);
}

ErrnoOr<size_t> Directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  if (path_) return platform::read_link(EntryPath(*path_, name).c_str(), buffer);
  return read_link_at(descriptor_, name, buffer);
}

ErrnoOr<FileStatus> Directory::read_status(const char* name) const noexcept {
  if (path_) return platform::read_status(EntryPath(*path_, name).c_str());
  return read_status_at(descriptor_, name);
}

int Directory::for_each_entry(const char* name, EntryVisitor visit) const {
  if (path_)
    return platform::for_each_entry(EntryPath(*path_, name).c_str(), visit);
  return for_each_entry_at(descriptor_, name, visit);
}

ErrnoOr<Directory> Directory::open_folder(const char* name) const noexcept {
  if (path_) return make_from_path(EntryPath(*path_, name).c_str());
  const int descriptor = openat(descriptor_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return {{}, errno};
  return {Directory(descriptor), 0};
}

int Directory::for_each_entry(EntryVisitor visit) const {
  if (path_) return platform::for_each_entry(path_->c_str(), visit);
  return list_entries(descriptor_, visit);
}

bool is_same_file(int descriptor, uint64_t device, uint64_t inode) noexcept {
  struct stat info;
  return stat_if_same(descriptor, device, inode, info);
}

ErrnoOr<size_t> CachedFile::read(std::span<char> buffer) noexcept {
  if (SystemOverride* const active = SystemOverride::active())
    return active->read_small(path_.c_str(), buffer);
  const uint64_t generation = process_generation();
  Identity cached;
  if (load(cached) && cached.generation == generation &&
      is_current(cached.descriptor, cached.device, cached.inode)) {
    const ErrnoOr<size_t> result = read_once(cached.descriptor, buffer);
    if (result) return result;
  }
  return reopen_and_read(buffer, generation);
}

bool CachedFile::has_changed() const noexcept {
  Identity cached;
  if (!load(cached) || cached.generation != process_generation() ||
      !is_same_file(cached.descriptor, cached.device, cached.inode)) {
    return true;
  }
  pollfd request{cached.descriptor, POLLPRI, 0};
  return poll(&request, 1, 0) != 0;
}

ErrnoOr<size_t> CachedFile::reopen_and_read(std::span<char> buffer, uint64_t generation) noexcept {
  Descriptor file(open_for_reading(AT_FDCWD, path_.c_str()));
  if (!file) return {0, errno};
  const ErrnoOr<size_t> result = read_once(file.get(), buffer);
  struct stat info;
  if (!result || fstat(file.get(), &info) != 0 || !lock(generation)) return result;
  replace({file.release(), static_cast<uint64_t>(info.st_dev), info.st_ino, generation});
  lock_.store(0, std::memory_order_release);
  return result;
}

// Stores a new descriptor. One that is still ours is replaced under its own number, where another
// reader may be using it, and never closed; one that is not ours is dropped.
void CachedFile::replace(const Identity& identity) noexcept {
  Identity stored = identity;
  Identity previous;
  const bool is_ours = load(previous) && previous.descriptor != identity.descriptor &&
                       is_same_file(previous.descriptor, previous.device, previous.inode);
  if (is_ours && is_same(previous, identity)) {
    ::close(identity.descriptor);  // another thread was first
    return;
  }
  if (is_ours && redirect(previous.descriptor, identity.descriptor)) {
    ::close(identity.descriptor);
    stored.descriptor = previous.descriptor;
  }
  store(stored);
}

bool CachedFile::lock(uint64_t generation) noexcept {
  uint64_t holder = lock_.load(std::memory_order_relaxed);
  return holder != generation &&
         lock_.compare_exchange_strong(holder, generation, std::memory_order_acquire);
}

// Loads with acquire and stores with release in place of fences: a reader that sees a new value
// below also sees the odd number that was stored before it.
bool CachedFile::load(Identity& identity) const noexcept {
  const uint32_t before = sequence_.load(std::memory_order_acquire);
  identity.descriptor = descriptor_.load(std::memory_order_acquire);
  identity.device = device_.load(std::memory_order_acquire);
  identity.inode = inode_.load(std::memory_order_acquire);
  identity.generation = generation_.load(std::memory_order_acquire);
  return before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before;
}

void CachedFile::store(const Identity& identity) noexcept {
  // Odd already if a fork interrupted another thread's store.
  const uint32_t odd = sequence_.load(std::memory_order_relaxed) | 1;
  sequence_.store(odd, std::memory_order_relaxed);
  descriptor_.store(identity.descriptor, std::memory_order_release);
  device_.store(identity.device, std::memory_order_release);
  inode_.store(identity.inode, std::memory_order_release);
  generation_.store(identity.generation, std::memory_order_release);
  sequence_.store(odd + 1, std::memory_order_release);
}

CachedFile::~CachedFile() {
  const int saved = errno;
  Identity cached;
  if (load(cached) && is_same_file(cached.descriptor, cached.device, cached.inode)) {
    ::close(cached.descriptor);
  }
  errno = saved;
}

}  // namespace hmn::platform
