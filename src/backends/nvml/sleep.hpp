// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runtime power management of NVIDIA devices, from files that wake nothing. NVML must stay closed
// while one of them is suspended, and must not stay open if one could suspend.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/nvml/known_device.hpp"
#include "backends/shared/pci/known_vendors.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

class sleep_watch {
 public:
  struct watched {
    pci_address address;
    bool may_sleep = false;
    bool asleep = false;
  };

  explicit sleep_watch(const settings& s);

  // Updates the list and power/control once a second, runtime_status of devices that may sleep each
  // time.
  void refresh(std::uint64_t now_ns);

  // Devices of the nvidia driver (<proc>/driver/nvidia/gpus, else sysfs), by address.
  [[nodiscard]] std::span<const watched> devices() const noexcept { return devices_; }
  [[nodiscard]] const watched* find(const pci_address& address) const noexcept;
  [[nodiscard]] bool one_is_asleep() const noexcept;
  [[nodiscard]] bool one_may_sleep() const noexcept;
  // Longest autosuspend delay of the kernel, from a device's last use to its suspension; 0 if
  // unknown.
  [[nodiscard]] std::uint64_t longest_delay_ns() const noexcept;
  // Number of changes of the list.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

 private:
  void list();
  void list_from_driver();
  void list_from_bus();
  // First line of a file in the device's folder of power management.
  using word = std::array<char, 32>;
  std::string_view read(const pci_address& device, std::string_view file, word& buffer) const;
  void read_controls() noexcept;

  std::string proc_root_;
  std::string sys_root_;
  std::shared_ptr<pci::known_vendors> on_bus_;
  std::vector<watched> devices_;
  std::vector<watched> found_;  // in the listing under way
  std::uint64_t listed_at_ns_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace hmn::nvml
