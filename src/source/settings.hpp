// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "model/device.hpp"
#include "model/failure.hpp"

namespace hmn {

// Configuration of a context; constant after the first reading.
struct Settings {
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string dev_root;         // empty: "/dev" for the default sysfs tree, none for another
  std::string cgroup_root;      // empty: from mountinfo
  std::string nvml_path;        // empty: by soname through the dynamic loader
  std::string nvidia_smi_path;  // empty: in the known folders; likewise the next three
  std::string rocm_smi_path;
  std::string amd_smi_path;
  std::string macmon_path;
  std::string simulation_path;  // empty: off
  std::uint64_t disabled_sources = 0;
  std::uint32_t device_classes = device_class_bit(DeviceClass::gpu);  // bit n: class n is listed
  std::uint64_t idle_close_ns = 2'000'000'000;
  std::uint64_t rescan_ns = 2'000'000'000;  // interval in which all processes are scanned
  std::uint32_t rescan_percent = 2;         // maximum share of a core for these scans
  bool no_subprocess = false;
  bool wake_devices = false;
  bool no_threads = false;
  bool trace = false;
  bool record = false;
  // Vendors found on the PCI bus, shared by the sources of a context so that only one reads the
  // kernel's list (backends/shared/pci/pci.hpp).
  std::shared_ptr<std::atomic<std::uint64_t>> bus_vendors =
      std::make_shared<std::atomic<std::uint64_t>>(0);

  [[nodiscard]] bool is_enabled(Source source) const noexcept {
    return (disabled_sources >> static_cast<unsigned>(source) & 1U) == 0;
  }
};

}  // namespace hmn
