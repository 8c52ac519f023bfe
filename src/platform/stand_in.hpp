// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Stand-in: answers a thread's requests in place of the system.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/device_query.hpp"
#include "platform/errno_or.hpp"
#include "platform/file.hpp"
#include "platform/subprocess.hpp"

namespace hmn::platform {

class stand_in {
 public:
  virtual ~stand_in() = default;

  // Returns the calling thread's stand-in; nullptr: the system answers.
  static stand_in* of_thread() noexcept {
    return in_use_.load(std::memory_order_relaxed) == 0 ? nullptr : current();
  }
  // Sets the calling thread's stand-in and returns the previous one.
  static stand_in* exchange(stand_in* next) noexcept;

  // Services, as in file.hpp, subprocess.hpp, device_query.hpp and process.hpp.
  using asking = errno_or<std::size_t> (*)(const char*, device_question,
                                           std::span<std::byte>) noexcept;
  using running = outcome (*)(const command&);
  virtual errno_or<std::size_t> read_small(const char* path, std::span<char> buffer) noexcept = 0;
  virtual errno_or<bool> read_whole(const char* path, std::string& out, std::size_t cap) = 0;
  virtual errno_or<std::size_t> read_link(const char* path, std::span<char> buffer) noexcept = 0;
  virtual errno_or<file_status> status_of(const char* path) noexcept = 0;
  virtual bool exists(const char* path) noexcept = 0;
  virtual bool is_executable_file(const char* path) noexcept = 0;
  virtual int for_each_entry(const char* path, entry_visitor visit) = 0;
  virtual int open_directory(const char* path) noexcept = 0;
  virtual outcome run(const command& what, running really) = 0;
  virtual errno_or<std::size_t> ask_device(const char* node, device_question what,
                                           std::span<std::byte> buffer, asking really) noexcept = 0;
  [[nodiscard]] virtual std::size_t page_size(std::size_t real) const noexcept = 0;

 private:
  static stand_in* current() noexcept;

  static std::atomic<std::uint32_t> in_use_;  // number of threads
};

// Sets the calling thread's stand-in until the scope ends; nullptr: unchanged.
class stand_in_scope {
 public:
  explicit stand_in_scope(stand_in* s) noexcept
      : is_set_(s != nullptr), before_(s != nullptr ? stand_in::exchange(s) : nullptr) {}
  stand_in_scope(const stand_in_scope&) = delete;
  stand_in_scope& operator=(const stand_in_scope&) = delete;
  ~stand_in_scope() {
    if (is_set_) stand_in::exchange(before_);
  }

 private:
  const bool is_set_;
  stand_in* const before_;
};

}  // namespace hmn::platform
