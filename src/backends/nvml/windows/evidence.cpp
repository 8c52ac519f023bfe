// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/evidence.hpp"

#include "backends/nvml/system.hpp"
#include "platform/library.hpp"

namespace hmn::nvml {

// The driver's installation brings the library. Loading it touches no device.
bool has_evidence(const settings& s) {
  if (!s.nvml_path.empty()) return true;
  for (const char* place : library_places()) {
    if (platform::library::open(place)) return true;
  }
  return false;
}

bool is_paravirtual() noexcept {
  return false;
}

std::string advice(const std::string&) {
  return "it comes with NVIDIA's driver";
}

}  // namespace hmn::nvml
