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
std::span<const char* const> library_places() noexcept {
  static constexpr const char* places[] = {"libnvidia-ml.so.1",
                                           "/usr/lib/wsl/lib/libnvidia-ml.so.1",
                                           "/run/opengl-driver/lib/libnvidia-ml.so.1"};
  return places;
}

bool is_counted_by_system(const platform::Library&, Handle) noexcept {
  return false;
}

namespace {

constexpr const char* paravirtual_node = "/dev/dxg";

// Control node of the driver; WSL; Tegra before and after its move to a PCI-like driver.
constexpr std::array nodes{"/dev/nvidiactl", paravirtual_node, "/dev/nvhost-ctrl-gpu", "/dev/nvmap",
                           "/dev/nvgpu"};

bool any_node() noexcept {
  return std::ranges::any_of(nodes, platform::exists);
}

std::string advice_for(const pci::Gpu& first) {
  const Text<32> address = to_text(first.address);
  const std::string_view driver = first.driver.view();
  std::string_view is_at = "the NVIDIA GPU at ";
  std::string_view runs_on;
  std::string_view advised;
  if (driver == "vfio-pci") {
    advised = " is given to a virtual machine (vfio-pci)";
  } else if (driver == "nouveau" || driver == "nova_core") {
    runs_on = driver;
    advised = ", which measures nothing here; install NVIDIA's driver";
  } else if (driver == "nvidia") {
    advised =
        " has its kernel driver; install the package with libnvidia-ml.so.1, in a container enable "
        "the 'utility' driver capability";
  } else {
    is_at = "an NVIDIA GPU is at ";
    advised = "; install NVIDIA's driver, or in a container start it with GPU access";
  }
  return compose({is_at, address.view(), runs_on.empty() ? "" : " runs on ", runs_on, advised});
}

std::string advice_off_the_bus() {
  if (is_paravirtual()) {
    return "WSL takes it from the NVIDIA driver of Windows; install or update that";
  }
  return any_node() ? "on Jetson it comes with JetPack 6 and later" : "";
}

}  // namespace

bool has_evidence(const Settings& s) {
  return !s.nvml_path.empty() || any_node() ||
         platform::exists((s.proc_root + "/driver/nvidia").c_str()) ||
         platform::exists((s.sys_root + "/module/nvidia").c_str()) ||
         !pci::gpus_on_bus(s.proc_root, s.sys_root, vendor::nvidia, *s.on_bus).empty();
}

bool may_list_unattached(const Settings& s) {
  constexpr std::uint64_t first_major = 590;
  std::array<char, 32> buffer{};
  const auto size = platform::read_small((s.sys_root + "/module/nvidia/version").c_str(), buffer);
  const std::string_view version(buffer.data(), size.value);
  const auto major = scan::number(version.substr(0, version.find('.')));
  return !major || *major >= first_major;
}

bool is_paravirtual() noexcept {
  return platform::exists(paravirtual_node);
}

std::string advice(const Settings& s) {
  const auto gpus = pci::gpus_on_bus(s.proc_root, s.sys_root, vendor::nvidia, *s.on_bus);
  return gpus.empty() ? advice_off_the_bus() : advice_for(gpus.front());
}

}  // namespace hmn::nvml
