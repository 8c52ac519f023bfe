// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string_view>

namespace hmn::cli {

// Parts of the notice after its beginning, which outlive all notices: a likely reason with advice
// ("; ..."), and what is known without the driver, with the end of the line.
inline constinit std::string_view advice_in_notice;
inline constinit std::string_view end_of_notice = "\n";

inline constexpr std::string_view still_waiting = "hmn: still waiting for a driver";

// Prints once on standard error, after a second, that hmn waits for a driver.
class waiting_notice {
 public:
  waiting_notice() noexcept;
  ~waiting_notice();
  waiting_notice(const waiting_notice&) = delete;
  waiting_notice& operator=(const waiting_notice&) = delete;
};

}  // namespace hmn::cli
