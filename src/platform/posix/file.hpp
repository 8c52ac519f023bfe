// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <span>
#include <utility>

#include "platform/file.hpp"

namespace hmn::platform {

class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor before(std::move(other));
    std::swap(number_, before.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  explicit operator bool() const noexcept { return number_ >= 0; }

  void close() noexcept {
    if (number_ >= 0) ::close(release());
  }

 private:
  int number_ = -1;
};

int open_for_reading(int folder, const char* name) noexcept;
// Reads up to the end. A first read of less than `complete_below` bytes is taken for the whole
// file.
ErrnoOr<size_t> read_full(int descriptor, std::span<char> buffer,
                          size_t complete_below = 0) noexcept;
ErrnoOr<size_t> read_small_at(int folder, const char* name, std::span<char> buffer) noexcept;
ErrnoOr<size_t> read_link_at(int folder, const char* name, std::span<char> buffer) noexcept;
bool is_same_file(int descriptor, uint64_t device, uint64_t inode) noexcept;

// System-specific parts of file.hpp.
ErrnoOr<FileStatus> read_status_at(int folder, const char* name) noexcept;
// Opens a base folder for relative paths; returns below 0 and sets errno on failure.
int open_base(const char* path) noexcept;
// Returns 0 or errno. `folder` stays open.
int list_entries(int folder, EntryVisitor visit);
// Duplicates `source` onto `target`, close-on-exec. Returns false and leaves `target` unchanged on
// failure.
bool redirect(int target, int source) noexcept;

}  // namespace hmn::platform
