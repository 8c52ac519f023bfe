// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/library.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <utility>

namespace hmn::platform {

library::open_result library::open(const char* name_or_path) {
  open_result result;
  // Reject both, which dlopen takes for the program itself.
  if (name_or_path == nullptr || *name_or_path == '\0') {
    result.error_text = "no library name";
    return result;
  }
  errno = 0;
  result.value = library(dlopen(name_or_path, RTLD_NOW | RTLD_LOCAL));
  if (!result) {
    result.lacked_memory = errno == ENOMEM;  // the message then names many other causes
    const char* text = dlerror();
    result.error_text = text != nullptr ? text : "the loader gave no reason";
  }
  return result;
}

library::library(library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

library& library::operator=(library&& other) noexcept {
  library before(std::move(other));
  std::swap(handle_, before.handle_);
  return *this;
}

library::~library() {
  close();
}

// Rejects a null handle, which dlsym takes for the whole program.
void* library::symbol(const char* name) const noexcept {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

void library::close() noexcept {
  if (handle_ != nullptr) dlclose(std::exchange(handle_, nullptr));
}

void library::leave_open() noexcept {
  handle_ = nullptr;
}

}  // namespace hmn::platform
