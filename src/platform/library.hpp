// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hmn::platform {

// Library that is opened at run time: none of a vendor's is linked.
class Library {
 public:
  struct OpenResult;

  static OpenResult open(const char* name_or_path);

  Library() noexcept = default;
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library();

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  void* symbol(const char* name) const noexcept;
  void close() noexcept;

  // Releases ownership: the library stays loaded and its symbols valid until the process ends.
  void leave_open() noexcept;

 private:
  explicit Library(void* handle) noexcept : handle_(handle) {}

  void* handle_ = nullptr;
};

struct Library::OpenResult {
  Library value;
  std::string error_text;   // the loader's own message; empty on success
  bool is_missing = false;  // there is no such file; false if it is broken or lacks a dependency

  explicit operator bool() const noexcept { return static_cast<bool>(value); }
};

inline constexpr std::size_t max_path_size = 4096;

// Returns the folder of the file that this code was loaded from: absolute, with links resolved;
// empty if unknown. `buffer` has at least max_path_size bytes.
std::string_view own_folder(std::span<char> buffer) noexcept;

}  // namespace hmn::platform
