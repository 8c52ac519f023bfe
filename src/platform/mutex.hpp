// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <mutex>

#ifdef _WIN32
#include "platform/windows/mutex.hpp"
#else
namespace hmn::platform {

using mutex = std::mutex;

}  // namespace hmn::platform
#endif
