// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/file.hpp"

namespace hmn::platform {

// Nothing on Windows is read so often that keeping it open would pay.
errno_or<size_t> kept_file::read(std::span<char> buffer) noexcept {
  return read_small(path_.c_str(), buffer);
}

kept_file::~kept_file() = default;

}  // namespace hmn::platform
