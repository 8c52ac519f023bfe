// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/no_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/measure/look.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/diagnostics.hpp"

namespace hmn::cli {
namespace {

void append(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

// Cards that a driver of this machine has and this container has not.
std::string hidden(const context& in, const snapshot& picture) {
  std::string list;
  const auto drm = in.backend(HMN_BACKEND_DRM);
  if (!drm || drm->state != HMN_STATE_READY) return list;
  for (const auto& each : picture.diagnostics())
    if (each.status == HMN_E_NO_DEVICE && each.backend == HMN_BACKEND_DRM)
      append(list, describe(each));
  return list;
}

}  // namespace

std::string why_no_gpu(const context& in, const snapshot& picture) {
  if (const auto simulated = in.simulation())
    return fmt::format("none found: {}", simulated->message[0] == 0
                                             ? "the simulated machine has none"
                                             : simulated->message);
  if (const auto list = hidden(in, picture); !list.empty()) return "none found: " + list;
  if (const auto list = unmeasured_gpus(); !list.empty()) return "none found: " + list;
  const auto nvml = in.backend(HMN_BACKEND_NVML);
  if (!nvml || nvml->message[0] == 0) return "none found";
  return fmt::format("none found: {}{}", nvml->state == HMN_STATE_OFF ? "NVML is " : "",
                     nvml->message);
}

bool search_failed(const snapshot& picture) {
  const auto all = picture.diagnostics();
  return picture.info().device_count == 0 && std::any_of(all.begin(), all.end(), hides_devices);
}

std::optional<failure> check_for_gpus(const context& in, const std::string& lacking, bool trace) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = HMN_COLLECT_DEVICES;
  const auto first = look(in, what, trace);
  if (!first) return first.why();
  if (search_failed(*first)) print_diagnostics(*first);
  if (first->info().device_count != 0) return std::nullopt;
  return failed(lacking + why_no_gpu(in, *first));
}

}  // namespace hmn::cli
