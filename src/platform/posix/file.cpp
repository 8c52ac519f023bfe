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

ErrnoOr<bool> read_until(int from, std::string& out, size_t cap) {
  size_t filled = 0;
  while (filled < cap) {
    out.resize(next_size(filled, cap));
    const ErrnoOr<size_t> got = read_full(from, std::span(out).subspan(filled));
    if (!got) return {false, got.error};
    filled += got.value;
    if (filled < out.size()) {
      out.resize(filled);
      return {false, 0};
    }
  }
  char beyond;
  const ErrnoOr<size_t> more = read_full(from, {&beyond, 1});
  return {more.value != 0, more.error};
}

// Path below a folder that a system_override answers for.
class PathBelow {
 public:
  PathBelow(const std::string& folder, const char* name) noexcept {
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

int for_each_entry_at(int at, const char* name, EntryVisitor visit) {
  const Descriptor from(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return from ? list_entries(from.get(), visit) : errno;
}

bool look_at(int number, uint64_t device, uint64_t inode, struct stat& found) noexcept {
  return number >= 0 && fstat(number, &found) == 0 &&
         static_cast<uint64_t>(found.st_dev) == device && found.st_ino == inode;
}

// Returns whether the descriptor is still that of the file, and the file still has a name: one that
// was replaced has none.
bool is_current(int number, uint64_t device, uint64_t inode) noexcept {
  struct stat found;
  return look_at(number, device, inode, found) && found.st_nlink != 0;
}

ErrnoOr<size_t> read_once(int from, std::span<char> buffer) noexcept {
  for (;;) {
    const ssize_t got = pread(from, buffer.data(), buffer.size(), 0);
    if (got >= 0) return {static_cast<size_t>(got), 0};
    if (errno != EINTR) return {0, errno};
  }
}

}  // namespace

ErrnoOr<size_t> read_full(int from, std::span<char> buffer, size_t whole_below) noexcept {
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

ErrnoOr<size_t> read_small_at(int at, const char* name, std::span<char> buffer) noexcept {
  const Descriptor from(open_for_reading(at, name));
  if (!from) return {0, errno};
  // A shorter read was all: the kernel makes most files in one piece, and of those with records it
  // returns as many as fit a page.
  constexpr size_t quarter_page = 1024;
  return read_full(from.get(), buffer, quarter_page);
}

ErrnoOr<size_t> read_link_at(int at, const char* name, std::span<char> buffer) noexcept {
  if (buffer.empty()) return {0, ENAMETOOLONG};
  const ssize_t length = readlinkat(at, name, buffer.data(), buffer.size());
  if (length < 0) return {0, errno};
  if (static_cast<size_t>(length) == buffer.size()) return {0, ENAMETOOLONG};
  return {static_cast<size_t>(length), 0};
}

ErrnoOr<size_t> real::read_small(const char* path, std::span<char> buffer) noexcept {
  return read_small_at(AT_FDCWD, path, buffer);
}

ErrnoOr<bool> real::read_whole(const char* path, std::string& out, size_t cap) {
  out.clear();
  const Descriptor from(open_for_reading(AT_FDCWD, path));
  if (!from) return {false, errno};
  const ErrnoOr<bool> cut = read_until(from.get(), out, cap);
  if (!cut) out.clear();
  return cut;
}

ErrnoOr<size_t> real::read_link(const char* path, std::span<char> buffer) noexcept {
  return read_link_at(AT_FDCWD, path, buffer);
}

ErrnoOr<FileStatus> real::status_of(const char* path) noexcept {
  return status_at(AT_FDCWD, path);
}

bool real::exists(const char* path) noexcept {
  return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

int lowest_free_descriptor() noexcept {
  const Descriptor lowest(::open("/", O_RDONLY | O_CLOEXEC));
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

int real::for_each_entry(const char* path, EntryVisitor visit) {
  return for_each_entry_at(AT_FDCWD, path, visit);
}

int for_each_entry(const char* path, EntryVisitor visit) {
  if (SystemOverride* const r = SystemOverride::of_thread()) return r->for_each_entry(path, visit);
  return real::for_each_entry(path, visit);
}

ErrnoOr<Directory> Directory::open(const char* path) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread()) {
    const int error = r->open_directory(path);
    return error == 0 ? named(path) : ErrnoOr<Directory>{{}, error};
  }
  const int opened = open_base(path);
  if (opened < 0) return {{}, errno};
  return {Directory(opened), 0};
}

ErrnoOr<Directory> Directory::named(const char* path) noexcept {
  Directory made;
  try {
    made.recorded_ = std::make_unique<const std::string>(path);
  } catch (const std::bad_alloc&) {
    return {{}, ENOMEM};
  }
  return {std::move(made), 0};
}

Directory::Directory(Directory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), recorded_(std::move(other.recorded_)) {}

Directory& Directory::operator=(Directory&& other) noexcept {
  Directory before(std::move(other));
  std::swap(descriptor_, before.descriptor_);
  std::swap(recorded_, before.recorded_);
  return *this;
}

Directory::~Directory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ErrnoOr<size_t> Directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  if (recorded_) return platform::read_small(PathBelow(*recorded_, name).c_str(), buffer);
  return read_small_at(descriptor_, name, buffer);
}

ErrnoOr<size_t> Directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  if (recorded_) return platform::read_link(PathBelow(*recorded_, name).c_str(), buffer);
  return read_link_at(descriptor_, name, buffer);
}

ErrnoOr<FileStatus> Directory::status_of(const char* name) const noexcept {
  if (recorded_) return platform::status_of(PathBelow(*recorded_, name).c_str());
  return status_at(descriptor_, name);
}

int Directory::for_each_entry(const char* name, EntryVisitor visit) const {
  if (recorded_) return platform::for_each_entry(PathBelow(*recorded_, name).c_str(), visit);
  return for_each_entry_at(descriptor_, name, visit);
}

ErrnoOr<Directory> Directory::open_folder(const char* name) const noexcept {
  if (recorded_) return named(PathBelow(*recorded_, name).c_str());
  const int opened = openat(descriptor_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return {{}, errno};
  return {Directory(opened), 0};
}

int Directory::for_each_entry(EntryVisitor visit) const {
  if (recorded_) return platform::for_each_entry(recorded_->c_str(), visit);
  return list_entries(descriptor_, visit);
}

bool is_same_file(int number, uint64_t device, uint64_t inode) noexcept {
  struct stat found;
  return look_at(number, device, inode, found);
}

ErrnoOr<size_t> KeptFile::read(std::span<char> buffer) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread())
    return r->read_small(path_.c_str(), buffer);
  const uint64_t generation = process_generation();
  Identity kept;
  if (load(kept) && kept.generation == generation &&
      is_current(kept.descriptor, kept.device, kept.inode)) {
    const ErrnoOr<size_t> got = read_once(kept.descriptor, buffer);
    if (got) return got;
  }
  return read_afresh(buffer, generation);
}

