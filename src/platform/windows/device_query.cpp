// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/device_query.hpp"

#include <cerrno>

#include "platform/stand_in.hpp"

namespace hmn::platform {
namespace {

// Windows has no node of a driver that speaks one of these languages.
errno_or<size_t> ask_node(const char*, device_question, std::span<std::byte>) noexcept {
  return {0, EOPNOTSUPP};
}

}  // namespace

errno_or<size_t> ask_device(const char* node, device_question what,
                            std::span<std::byte> answer) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->ask_device(node, what, answer, ask_node);
  return ask_node(node, what, answer);
}

}  // namespace hmn::platform
