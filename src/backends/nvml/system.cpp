// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/system.hpp"

#include <algorithm>
#include <array>

#include "backends/shared/pci/pci.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {

// Driver folders of WSL and NixOS come last. Never libnvidia-ml.so: that is a stub for linking.
std::span<const char* const> library_candidates() noexcept {
  static constexpr const char* candidates[] = {"libnvidia-ml.so.1",
                                               "/usr/lib/wsl/lib/libnvidia-ml.so.1",
                                               "/run/opengl-driver/lib/libnvidia-ml.so.1"};
  return candidates;
}

bool is_counted_by_system(const platform::Library&, Handle) noexcept {
  return false;
}

namespace {

constexpr const char* paravirtual_node = "/dev/dxg";

// Control node of the driver; WSL; Tegra before and after its move to a PCI-like driver.
constexpr std::array nodes{"/dev/nvidiactl", paravirtual_node, "/dev/nvhost-ctrl-gpu", "/dev/nvmap",
                           "/dev/nvgpu"};

bool has_any_node() noexcept {
  return std::ranges::any_of(nodes, platform::exists);
}

std::string format_gpu_advice(const pci::Gpu& gpu) {
  const Text<32> address = to_text(gpu.address);
  const std::string_view driver = gpu.driver.view();
  std::string_view beginning = "the NVIDIA GPU at ";
  std::string_view other_driver;
  std::string_view ending;
  if (driver == "vfio-pci") {
    ending = " is given to a virtual machine (vfio-pci)";
  } else if (driver == "nouveau" || driver == "nova_core") {
    other_driver = driver;
    ending = ", which measures nothing here; install NVIDIA's driver";
  } else if (driver == "nvidia") {
    ending =
        " has its kernel driver; install the package with libnvidia-ml.so.1, in a container enable "
        "the 'utility' driver capability";
  } else {
    beginning = "an NVIDIA GPU is at ";
    ending = "; install NVIDIA's driver, or in a container start it with GPU access";
  }
  return compose(
      {beginning, address.view(), other_driver.empty() ? "" : " runs on ", other_driver, ending});
}

std::string format_advice_without_bus() {
  if (is_paravirtual()) {
    return "WSL takes it from the NVIDIA driver of Windows; install or update that";
  }
  return has_any_node() ? "on Jetson it comes with JetPack 6 and later" : "";
}

}  // namespace

bool has_evidence(const Settings& settings) {
  return !settings.nvml_path.empty() || has_any_node() ||
         platform::exists((settings.proc_root + "/driver/nvidia").c_str()) ||
         platform::exists((settings.sys_root + "/module/nvidia").c_str()) ||
         !pci::list_gpus(settings.proc_root, settings.sys_root, vendor::nvidia,
                         *settings.bus_vendors)
              .empty();
}

bool may_list_unattached(const Settings& settings) {
  constexpr std::uint64_t first_major = 590;
  std::array<char, 32> buffer{};
  const auto size =
      platform::read_small((settings.sys_root + "/module/nvidia/version").c_str(), buffer);
  const std::string_view version(buffer.data(), size.value);
  const auto major = scan::parse_number(version.substr(0, version.find('.')));
  return !major || *major >= first_major;
}

bool is_paravirtual() noexcept {
  return platform::exists(paravirtual_node);
}

std::string format_advice(const Settings& settings) {
  const auto gpus =
      pci::list_gpus(settings.proc_root, settings.sys_root, vendor::nvidia, *settings.bus_vendors);
  return gpus.empty() ? format_advice_without_bus() : format_gpu_advice(gpus.front());
}

}  // namespace hmn::nvml
