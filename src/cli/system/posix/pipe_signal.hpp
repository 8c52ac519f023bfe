// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// Before prepare_streams: for the children of this program.
bool pipe_signal_was_ignored() noexcept;

}  // namespace hmn::cli
