// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

namespace hmn::cli {

// Text of the notice, with advice for this system, without the end of its line.
extern const std::string_view still_waiting;

// End of the notice's line: what is known without the driver. It outlives all notices.
inline constinit std::string_view end_of_notice = "\n";

// Prints once on standard error, after a second, a likely reason for the delay.
class waiting_notice {
 public:
  waiting_notice() noexcept;
  ~waiting_notice();
  waiting_notice(const waiting_notice&) = delete;
  waiting_notice& operator=(const waiting_notice&) = delete;
};

}  // namespace hmn::cli
