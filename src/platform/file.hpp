// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hmn::platform {

// A value, or in `error` the system's own number (errno on POSIX systems); 0 means value.
template <class T>
struct [[nodiscard]] ErrnoOr {
  T value{};
  int error = 0;

  explicit operator bool() const noexcept { return error == 0; }
};

struct FileStatus {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t special_device_major = 0;
  uint64_t special_device_minor = 0;
  uint64_t size = 0;  // for /proc/<pid>/fd the number of entries, since Linux 6.2; 0 before
  uint32_t owner = 0;
  bool is_directory = false;
  bool is_character_device = false;
};

// Returns whether a path is independent of the current folder.
bool is_absolute(std::string_view path) noexcept;

// Paths and names are NUL-terminated. No function here waits for a FIFO's writer.

// Reads up to the end. A result equal to the buffer's size may be incomplete.
ErrnoOr<size_t> read_small(const char* path, std::span<char> buffer) noexcept;

// Returns true when the file continues after cap bytes. On an error, out is empty.
ErrnoOr<bool> read_whole(const char* path, std::string& out, size_t cap);

// Returns ENAMETOOLONG when the target may be cut, and EINVAL for anything but a link, as is any
// file on Windows; the buffer is not terminated.
ErrnoOr<size_t> read_link(const char* path, std::span<char> buffer) noexcept;

// Follows links; a network file system answers from its cache.
ErrnoOr<FileStatus> read_status(const char* path) noexcept;

bool exists(const char* path) noexcept;
bool is_executable_file(const char* path) noexcept;

// Reference to a callable bool(std::string_view name) that returns false to stop. name is
// NUL-terminated and valid during the call only.
class EntryVisitor {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, EntryVisitor> &&
           std::is_invocable_r_v<bool, F&, std::string_view>) EntryVisitor(F&& visit)
  noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(visit)))),
        call_([](void* object, std::string_view name) -> bool {
          return (*static_cast<std::remove_reference_t<F>*>(object))(name);
        }) {}

  bool operator()(std::string_view name) const { return call_(object_, name); }

 private:
  void* object_;
  bool (*call_)(void*, std::string_view);
};

// Returns 0 or errno; visits in the directory's own order, without "." and "..".
int for_each_entry(const char* path, EntryVisitor visit);

// Directory that is open for one call only, so its descriptor is not checked for reuse by other
// code.
class Directory {
 public:
  static ErrnoOr<Directory> open(const char* path) noexcept;

  Directory() noexcept = default;
  Directory(Directory&& other) noexcept;
  Directory& operator=(Directory&& other) noexcept;
  ~Directory();

  ErrnoOr<size_t> read_small(const char* name, std::span<char> buffer) const noexcept;
  ErrnoOr<size_t> read_link(const char* name, std::span<char> buffer) const noexcept;
  ErrnoOr<FileStatus> read_status(const char* name) const noexcept;
  int for_each_entry(const char* name, EntryVisitor visit) const;

  // Opens a subfolder for listing; its files are reached from here by a shorter path.
  ErrnoOr<Directory> open_folder(const char* name) const noexcept;
  // Lists a directory from open_folder(), once.
  int for_each_entry(EntryVisitor visit) const;

 private:
  explicit Directory(int descriptor) noexcept : descriptor_(descriptor) {}
  static ErrnoOr<Directory> make_from_path(const char* path) noexcept;

  int descriptor_ = -1;
  std::unique_ptr<const std::string> path_;  // set when an override answers
};

// Returns the descriptor number that the next open() gets if no other thread opens or closes one;
// -1: unknown.
int lowest_free_descriptor() noexcept;

// Keeps one descriptor for repeated reads of a file that a single read returns whole (a
// single-record file of /proc, an attribute of sysfs). Safe for concurrent reads. After a fork the
// child opens its own. A file that is renamed away goes unnoticed while it is readable.
class CachedFile {
 public:
  explicit CachedFile(std::string path) noexcept : path_(std::move(path)) {}
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;
  ~CachedFile();

  // Reads up to the end. A result equal to the buffer's size may be incomplete.
  ErrnoOr<size_t> read(std::span<char> buffer) noexcept;
  // Returns whether the kernel has announced a change (POLLPRI, as for mountinfo) since the file
  // was opened or this was last called; true also without an open descriptor. Not for several
  // threads.
  bool has_changed() const noexcept;

 private:
  struct Identity {
    int descriptor = -1;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t generation = 0;
  };

  static bool is_same(const Identity& left, const Identity& right) noexcept {
    return left.device == right.device && left.inode == right.inode &&
           left.generation == right.generation;
  }
  bool load(Identity& identity) const noexcept;
  void store(const Identity& identity) noexcept;
  bool lock(uint64_t generation) noexcept;
  ErrnoOr<size_t> reopen_and_read(std::span<char> buffer, uint64_t generation) noexcept;
  void replace(const Identity& identity) noexcept;

  const std::string path_;
  // Sequence lock: odd while the four members below change.
  std::atomic<uint32_t> sequence_{0};
  std::atomic<int> descriptor_{-1};
  std::atomic<uint64_t> device_{0};
  std::atomic<uint64_t> inode_{0};
  std::atomic<uint64_t> generation_{0};
  // Process generation of the holder, so that a forked child never waits for a thread it lacks.
  std::atomic<uint64_t> lock_{0};
};

}  // namespace hmn::platform
