// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/inspect.hpp"

#include <algorithm>
#include <hypomnesis.hpp>

#include "cli/system/windows/process.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {
namespace {

Section inspect_nvidia(const MachineEvidence& seen) {
  Section out{"NVIDIA", {}};
  const bool needed = std::any_of(seen.devices.begin(), seen.devices.end(), [](const auto& each) {
    return each.vendor == hypomnesis::vendor_id::nvidia;
  });
  const bool served = seen.nvidia.nvml && seen.nvidia.nvml->state == hypomnesis::run_state::ready;
  if (seen.nvidia.nvml)
    out.findings.push_back(inspect_backend("NVML", *seen.nvidia.nvml, needed, Site::host));
  if (seen.nvidia.nvidia_smi)
    out.findings.push_back(
        inspect_backend("nvidia-smi", *seen.nvidia.nvidia_smi, needed && !served, Site::host));
  if (out.findings.empty()) out.findings.push_back(note("this build has none of its sources"));
  return out;
}

bool is_elevated() {
  HANDLE opened = nullptr;
  if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &opened) == 0) return false;
  const platform::Handle token(opened);
  TOKEN_ELEVATION how{};
  DWORD length = 0;
  return GetTokenInformation(token.get(), TokenElevation, &how, sizeof how, &length) != 0 &&
         how.TokenIsElevated != 0;
}

Section inspect_permissions() {
  Section out{"Permissions", {}};
  if (is_elevated())
    out.findings.push_back(fine("runs elevated"));
  else
    out.findings.push_back({Severity::note,
                            "does not run elevated: names and memory of other users' and the "
                            "system's processes may be missing",
                            "start it from a terminal that runs as administrator"});
  return out;
}

Section inspect_job(const std::optional<hypomnesis::system_memory>& memory) {
  Section out{"Job object", {}};
  BOOL is_in = FALSE;
  if (IsProcessInJob(GetCurrentProcess(), nullptr, &is_in) == 0 || is_in == FALSE)
    out.findings.push_back(fine("hmn is in none"));
  else
    out.findings.push_back(note("hmn is in one"));
  out.findings.push_back(inspect_memory_limit(memory, "the job's limits cannot be read"));
  return out;
}

}  // namespace

std::vector<Section> inspect_machine(const MachineEvidence& seen) {
  return {inspect_nvidia(seen), seen.sources, inspect_job(seen.memory), inspect_permissions()};
}

Site own_site() {
  return Site::host;
}

// Returns none: DXGI, and therefore the library, lists every display adapter.
std::string unmeasured_gpus() {
  return {};
}

// Returns none: DXGI names each adapter.
std::string kernel_driver(const hypomnesis::device&) {
  return {};
}

std::string_view why_drivers_are_slow() {
  return {};
}

}  // namespace hmn::cli
