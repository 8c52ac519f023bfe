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

#include "platform/errno_or.hpp"

namespace hmn::platform {

struct file_status {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t special_device_major = 0;
  uint64_t special_device_minor = 0;
  uint64_t size = 0;  // of /proc/<pid>/fd how many there are, since Linux 6.2; 0 before
  uint32_t owner = 0;
  bool is_directory = false;
  bool is_character_device = false;
};

// Whether a path means the same file wherever the process stands.
bool is_absolute(std::string_view path) noexcept;

// Paths and names are NUL-terminated. Nothing here waits for a FIFO's writer.

// A value equal to the buffer's size may be a beginning only.
errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept;

// True when the file goes on after cap bytes. On an error, out is empty.
errno_or<bool> read_whole(const char* path, std::string& out, size_t cap);

// ENAMETOOLONG when the target may not have fitted; the buffer is not terminated. EINVAL for what
// is no link; on Windows nothing is one.
errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept;

// Follows links; a network file system answers from its cache.
errno_or<file_status> status_of(const char* path) noexcept;

bool exists(const char* path) noexcept;
bool is_executable_file(const char* path) noexcept;

// A borrowed callable: bool(std::string_view name), false to stop. name is NUL-terminated and lives
// for the call.
class entry_visitor {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, entry_visitor> &&
           std::is_invocable_r_v<bool, F&, std::string_view>) entry_visitor(F&& visit)
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

// 0 or errno; in the directory's own order, without "." and "..".
int for_each_entry(const char* path, entry_visitor visit);

// For the length of one call: nothing checks that the descriptor is still ours.
class directory {
 public:
  static errno_or<directory> open(const char* path) noexcept;

  directory() noexcept = default;
  directory(directory&& other) noexcept;
  directory& operator=(directory&& other) noexcept;
  ~directory();

  errno_or<size_t> read_small(const char* name, std::span<char> buffer) const noexcept;
  errno_or<size_t> read_link(const char* name, std::span<char> buffer) const noexcept;
  errno_or<file_status> status_of(const char* name) const noexcept;
  int for_each_entry(const char* name, entry_visitor visit) const;

  // A folder in it to be listed: what stands there is found from here with a shorter way.
  errno_or<directory> open_folder(const char* name) const noexcept;
  // Of one that open_folder() gave, once.
  int for_each_entry(entry_visitor visit) const;

 private:
  explicit directory(int descriptor) noexcept : descriptor_(descriptor) {}
  static errno_or<directory> named(const char* path) noexcept;

  int descriptor_ = -1;
  std::unique_ptr<const std::string> recorded_;  // its path, when a stand-in answers
};

// Keeps one descriptor for repeated reads of a file that one read gives whole (a single-record file
// of /proc, an attribute of sysfs). Any number of threads may read at once; a fork is seen, and the
// child opens its own. A file that is replaced under the same path goes unseen while the old one
// can be read.
class kept_file {
 public:
  explicit kept_file(std::string path) noexcept : path_(std::move(path)) {}
  kept_file(const kept_file&) = delete;
  kept_file& operator=(const kept_file&) = delete;
  ~kept_file();

  // A value equal to the buffer's size may be a beginning only.
  errno_or<size_t> read(std::span<char> buffer) noexcept;

 private:
  struct identity {
    int descriptor = -1;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t generation = 0;
  };

  static bool is_alike(const identity& one, const identity& other) noexcept {
    return one.device == other.device && one.inode == other.inode &&
           one.generation == other.generation;
  }
  bool load(identity& out) const noexcept;
  void store(const identity& now) noexcept;
  bool lock(uint64_t generation) noexcept;
  errno_or<size_t> read_afresh(std::span<char> buffer, uint64_t generation) noexcept;
  void keep(const identity& fresh) noexcept;

  const std::string path_;
  // A sequence lock: odd while the four below change.
  std::atomic<uint32_t> sequence_{0};
  std::atomic<int> descriptor_{-1};
  std::atomic<uint64_t> device_{0};
  std::atomic<uint64_t> inode_{0};
  std::atomic<uint64_t> generation_{0};
  // The holder's process generation, so that a forked child never waits for a thread it lacks.
  std::atomic<uint64_t> lock_{0};
};

}  // namespace hmn::platform
