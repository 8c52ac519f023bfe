// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/inspect.hpp"

#include <algorithm>
#include <hypomnesis.hpp>

#include "cli/system/windows/process.hpp"
#include "platform/windows/system.hpp"

namespace hmn::cli {
namespace {

Section inspect_nvidia(const MachineEvidence& evidence) {
  Section section{"NVIDIA", {}};
  const bool is_needed = std::any_of(
      evidence.devices.begin(), evidence.devices.end(),
      [](const auto& device) { return device.vendor == hypomnesis::vendor_id::nvidia; });
  const bool is_nvml_ready =
      evidence.nvidia.nvml && evidence.nvidia.nvml->state == hypomnesis::run_state::ready;
  if (evidence.nvidia.nvml)
    section.findings.push_back(
        inspect_backend("NVML", *evidence.nvidia.nvml, is_needed, Site::host));
  if (evidence.nvidia.nvidia_smi)
    section.findings.push_back(inspect_backend("nvidia-smi", *evidence.nvidia.nvidia_smi,
                                               is_needed && !is_nvml_ready, Site::host));
  if (section.findings.empty())
    section.findings.push_back(make_note("this build has none of its sources"));
  return section;
}

bool is_elevated() {
  HANDLE token_handle = nullptr;
  if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token_handle) == 0) return false;
  const platform::Handle token(token_handle);
  TOKEN_ELEVATION elevation{};
  DWORD length = 0;
  return GetTokenInformation(token.get(), TokenElevation, &elevation, sizeof elevation, &length) !=
             0 &&
         elevation.TokenIsElevated != 0;
}

Section inspect_permissions() {
  Section section{"Permissions", {}};
  if (is_elevated())
    section.findings.push_back(make_fine("runs elevated"));
  else
    section.findings.push_back({Severity::note,
                                "does not run elevated: names and memory of other users' and the "
                                "system's processes may be missing",
                                "start it from a terminal that runs as administrator"});
  return section;
}

Section inspect_job(const std::optional<hypomnesis::system_memory>& memory) {
  Section section{"Job object", {}};
  BOOL is_in_job = FALSE;
  if (IsProcessInJob(GetCurrentProcess(), nullptr, &is_in_job) == 0 || is_in_job == FALSE)
    section.findings.push_back(make_fine("hmn is in none"));
  else
    section.findings.push_back(make_note("hmn is in one"));
  section.findings.push_back(inspect_memory_limit(memory, "the job's limits cannot be read"));
  return section;
}

}  // namespace

std::vector<Section> inspect_machine(const MachineEvidence& evidence) {
  return {inspect_nvidia(evidence), evidence.sources, inspect_job(evidence.memory),
          inspect_permissions()};
}

Site detect_site() {
  return Site::host;
}

// Returns none: DXGI, and therefore the library, lists every display adapter.
std::string list_unmeasured_gpus() {
  return {};
}

// Returns none: DXGI names each adapter.
std::string find_kernel_driver(const hypomnesis::device&) {
  return {};
}

std::string_view explain_slow_drivers() {
  return {};
}

}  // namespace hmn::cli
