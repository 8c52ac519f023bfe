// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include "model/usage_sum.hpp"

namespace hmn::cli {

// Adds a row that has used_bytes. Memory counts for each process where the driver does not report
// what of it others hold.
inline void add_usage(usage_sum& to, const hypomnesis::usage& row) noexcept {
  to.add(*row.used_bytes, row.shared_bytes, true);
}

}  // namespace hmn::cli
