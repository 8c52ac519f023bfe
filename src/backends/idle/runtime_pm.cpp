// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/idle/runtime_pm.hpp"

#include "model/scan.hpp"
#include "platform/clock.hpp"

namespace hmn::idle {

bool says_may_sleep(std::string_view control) noexcept {
  return control == "auto";
}

std::uint64_t delay_ns(std::string_view autosuspend_delay_ms) noexcept {
  const auto ms = scan::decimal(autosuspend_delay_ms);
  return ms && *ms < UINT32_MAX ? *ms * platform::ns_per_ms : 0;
}

}  // namespace hmn::idle
