// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/device_query.hpp"
#include "platform/file.hpp"
#include "platform/subprocess.hpp"

namespace hmn::platform::real {

// Services of file.hpp as the system itself answers them, without overrides.

errno_or<size_t> read_small(const char* path, std::span<char> buffer) noexcept;
errno_or<bool> read_whole(const char* path, std::string& out, size_t cap);
errno_or<size_t> read_link(const char* path, std::span<char> buffer) noexcept;
errno_or<file_status> status_of(const char* path) noexcept;
bool exists(const char* path) noexcept;
bool is_executable_file(const char* path) noexcept;
int for_each_entry(const char* path, entry_visitor visit);

}  // namespace hmn::platform::real

namespace hmn::platform {

// Answers a thread's requests in place of the system, from a recorded or a described machine, so
// that sources read it as they read the real one.
class system_override {
 public:
  virtual ~system_override() = default;

  // Returns the calling thread's override; nullptr: the system answers.
  static system_override* of_thread() noexcept {
    return in_use_.load(std::memory_order_relaxed) == 0 ? nullptr : current();
  }
  // Sets the calling thread's override and returns the previous one.
  static system_override* exchange(system_override* next) noexcept;

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
  static system_override* current() noexcept;

  static std::atomic<std::uint32_t> in_use_;  // number of threads
};

// Sets the calling thread's override until the scope ends; nullptr: unchanged.
class override_scope {
 public:
  explicit override_scope(system_override* s) noexcept
      : is_set_(s != nullptr), before_(s != nullptr ? system_override::exchange(s) : nullptr) {}
  override_scope(const override_scope&) = delete;
  override_scope& operator=(const override_scope&) = delete;
  ~override_scope() {
    if (is_set_) system_override::exchange(before_);
  }

 private:
  const bool is_set_;
  system_override* const before_;
};

}  // namespace hmn::platform
