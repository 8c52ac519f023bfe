// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/nvml/pci.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

constexpr const char* paravirtual_node = "/dev/dxg";

// The driver's control node; WSL; Tegra before and after its move to a PCI-like driver.
constexpr std::array nodes{"/dev/nvidiactl", paravirtual_node, "/dev/nvhost-ctrl-gpu", "/dev/nvmap",
                           "/dev/nvgpu"};

bool any_node() noexcept {
  return std::any_of(nodes.begin(), nodes.end(), platform::exists);
}

std::string advice_for(const pci_display& first) {
  const auto address = to_text(first.address);
  if (first.driver == "vfio-pci") {
    return fmt::format("the NVIDIA GPU at {} is given to a virtual machine (vfio-pci)",
                       address.view());
  }
  if (first.driver == "nouveau" || first.driver == "nova_core") {
    return fmt::format(
        "the NVIDIA GPU at {} runs on {}, which measures nothing here; install NVIDIA's "
        "driver",
        address.view(), first.driver);
  }
  if (first.driver == "nvidia") {
    return fmt::format(
        "the NVIDIA GPU at {} has its kernel driver; install the package with "
        "libnvidia-ml.so.1, in a container enable the 'utility' driver capability",
        address.view());
  }
  return fmt::format(
      "an NVIDIA GPU is at {}; install NVIDIA's driver, or in a container start it "
      "with GPU access",
      address.view());
}

std::string advice_off_the_bus() {
  if (is_paravirtual()) {
    return "WSL takes it from the NVIDIA driver of Windows; install or update that";
  }
  return any_node() ? "on Jetson it comes with JetPack 6 and later" : "";
}

}  // namespace

bool has_evidence(const settings& s) {
  return !s.nvml_path.empty() || any_node() ||
         platform::exists((s.proc_root + "/driver/nvidia").c_str()) ||
         platform::exists((s.sys_root + "/module/nvidia").c_str()) ||
         has_nvidia_display(s.sys_root);
}

bool is_paravirtual() noexcept {
  return platform::exists(paravirtual_node);
}

std::string advice(const std::string& sys_root) {
  const auto displays = nvidia_displays(sys_root);
  return displays.empty() ? advice_off_the_bus() : advice_for(displays.front());
}

}  // namespace hmn::nvml
