// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::platform {

// Maps a number of GetLastError to that of the services of this folder; EIO for one without a
// counterpart.
int errno_of(unsigned long error) noexcept;
int last_errno() noexcept;

}  // namespace hmn::platform
