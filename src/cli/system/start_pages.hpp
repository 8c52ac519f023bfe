// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// Unmaps the code of the program and of its libraries. What is needed from now on is mapped again
// where it is used; what only the start needed, most of what loading libraries touches, is not
// resident any more.
void release_start_pages();

}  // namespace hmn::cli
