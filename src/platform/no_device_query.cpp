// SPDX-License-Identifier: MIT OR Apache-2.0
//
// For systems where drivers have no queries through device nodes.
#include <cerrno>

#include "platform/device_query.hpp"
#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

ErrnoOr<size_t> ask_nobody(const char* /*node*/, DeviceQuestion /*what*/,
                           std::span<std::byte> /*answer*/) noexcept {
  return {0, EOPNOTSUPP};
}

}  // namespace

ErrnoOr<size_t> ask_device(const char* node, DeviceQuestion what,
                           std::span<std::byte> answer) noexcept {
  if (SystemOverride* const r = SystemOverride::of_thread())
    return r->ask_device(node, what, answer, ask_nobody);
  return ask_nobody(node, what, answer);
}

}  // namespace hmn::platform
