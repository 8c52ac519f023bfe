// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Queries to a driver through its device node. The node is opened and closed within the call, since
// an open one keeps its device awake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/file.hpp"

namespace hmn::platform {

// Interface of the driver that defines the query.
enum class QueryDriver { i915, xe };

struct DeviceQuery {
  QueryDriver driver = QueryDriver::i915;
  uint32_t number = 0;  // in the driver's list of queries
};

// Returns the length of the answer, whose content is driver-specific. ENOBUFS: longer than the
// buffer. EOPNOTSUPP: not a node of a driver with this interface, or the driver does not know the
// query.
ErrnoOr<size_t> query_device(const char* node, DeviceQuery query,
                             std::span<std::byte> answer) noexcept;

}  // namespace hmn::platform
