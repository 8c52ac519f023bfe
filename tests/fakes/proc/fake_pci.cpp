// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdio>

#include "fake_tree.hpp"

namespace hmn_fake {
namespace {

std::string format_hex(unsigned value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x\n", digits, value);
  return text;
}

void write_line(const Tree& tree, const std::string& path, const std::optional<std::string>& text) {
  if (text) tree.write(path, *text + "\n");
}

void write_ids(const Tree& tree, const std::string& folder, const PciDevice& values) {
  tree.write(folder + "/vendor", format_hex(values.vendor, 4));
  tree.write(folder + "/device", format_hex(values.device, 4));
  tree.write(folder + "/class", format_hex(values.device_class, 6));
  if (values.subsystem_vendor)
    tree.write(folder + "/subsystem_vendor", format_hex(*values.subsystem_vendor, 4));
  if (values.subsystem_device)
    tree.write(folder + "/subsystem_device", format_hex(*values.subsystem_device, 4));
  if (values.numa_node) tree.write(folder + "/numa_node", std::to_string(*values.numa_node) + "\n");
}

void write_power(const Tree& tree, const std::string& folder, const PciDevice& values) {
  write_line(tree, folder + "/power/control", values.power_control);
  write_line(tree, folder + "/power/runtime_status", values.runtime_status);
  write_line(tree, folder + "/power_state", values.power_state);
}

void link_drm(const Tree& tree, const std::string& folder, const std::string& device_path,
              const PciDevice& values) {
  for (const auto& node : values.drm_nodes) {
    tree.directory(folder + "/drm/" + node);
    tree.link(folder + "/drm/" + node + "/device", "../../../" + values.address);
    tree.link("sys/class/drm/" + node, "../../" + device_path + "/drm/" + node);
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

void add_pci_device(const Tree& tree, const PciDevice& values) {
  const auto device_path = pci_folder(values.address);
  const auto folder = "sys/" + device_path;
  write_ids(tree, folder, values);
  write_power(tree, folder, values);
  link_drm(tree, folder, device_path, values);
  if (values.driver) {
    tree.directory("sys/bus/pci/drivers/" + *values.driver);
    tree.link(folder + "/driver", "../../../bus/pci/drivers/" + *values.driver);
  }
  for (const auto& [name, text] : values.files) tree.write(folder + "/" + name, text);
  tree.link(folder + "/subsystem", "../../../bus/pci");
  tree.link("sys/bus/pci/devices/" + values.address, "../../../" + device_path);
}

// As kernel-open/nvidia/nv-procfs.c of the open driver prints it.
void add_nvidia_information(const Tree& tree, const NvidiaInformation& values) {
  std::string text =
      "Model: \t\t " + values.model + "\nIRQ:   \t\t " + std::to_string(values.irq) + "\n";
  if (!values.uuid.empty()) text += "GPU UUID: \t " + values.uuid + "\n";
  text += "Video BIOS: \t " + values.video_bios + "\nBus Type: \t " + values.bus_type + "\n";
  text += "DMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\n";
  text += "Bus Location: \t " + values.address + "\nDevice Minor: \t " +
          std::to_string(values.minor) + "\n";
  if (!values.firmware.empty()) text += "GPU Firmware: \t " + values.firmware + "\n";
  text += std::string("GPU Excluded:\t ") + (values.excluded ? "Yes" : "No") + "\n";
  tree.write("proc/driver/nvidia/gpus/" + values.address + "/information", text);
}

void set_nvidia_power(const Tree& tree, std::string_view address, std::string_view text) {
  tree.write("proc/driver/nvidia/gpus/" + std::string(address) + "/power", text);
}

void set_nvidia_version(const Tree& tree, std::string_view version) {
  tree.write("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + std::string(version) +
                 "  Thu Jan  1 00:00:00 UTC 1970\nGCC version:  gcc version 12.2.0\n");
}

}  // namespace hmn_fake
