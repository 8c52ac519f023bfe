// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace hmn::platform {

// Returns 0 or errno. The thread has every signal blocked and at least 512 KiB of stack; name is
// cut at the system's limit (15 bytes on Linux) and need not outlive the call.
int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept;

// Starts a thread that calls object->run(), and keeps `object` until that returns.
template <class T>
int start_detached(const std::shared_ptr<T>& object, const char* name) {
  auto holder = std::make_unique<std::shared_ptr<T>>(object);
  const auto entry = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<T>> owner(static_cast<std::shared_ptr<T>*>(argument));
    (*owner)->run();
  };
  const int error = start_detached(entry, holder.get(), name);
  if (error == 0) static_cast<void>(holder.release());
  return error;
}

// Disables cancellation of the calling thread for its lifetime and restores errno at its end.
class NoCancel {
 public:
  NoCancel() noexcept;
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;
  ~NoCancel();

 private:
  int errno_;
  int state_;
};

// Lets the host program's event loop wait for something to be ready. Closed on exec. Not safe for
// concurrent use.
class ReadyEvent {
 public:
  ReadyEvent() = default;
  ReadyEvent(const ReadyEvent&) = delete;
  ReadyEvent& operator=(const ReadyEvent&) = delete;
  ~ReadyEvent() { close(); }

  // Returns 0, or the system's error.
  int create() noexcept;
  [[nodiscard]] bool exists() const noexcept { return native_ >= 0; }
  // Descriptor or handle to wait for.
  [[nodiscard]] std::int64_t native() const noexcept { return native_; }
  // Does nothing if there is no event.
  void set(bool ready) noexcept;
  void close() noexcept;

 private:
  std::int64_t native_ = -1;
  bool is_set_ = false;
#ifndef _WIN32
  int writer_ = -1;           // native_ itself where one descriptor serves both
  std::uint64_t device_ = 0;  // identity of native_
  std::uint64_t inode_ = 0;
#endif
};

}  // namespace hmn::platform
