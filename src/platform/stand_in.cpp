// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/stand_in.hpp"

#include <utility>

namespace hmn::platform {
namespace {

constinit thread_local stand_in* asked = nullptr;

}  // namespace

constinit std::atomic<std::uint32_t> stand_in::in_use_{0};

stand_in* stand_in::current() noexcept {
  return asked;
}

stand_in* stand_in::exchange(stand_in* next) noexcept {
  stand_in* const before = std::exchange(asked, next);
  if (next != nullptr) in_use_.fetch_add(1, std::memory_order_relaxed);
  if (before != nullptr) in_use_.fetch_sub(1, std::memory_order_relaxed);
  return before;
}

}  // namespace hmn::platform
