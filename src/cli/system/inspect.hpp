// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/finding.hpp"

namespace hmn::cli {

struct NvidiaBackends {
  std::optional<hypomnesis::backend_info> nvml;
  std::optional<hypomnesis::backend_info> nvidia_smi;
};

// What the library reported of this machine, for the findings of hmn doctor.
struct MachineEvidence {
  NvidiaBackends nvidia;
  std::vector<hypomnesis::device> devices;
  std::optional<hypomnesis::system_memory> memory;
  Section sources;
  bool has_refused_processes = false;  // some may not be inspected
  Site site = Site::host;              // detect_site()
};

// Returns findings about this system that limit its measurements.
std::vector<Section> inspect_machine(const MachineEvidence& evidence);

// Returns where the remedies for this process' problems apply.
Site detect_site();

// Lists GPUs that the system reports but no source measures, each with its reason; empty: none
// known.
std::string list_unmeasured_gpus();

// Returns the kernel driver of a measured GPU; empty: unknown.
std::string find_kernel_driver(const hypomnesis::device& device);

// Returns the likely reason if a driver of this system takes seconds, as "; ..." with advice;
// empty: none known.
std::string_view explain_slow_drivers();

}  // namespace hmn::cli
