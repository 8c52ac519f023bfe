// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What an errno says of the thing that could not be read.
#pragma once

#include <cerrno>

namespace hmn::drm {

constexpr bool is_gone(int error) noexcept {
  return error == ENOENT || error == ESRCH;
}

constexpr bool is_refused(int error) noexcept {
  return error == EACCES || error == EPERM;
}

// It says nothing of the thing, which may be read next time.
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

}  // namespace hmn::drm
