// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/size.hpp"

#include <hypomnesis.h>

#include <array>

namespace hmn::cli {

std::string size_text(std::uint64_t bytes) {
  std::array<char, 64> buffer{};
  hmn_format_bytes(bytes, buffer.data(), static_cast<std::uint32_t>(buffer.size()), nullptr);
  return buffer.data();
}

}  // namespace hmn::cli
