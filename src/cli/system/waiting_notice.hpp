// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

namespace hmn::cli {

// The line itself, with what may help on this system.
extern const std::string_view still_waiting;

// While it lives: after a second it says once, on standard error, what may be taking so long.
class waiting_notice {
 public:
  waiting_notice() noexcept;
  ~waiting_notice();
  waiting_notice(const waiting_notice&) = delete;
  waiting_notice& operator=(const waiting_notice&) = delete;
};

}  // namespace hmn::cli
