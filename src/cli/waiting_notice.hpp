// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli {

// While it lives: after a second it says once, on standard error, what may be taking so long.
class waiting_notice {
 public:
  waiting_notice() noexcept;
  ~waiting_notice();
  waiting_notice(const waiting_notice&) = delete;
  waiting_notice& operator=(const waiting_notice&) = delete;
};

}  // namespace hmn::cli
