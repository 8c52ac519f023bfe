// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdio>

#include "fake_tree.hpp"

namespace hmn_fake {
namespace {

std::string hex(unsigned value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x\n", digits, value);
  return text;
}

void write_line(const Tree& to, const std::string& at, const std::optional<std::string>& text) {
  if (text) to.write(at, *text + "\n");
}

void write_ids(const Tree& to, const std::string& folder, const PciDevice& v) {
  to.write(folder + "/vendor", hex(v.vendor, 4));
  to.write(folder + "/device", hex(v.device, 4));
  to.write(folder + "/class", hex(v.device_class, 6));
  if (v.subsystem_vendor) to.write(folder + "/subsystem_vendor", hex(*v.subsystem_vendor, 4));
  if (v.subsystem_device) to.write(folder + "/subsystem_device", hex(*v.subsystem_device, 4));
  if (v.numa_node) to.write(folder + "/numa_node", std::to_string(*v.numa_node) + "\n");
}

void write_power(const Tree& to, const std::string& folder, const PciDevice& v) {
  write_line(to, folder + "/power/control", v.power_control);
  write_line(to, folder + "/power/runtime_status", v.runtime_status);
  write_line(to, folder + "/power_state", v.power_state);
}

void link_drm(const Tree& to, const std::string& folder, const std::string& device_path,
              const PciDevice& v) {
  for (const auto& node : v.drm_nodes) {
    to.directory(folder + "/drm/" + node);
    to.link(folder + "/drm/" + node + "/device", "../../../" + v.address);
    to.link("sys/class/drm/" + node, "../../" + device_path + "/drm/" + node);
  }
}

}  // namespace

std::string pci_folder(std::string_view address) {
  const auto domain_and_bus = address.substr(0, address.rfind(':'));
  return "devices/pci" + std::string(domain_and_bus) + "/" + std::string(address);
}

PciDevice amd_card(std::string_view address) {
  PciDevice card;
  card.address = address;
  card.vendor = 0x1002;
  card.device = 0x73ff;
  card.device_class = 0x030000;
  card.runtime_status = "active";
  card.driver = "amdgpu";
  return card;
}

void add_pci_device(const Tree& to, const PciDevice& v) {
  const auto device_path = pci_folder(v.address);
  const auto folder = "sys/" + device_path;
  write_ids(to, folder, v);
  write_power(to, folder, v);
  link_drm(to, folder, device_path, v);
  if (v.driver) {
    to.directory("sys/bus/pci/drivers/" + *v.driver);
    to.link(folder + "/driver", "../../../bus/pci/drivers/" + *v.driver);
  }
  for (const auto& [name, text] : v.files) to.write(folder + "/" + name, text);
  to.link(folder + "/subsystem", "../../../bus/pci");
  to.link("sys/bus/pci/devices/" + v.address, "../../../" + device_path);
}

// As kernel-open/nvidia/nv-procfs.c of the open driver prints it.
void add_nvidia_information(const Tree& to, const NvidiaInformation& v) {
  std::string text = "Model: \t\t " + v.model + "\nIRQ:   \t\t " + std::to_string(v.irq) + "\n";
  if (!v.uuid.empty()) text += "GPU UUID: \t " + v.uuid + "\n";
  text += "Video BIOS: \t " + v.video_bios + "\nBus Type: \t " + v.bus_type + "\n";
  text += "DMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\n";
  text += "Bus Location: \t " + v.address + "\nDevice Minor: \t " + std::to_string(v.minor) + "\n";
  if (!v.firmware.empty()) text += "GPU Firmware: \t " + v.firmware + "\n";
  text += std::string("GPU Excluded:\t ") + (v.excluded ? "Yes" : "No") + "\n";
  to.write("proc/driver/nvidia/gpus/" + v.address + "/information", text);
}

void set_nvidia_power(const Tree& to, std::string_view address, std::string_view text) {
  to.write("proc/driver/nvidia/gpus/" + std::string(address) + "/power", text);
}

void set_nvidia_version(const Tree& to, std::string_view version) {
  to.write("proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + std::string(version) +
               "  Thu Jan  1 00:00:00 UTC 1970\nGCC version:  gcc version 12.2.0\n");
}

}  // namespace hmn_fake
