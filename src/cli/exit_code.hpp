// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// docs/exit-codes.md
enum class exit_code : int { done = 0, failed = 1, usage = 2 };

}  // namespace hmn::cli
