// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "platform/file.hpp"
#include "platform/posix/descriptor.hpp"
#include "platform/posix/file_at.hpp"
#include "platform/real_file.hpp"
#include "platform/stand_in.hpp"

namespace hmn::platform {
namespace {

// Path below a folder that is answered by a stand-in.
class path_below {
 public:
  path_below(const std::string& folder, const char* name) noexcept {
    const size_t length = std::strlen(name);
    const bool fits = folder.size() + length + 2 <= sizeof bytes_;
    bytes_[0] = '\0';
    if (!fits) return;
    std::memcpy(bytes_, folder.data(), folder.size());
    bytes_[folder.size()] = '/';
    std::memcpy(bytes_ + folder.size() + 1, name, length + 1);
  }
  const char* c_str() const noexcept { return bytes_; }

 private:
  char bytes_[4352];
};

int for_each_entry_at(int at, const char* name, entry_visitor visit) {
  const descriptor from(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return from ? list_entries(from.get(), visit) : errno;
}

}  // namespace

int real::for_each_entry(const char* path, entry_visitor visit) {
  return for_each_entry_at(AT_FDCWD, path, visit);
}

int for_each_entry(const char* path, entry_visitor visit) {
  if (stand_in* const r = stand_in::of_thread()) return r->for_each_entry(path, visit);
  return real::for_each_entry(path, visit);
}

errno_or<directory> directory::open(const char* path) noexcept {
  if (stand_in* const r = stand_in::of_thread()) {
    const int error = r->open_directory(path);
    return error == 0 ? named(path) : errno_or<directory>{{}, error};
  }
  const int opened = open_base(path);
  if (opened < 0) return {{}, errno};
  return {directory(opened), 0};
}

errno_or<directory> directory::named(const char* path) noexcept {
  directory made;
  try {
    made.recorded_ = std::make_unique<const std::string>(path);
  } catch (const std::bad_alloc&) {
    return {{}, ENOMEM};
  }
  return {std::move(made), 0};
}

directory::directory(directory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), recorded_(std::move(other.recorded_)) {}

directory& directory::operator=(directory&& other) noexcept {
  directory before(std::move(other));
  std::swap(descriptor_, before.descriptor_);
  std::swap(recorded_, before.recorded_);
  return *this;
}

directory::~directory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

errno_or<size_t> directory::read_small(const char* name, std::span<char> buffer) const noexcept {
  if (recorded_) return platform::read_small(path_below(*recorded_, name).c_str(), buffer);
  return read_small_at(descriptor_, name, buffer);
}

errno_or<size_t> directory::read_link(const char* name, std::span<char> buffer) const noexcept {
  if (recorded_) return platform::read_link(path_below(*recorded_, name).c_str(), buffer);
  return read_link_at(descriptor_, name, buffer);
}

errno_or<file_status> directory::status_of(const char* name) const noexcept {
  if (recorded_) return platform::status_of(path_below(*recorded_, name).c_str());
  return status_at(descriptor_, name);
}

int directory::for_each_entry(const char* name, entry_visitor visit) const {
  if (recorded_) return platform::for_each_entry(path_below(*recorded_, name).c_str(), visit);
  return for_each_entry_at(descriptor_, name, visit);
}

errno_or<directory> directory::open_folder(const char* name) const noexcept {
  if (recorded_) return named(path_below(*recorded_, name).c_str());
  const int opened = openat(descriptor_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return {{}, errno};
  return {directory(opened), 0};
}

int directory::for_each_entry(entry_visitor visit) const {
  if (recorded_) return platform::for_each_entry(recorded_->c_str(), visit);
  return list_entries(descriptor_, visit);
}

}  // namespace hmn::platform
