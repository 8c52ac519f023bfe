// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/library.hpp"

#include <dlfcn.h>

#include <utility>

#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

// The loader's message repeats a name that it did not find verbatim, and has the path of a file
// that it found and cannot load. The rest may be translated.
bool is_missing(const char* name, std::string_view error_text) {
  if (std::string_view(name).find('/') != std::string_view::npos) return !real::exists(name);
  const std::size_t position = error_text.find(name);
  return position != error_text.npos && (position == 0 || error_text[position - 1] == ' ');
}

// Frees the loader's copy of the thread's last error, which it would keep until the thread ends.
void clear_error() noexcept {
  while (dlerror() != nullptr) {
  }
}

}  // namespace

Library::OpenResult Library::open(const char* name_or_path) {
  OpenResult result;
  // dlopen takes both for the program itself.
  if (name_or_path == nullptr || *name_or_path == '\0') {
    result.error_text = "no library name";
    return result;
  }
  result.value = Library(dlopen(name_or_path, RTLD_NOW | RTLD_LOCAL));
  if (!result) {
    const char* text = dlerror();
    result.error_text = text != nullptr ? text : "the loader gave no reason";
    result.is_missing = is_missing(name_or_path, result.error_text);
    clear_error();
  }
  return result;
}

Library::Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Library& Library::operator=(Library&& other) noexcept {
  Library before(std::move(other));
  std::swap(handle_, before.handle_);
  return *this;
}

Library::~Library() {
  close();
}

// dlsym takes a null handle for the whole program.
void* Library::symbol(const char* name) const noexcept {
  if (handle_ == nullptr) return nullptr;
  void* const address = dlsym(handle_, name);
  if (address == nullptr) clear_error();
  return address;
}

void Library::close() noexcept {
  if (handle_ != nullptr) dlclose(std::exchange(handle_, nullptr));
}

void Library::leave_open() noexcept {
  handle_ = nullptr;
}

}  // namespace hmn::platform
