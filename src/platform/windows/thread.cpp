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

struct Start {
  void (*entry)(void*);
  void* argument;
  wchar_t name[name_size];
};

// SetThreadDescription needs Windows 10, version 1607.
void name_thread(const wchar_t* name) noexcept {
  using Naming = HRESULT(WINAPI*)(HANDLE, PCWSTR);
  const HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
  const auto found = kernel != nullptr ? GetProcAddress(kernel, "SetThreadDescription") : nullptr;
  if (found == nullptr) return;
  reinterpret_cast<Naming>(reinterpret_cast<void*>(found))(GetCurrentThread(), name);
}

extern "C" {
static DWORD WINAPI run_start(void* given) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(given));
  const Start now = *owned;
  name_thread(now.name);
  now.entry(now.argument);
  return 0;
}
}

// A thread may still run in this code when the program frees the library.
bool pin() noexcept {
  HMODULE file = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<const wchar_t*>(&run_start), &file) != 0;
}

HANDLE handle_from(std::int64_t native) noexcept {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(native));
}

}  // namespace

int start_detached(void (*entry)(void*), void* argument, const char* name) noexcept {
  std::unique_ptr<Start> what(new (std::nothrow) Start{entry, argument, {}});
  if (!what) return ENOMEM;
  for (size_t i = 0; i + 1 < name_size && name[i] != '\0'; ++i) {
    what->name[i] = static_cast<unsigned char>(name[i]);
  }
  if (!pin()) return last_errno();
  const Handle thread(CreateThread(nullptr, stack_size, run_start, what.get(),
                                   STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr));
  if (!thread) return last_errno();
  static_cast<void>(what.release());
  return 0;
}

// Keeps the value of GetLastError; there is no cancellation to disable.
NoCancel::NoCancel() noexcept : errno_(errno), state_(static_cast<int>(GetLastError())) {}

NoCancel::~NoCancel() {
  errno = errno_;
  SetLastError(static_cast<DWORD>(state_));
}

int ReadyEvent::create() noexcept {
  const HANDLE made = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  if (made == nullptr) return last_errno();
  native_ = reinterpret_cast<std::intptr_t>(made);
  return 0;
}

void ReadyEvent::set(bool ready) noexcept {
  if (!exists() || is_set_ == ready) return;
  is_set_ = ready;
  static_cast<void>(ready ? SetEvent(handle_from(native_)) : ResetEvent(handle_from(native_)));
}

void ReadyEvent::close() noexcept {
  if (exists()) CloseHandle(handle_from(native_));
  native_ = -1;
}

}  // namespace hmn::platform
