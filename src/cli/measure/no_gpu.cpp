// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/no_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/measure/by_device.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/diagnostics.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::backend_id;
using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::status_code;

void append(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

// Lists cards with a driver on this machine that are not visible in this container.
std::string hidden(const session& in, const hypomnesis::snapshot& snapshot) {
  std::string list;
  const auto drm = in.backend(backend_id::drm);
  if (!drm || drm->state != run_state::ready) return list;
  for (const auto& each : snapshot.diagnostics())
    if (each.status == status_code::no_device && each.backend == backend_id::drm)
      append(list, each.message);
  return list;
}

// Lists what sources lack that may have a GPU, as the driver's library.
std::string lacking_sources(const hypomnesis::snapshot& snapshot) {
  std::string list;
  for (const auto& each : snapshot.diagnostics())
    if (each.status == status_code::no_source && !each.device_index) append(list, describe(each));
  return list;
}

std::string reasons(const session& in, const hypomnesis::snapshot& snapshot) {
  if (auto list = hidden(in, snapshot); !list.empty()) return list;
  if (auto list = unmeasured_gpus(); !list.empty()) return list;
  return lacking_sources(snapshot);
}

}  // namespace

std::string why_no_gpu(const session& in, const hypomnesis::snapshot& snapshot) {
  if (const auto simulated = in.simulation())
    return fmt::format("none found: {}", simulated->message.empty()
                                             ? "the simulated machine has none"
                                             : simulated->message);
  const auto list = reasons(in, snapshot);
  return fmt::format("none found{}{}; `hmn doctor` lists what was searched",
                     list.empty() ? "" : ": ", list);
}

std::optional<std::string> why_search_failed(const hypomnesis::snapshot& snapshot) {
  const auto info = snapshot.info();
  if (info.device_count != 0 || !has(info.notes, hypomnesis::note::partial)) return std::nullopt;
  for (const auto& each : snapshot.diagnostics())
    if (hides_devices(each)) return describe(each);
  return std::nullopt;
}

bool search_failed(const hypomnesis::snapshot& snapshot) {
  return why_search_failed(snapshot).has_value();
}

bool is_late(const hypomnesis::snapshot& list) {
  if (!has(list.info().notes, hypomnesis::note::partial)) return false;
  const auto all = list.diagnostics();
  return std::any_of(all.begin(), all.end(), [](const hypomnesis::diagnostic& each) {
    return each.status == status_code::timeout && !each.device_index && hides_devices(each);
  });
}

bool lacks_devices(const std::vector<hypomnesis::diagnostic>& all,
                   const std::function<run_state(std::uint32_t index)>& state_of) {
  return std::any_of(all.begin(), all.end(), [&](const hypomnesis::diagnostic& each) {
    return lessens_devices(each) &&
           (!each.device_index || state_of(*each.device_index) == run_state::ready);
  });
}

bool lacks_devices(const hypomnesis::snapshot& snapshot) {
  const auto info = snapshot.info();
  if (info.device_count == 0 || !has(info.notes, hypomnesis::note::lower_bound)) return false;
  const auto devices = snapshot.devices();
  return lacks_devices(snapshot.diagnostics(), [&](std::uint32_t index) {
    return find_device_in(devices, index, &hypomnesis::device::index)->state;
  });
}

std::optional<failure> check_for_gpus(const session& in, const std::string& lacking) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices;
  const auto first = in.collect(what);
  if (first.info().device_count != 0) return std::nullopt;
  if (!search_failed(first)) return failed(lacking + why_no_gpu(in, first));
  print_diagnostics(first);
  return failed(lacking + "the search for GPUs failed");
}

}  // namespace hmn::cli
