// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace hmn::cli {

// As hmn_format_bytes: "512 MiB", "8.2 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace hmn::cli
