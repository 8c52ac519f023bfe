// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What an errno of a file, a device or a process proves.
#pragma once

#include <cerrno>

#include "model/failure.hpp"

namespace hmn {

// The file or the process does not exist.
constexpr bool is_gone(int error) noexcept {
  return error == ENOENT || error == ESRCH;
}

constexpr bool is_refused(int error) noexcept {
  return error == EACCES || error == EPERM;
}

// It is temporary and proves nothing: the file may be readable next time.
constexpr bool is_passing(int error) noexcept {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENODEV:
    case ENOMEM:
      return true;
    default:
      return false;
  }
}

// Status of a call that fails with it; `missing`: that of a file that does not exist.
constexpr status status_of(int error, status missing) noexcept {
  switch (error) {
    case ENOENT:
      return missing;
    case EACCES:
    case EPERM:
      return status::permission;
    case EOPNOTSUPP:
      return status::unsupported;
    case ESRCH:
      return status::no_process;
    case ENODEV:
    case ENXIO:
      return status::device_lost;
    case EMFILE:
    case ENFILE:
      return status::limit;
    case ENOMEM:
      return status::no_memory;
    default:
      return status::backend;
  }
}

}  // namespace hmn