bool KeptFile::has_news() const noexcept {
  Identity kept;
  if (!load(kept) || kept.generation != process_generation() ||
      !is_same_file(kept.descriptor, kept.device, kept.inode)) {
    return true;
  }
  pollfd one{kept.descriptor, POLLPRI, 0};
  return poll(&one, 1, 0) != 0;
}

ErrnoOr<size_t> KeptFile::read_afresh(std::span<char> buffer, uint64_t generation) noexcept {
  Descriptor fresh(open_for_reading(AT_FDCWD, path_.c_str()));
  if (!fresh) return {0, errno};
  const ErrnoOr<size_t> got = read_once(fresh.get(), buffer);
  struct stat found;
  if (!got || fstat(fresh.get(), &found) != 0 || !lock(generation)) return got;
  keep({fresh.release(), static_cast<uint64_t>(found.st_dev), found.st_ino, generation});
  lock_.store(0, std::memory_order_release);
  return got;
}

// Stores a fresh descriptor. One that is still ours is replaced under its own number, where another
// reader may be using it, and never closed; one that is not ours is dropped.
void KeptFile::keep(const Identity& fresh) noexcept {
  Identity now = fresh;
  Identity before;
  const bool is_ours = load(before) && before.descriptor != fresh.descriptor &&
                       is_same_file(before.descriptor, before.device, before.inode);
  if (is_ours && is_alike(before, fresh)) {
    ::close(fresh.descriptor);  // another thread was first
    return;
  }
  if (is_ours && redirect(before.descriptor, fresh.descriptor)) {
    ::close(fresh.descriptor);
    now.descriptor = before.descriptor;
  }
  store(now);
}

bool KeptFile::lock(uint64_t generation) noexcept {
  uint64_t holder = lock_.load(std::memory_order_relaxed);
  return holder != generation &&
         lock_.compare_exchange_strong(holder, generation, std::memory_order_acquire);
}

// Loads with acquire and stores with release in place of fences: a reader that sees a new value
// below also sees the odd number that was stored before it.
bool KeptFile::load(Identity& out) const noexcept {
  const uint32_t before = sequence_.load(std::memory_order_acquire);
  out.descriptor = descriptor_.load(std::memory_order_acquire);
  out.device = device_.load(std::memory_order_acquire);
  out.inode = inode_.load(std::memory_order_acquire);
  out.generation = generation_.load(std::memory_order_acquire);
  return before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before;
}

void KeptFile::store(const Identity& now) noexcept {
  // Odd already if a fork interrupted another thread's store.
  const uint32_t odd = sequence_.load(std::memory_order_relaxed) | 1;
  sequence_.store(odd, std::memory_order_relaxed);
  descriptor_.store(now.descriptor, std::memory_order_release);
  device_.store(now.device, std::memory_order_release);
  inode_.store(now.inode, std::memory_order_release);
  generation_.store(now.generation, std::memory_order_release);
  sequence_.store(odd + 1, std::memory_order_release);
}

KeptFile::~KeptFile() {
  const int saved = errno;
  Identity kept;
  if (load(kept) && is_same_file(kept.descriptor, kept.device, kept.inode)) {
    ::close(kept.descriptor);
  }
  errno = saved;
}

}  // namespace hmn::platform
