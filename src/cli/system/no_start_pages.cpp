// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/start_pages.hpp"

namespace hmn::cli {

void release_start_pages() {}

}  // namespace hmn::cli
