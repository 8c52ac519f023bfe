// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

#include "cli/handles.hpp"

namespace hmn::cli {

// Why a snapshot lists no device, in one line.
std::string why_no_gpu(const context& in);

// Nothing was found because something failed, not because there is nothing.
bool search_failed(const snapshot& picture);

}  // namespace hmn::cli
