// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/proc_path.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace hmn::os {
namespace {

status status_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return status::permission;
    case ENOMEM:
      return status::no_memory;
    case EMFILE:
    case ENFILE:
      return status::limit;
    case ENOENT:
      return status::no_source;
    case ESRCH:
      return status::no_process;
    default:
      return status::backend;
  }
}

std::string_view reason_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the system refuses to let this user read it";
    case ENOMEM:
      return "the kernel is out of memory";
    case EMFILE:
      return "this process has no file descriptor left";
    case ENFILE:
      return "the system has no file descriptor left";
    case ENOENT:
      return "it is not there";
    case ESRCH:
      return "the process has ended";
    default:
      return "reading it failed";
  }
}

}  // namespace

proc_path::proc_path(std::string_view root, std::string_view who, std::string_view file) noexcept {
  bytes_[0] = '\0';
  for (const std::string_view part : {root, who, file}) {
    if (part.empty()) continue;
    if (length_ != 0 && bytes_[length_ - 1] != '/') append("/");
    append(part);
  }
}

void proc_path::append(std::string_view part) noexcept {
  fits_ = fits_ && length_ + part.size() < bytes_.size();
  if (!fits_) {
    length_ = 0;
    bytes_[0] = '\0';
    return;
  }
  std::copy(part.begin(), part.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(length_));
  length_ += part.size();
  bytes_[length_] = '\0';
}

pid_name::pid_name(std::uint32_t pid) noexcept {
  const std::to_chars_result r = std::to_chars(bytes_.data(), bytes_.data() + bytes_.size(), pid);
  length_ = static_cast<std::size_t>(r.ptr - bytes_.data());
}

failure unreadable(int error, const proc_path& path) {
  std::string message = "cannot read ";
  message += path.c_str();
  message += ": ";
  message += reason_of(error);
  return {status_of(error), source::os, {native_domain::error_number, error}, message};
}

failure nonsense(const proc_path& path, std::string_view what) {
  std::string message(path.c_str());
  message += " makes no sense: ";
  message += what;
  return {status::backend, source::os, {}, message};
}

}  // namespace hmn::os
