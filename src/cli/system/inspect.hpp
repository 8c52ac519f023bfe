// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/text/finding.hpp"

namespace hmn::cli {

struct nvidia_backends {
  std::optional<hypomnesis::backend_info> nvml;
  std::optional<hypomnesis::backend_info> nvidia_smi;
};

struct machine_evidence {
  nvidia_backends nvidia;
  std::vector<hypomnesis::device> devices;
  std::optional<hypomnesis::system_memory> memory;
  section sources;
};

// What of this system stands between the machine and its figures.
std::vector<section> inspect_machine(const machine_evidence& seen);

// GPUs that the system lists and nothing measures, each with its reason; empty: none is known.
std::string unmeasured_gpus();

// The kernel's driver of a GPU that was measured here; empty: not told.
std::string kernel_driver(const hypomnesis::device& of);

}  // namespace hmn::cli
