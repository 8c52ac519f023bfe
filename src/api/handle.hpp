// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <hypomnesis.h>

#include "core/context.hpp"

namespace hmn::api {

// A handle is the address of the object behind it.
inline context& object(hmn_context* handle) noexcept {
  return *reinterpret_cast<context*>(handle);
}
inline const snapshot& object(const hmn_snapshot* handle) noexcept {
  return *reinterpret_cast<const snapshot*>(handle);
}
inline hmn_context* handle_of(std::unique_ptr<context> object) noexcept {
  return reinterpret_cast<hmn_context*>(object.release());
}
inline hmn_snapshot* handle_of(std::unique_ptr<snapshot> object) noexcept {
  return reinterpret_cast<hmn_snapshot*>(object.release());
}

}  // namespace hmn::api
