// SPDX-License-Identifier: MIT OR Apache-2.0
//
// For systems where drivers have no queries through device nodes.
#include <cerrno>

#include "platform/device_query.hpp"
#include "platform/system_override.hpp"

namespace hmn::platform {
namespace {

ErrnoOr<size_t> reject_query(const char* /*node*/, DeviceQuery /*what*/,
                             std::span<std::byte> /*answer*/) noexcept {
  return {0, EOPNOTSUPP};
}

}  // namespace

ErrnoOr<size_t> query_device(const char* node, DeviceQuery query,
                             std::span<std::byte> answer) noexcept {
  if (SystemOverride* const active = SystemOverride::active())
    return active->query_device(node, query, answer, reject_query);
  return reject_query(node, query, answer);
}

}  // namespace hmn::platform
