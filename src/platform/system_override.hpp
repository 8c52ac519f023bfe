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

ErrnoOr<size_t> read_small(const char* path, std::span<char> buffer) noexcept;
ErrnoOr<bool> read_whole(const char* path, std::string& out, size_t cap);
ErrnoOr<size_t> read_link(const char* path, std::span<char> buffer) noexcept;
ErrnoOr<FileStatus> read_status(const char* path) noexcept;
bool exists(const char* path) noexcept;
bool is_executable_file(const char* path) noexcept;
int for_each_entry(const char* path, EntryVisitor visit);

}  // namespace hmn::platform::real

namespace hmn::platform {

// Answers a thread's requests in place of the system, from a recorded or a described machine, so
// that sources read it as they read the real one.
class SystemOverride {
 public:
  virtual ~SystemOverride() = default;

  // Returns the calling thread's override; nullptr: the system answers.
  static SystemOverride* active() noexcept {
    return thread_count_.load(std::memory_order_relaxed) == 0 ? nullptr : current();
  }
  // Sets the calling thread's override and returns the previous one.
  static SystemOverride* exchange(SystemOverride* next) noexcept;

  // Services, as in file.hpp, subprocess.hpp, device_query.hpp and process.hpp.
  using QueryFunction = ErrnoOr<std::size_t> (*)(const char*, DeviceQuery,
                                                 std::span<std::byte>) noexcept;
  using RunFunction = Outcome (*)(const Command&);
  virtual ErrnoOr<std::size_t> read_small(const char* path, std::span<char> buffer) noexcept = 0;
  virtual ErrnoOr<bool> read_whole(const char* path, std::string& out, std::size_t cap) = 0;
  virtual ErrnoOr<std::size_t> read_link(const char* path, std::span<char> buffer) noexcept = 0;
  virtual ErrnoOr<FileStatus> read_status(const char* path) noexcept = 0;
  virtual bool exists(const char* path) noexcept = 0;
  virtual bool is_executable_file(const char* path) noexcept = 0;
  virtual int for_each_entry(const char* path, EntryVisitor visit) = 0;
  virtual int open_directory(const char* path) noexcept = 0;
  virtual Outcome run(const Command& command, RunFunction run_real) = 0;
  virtual ErrnoOr<std::size_t> query_device(const char* node, DeviceQuery query,
                                            std::span<std::byte> buffer,
                                            QueryFunction query_real) noexcept = 0;
  [[nodiscard]] virtual std::size_t page_size(std::size_t system_size) const noexcept = 0;

 private:
  static SystemOverride* current() noexcept;

  static std::atomic<std::uint32_t> thread_count_;  // number of threads
};

// Sets the calling thread's override until the scope ends; nullptr: unchanged.
class OverrideScope {
 public:
  explicit OverrideScope(SystemOverride* replacement) noexcept
      : is_set_(replacement != nullptr),
        previous_(replacement != nullptr ? SystemOverride::exchange(replacement) : nullptr) {}
  OverrideScope(const OverrideScope&) = delete;
  OverrideScope& operator=(const OverrideScope&) = delete;
  ~OverrideScope() {
    if (is_set_) SystemOverride::exchange(previous_);
  }

 private:
  const bool is_set_;
  SystemOverride* const previous_;
};

}  // namespace hmn::platform
