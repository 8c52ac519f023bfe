// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string_view>

namespace hmn::drm {

// Of the text of /proc/<pid>/stat: a kernel thread, which holds no descriptor. False when it makes
// no sense.
bool is_kernel_thread(std::string_view stat) noexcept;

}  // namespace hmn::drm
