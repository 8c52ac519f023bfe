// SPDX-License-Identifier: MIT OR Apache-2.0
#include <windows.h>

#include <cerrno>
#include <memory>
#include <new>

#include "platform/thread.hpp"
#include "platform/windows/system.hpp"

namespace hmn::platform {
namespace {

constexpr SIZE_T stack_size = SIZE_T{512} << 10;
constexpr size_t name_size = 32;

struct ThreadStart {
  void (*entry)(void*);
  void* argument;
  wchar_t name[name_size];
};

// SetThreadDescription needs Windows 10, version 1607.
void name_thread(const wchar_t* name) noexcept {
  using Naming = HRESULT(WINAPI*)(HANDLE, PCWSTR);
  const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
  const auto function =
      kernel != nullptr ? GetProcAddress(kernel, "SetThreadDescription") : nullptr;
  if (function == nullptr) return;
  reinterpret_cast<Naming>(reinterpret_cast<void*>(function))(GetCurrentThread(), name);
}

extern "C" {
static DWORD WINAPI run_start(void* argument) {
  const std::unique_ptr<ThreadStart> owner(static_cast<ThreadStart*>(argument));
  const ThreadStart start = *owner;
  name_thread(start.name);
  start.entry(start.argument);
  return 0;
}
}

// A thread may still run in this code when the program frees the library.
bool pin_library() noexcept {
  HMODULE file = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<const wchar_t*>(&run_start), &file) != 0;
}

HANDLE to_handle(std::int64_t native) noexcept {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(native));
}

}  // namespace

int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept {
  std::unique_ptr<ThreadStart> start(new (std::nothrow) ThreadStart{entry, argument, {}});
  if (!start) return ENOMEM;
  for (size_t i = 0; i + 1 < name_size && name[i] != '\0'; ++i) {
    start->name[i] = static_cast<unsigned char>(name[i]);
  }
  if (!pin_library()) return last_errno();
  const Handle thread(CreateThread(nullptr, stack_size, run_start, start.get(),
                                   STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
  if (!thread) return last_errno();
  static_cast<void>(start.release());
  return 0;
}

// Keeps the value of GetLastError; there is no cancellation to disable.
NoCancel::NoCancel() noexcept : errno_(errno), state_(static_cast<int>(GetLastError())) {}

NoCancel::~NoCancel() {
  errno = errno_;
  SetLastError(static_cast<DWORD>(state_));
}

int ReadyEvent::create() noexcept {
  const HANDLE event = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  if (event == nullptr) return last_errno();
  native_ = reinterpret_cast<std::intptr_t>(event);
  return 0;
}

void ReadyEvent::set(bool ready) noexcept {
  if (!exists() || is_set_ == ready) return;
  is_set_ = ready;
  static_cast<void>(ready ? SetEvent(to_handle(native_)) : ResetEvent(to_handle(native_)));
}

void ReadyEvent::close() noexcept {
  if (exists()) CloseHandle(to_handle(native_));
  native_ = -1;
}

}  // namespace hmn::platform
