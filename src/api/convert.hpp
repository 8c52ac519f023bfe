// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Conversions of C options that several nouns share.
#pragma once

#include <hypomnesis.h>

#include <string_view>

#include "core/context.hpp"
#include "core/snapshot.hpp"
#include "platform/clock.hpp"

namespace hmn::api {

// Converts an option that is a time in milliseconds. Zero is `usual`, which may be of another type.
template <class T>
constexpr T ns_from(std::uint32_t ms, T usual) noexcept {
  if (ms == 0) return usual;
  if (ms == HMN_MS_UNLIMITED) return platform::no_deadline;
  return ms != HMN_MS_IMMEDIATE ? ms * platform::ns_per_ms : 0;
}

result<void> check_pool_kind(std::uint32_t kind);

// Returns the word for MiB that HMN_LINE_* selects.
std::string_view unit_from(hmn_flags flags) noexcept;

// Takes the replacement for a collect of 0 in `default_collect`.
result<void> read_request(const hmn_snapshot_options* options, hmn_flags default_collect,
                          snapshot_request& r);

}  // namespace hmn::api
