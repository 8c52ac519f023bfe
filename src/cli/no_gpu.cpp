// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/no_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/diagnostics.hpp"
#include "cli/escape.hpp"
#include "cli/hardware.hpp"

namespace hmn::cli {
namespace {

std::string unmeasured(const std::vector<adapter>& adapters) {
  std::string list;
  for (const auto& each : adapters)
    if (each.vendor == HMN_VENDOR_AMD || each.vendor == HMN_VENDOR_INTEL)
      list += (list.empty() ? "" : ", ") + describe(each);
  return list;
}

bool is_simulated(const context& in) {
  const auto info = in.backend(HMN_BACKEND_SIMULATED);
  return info && info->state == HMN_STATE_READY;
}

}  // namespace

std::string why_no_gpu(const context& in, bool simulated) {
  if (simulated || is_simulated(in)) return "none found: the simulated machine has none";
  if (const auto list = unmeasured(find_adapters(roots_from_environment())); !list.empty())
    return fmt::format("none that this version can measure: {}", list);
  const auto nvml = in.backend(HMN_BACKEND_NVML);
  if (!nvml || nvml->message[0] == 0) return "none found";
  return fmt::format("none found: {}", escape_for_text(nvml->message));
}

bool search_failed(const snapshot& picture) {
  const auto all = picture.diagnostics();
  return picture.info().device_count == 0 && std::any_of(all.begin(), all.end(), hides_devices);
}

}  // namespace hmn::cli
