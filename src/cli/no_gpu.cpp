// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/no_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/diagnostics.hpp"
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

}  // namespace

std::string why_no_gpu(const context& in) {
  if (const auto simulated = in.simulation())
    return fmt::format("none found: {}", simulated->message[0] == 0
                                             ? "the simulated machine has none"
                                             : simulated->message);
  if (const auto list = unmeasured(find_adapters(roots_from_environment())); !list.empty())
    return fmt::format("none that this version can measure: {}", list);
  const auto nvml = in.backend(HMN_BACKEND_NVML);
  if (!nvml || nvml->message[0] == 0) return "none found";
  return fmt::format("none found: {}{}", nvml->state == HMN_STATE_OFF ? "NVML is " : "",
                     nvml->message);
}

bool search_failed(const snapshot& picture) {
  const auto all = picture.diagnostics();
  return picture.info().device_count == 0 && std::any_of(all.begin(), all.end(), hides_devices);
}

}  // namespace hmn::cli
