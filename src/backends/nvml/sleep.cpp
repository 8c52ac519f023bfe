// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/sleep.hpp"

#include <algorithm>

#include "backends/shared/idle/backoff.hpp"
#include "backends/shared/pci/bus.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/compose.hpp"
#include "model/device.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

bool bound_to_another(std::string_view driver) noexcept {
  return !driver.empty() && driver != "nvidia";
}

}  // namespace

sleep_watch::sleep_watch(const settings& s)
    : proc_root_(s.proc_root), sys_root_(s.sys_root), on_bus_(s.on_bus) {}

void sleep_watch::refresh(std::uint64_t now_ns) {
  if (listed_at_ns_ == 0 || now_ns - listed_at_ns_ >= platform::ns_per_second) {
    list();
    read_controls();
    listed_at_ns_ = now_ns;
  }
  word buffer;
  for (watched& w : devices_) {
    w.asleep = w.may_sleep && sysfs::says_asleep(read(w.address, "runtime_status", buffer));
  }
}

const sleep_watch::watched* sleep_watch::find(const pci_address& address) const noexcept {
  const auto found =
      std::ranges::find_if(devices_, [&](const watched& w) { return w.address == address; });
  return found == devices_.end() ? nullptr : &*found;
}

bool sleep_watch::one_is_asleep() const noexcept {
  return std::ranges::any_of(devices_, [](const watched& w) { return w.asleep; });
}

bool sleep_watch::one_may_sleep() const noexcept {
  return std::ranges::any_of(devices_, [](const watched& w) { return w.may_sleep; });
}

std::uint64_t sleep_watch::longest_delay_ns() const noexcept {
  word buffer;
  std::uint64_t longest = 0;
  for (const watched& w : devices_) {
    if (!w.may_sleep) continue;
    longest = std::max(longest, idle::delay_ns(read(w.address, "autosuspend_delay_ms", buffer)));
  }
  return longest;
}

void sleep_watch::list() {
  found_.clear();
  list_from_driver();
  if (found_.empty()) list_from_bus();
  std::ranges::sort(found_, {}, &watched::address);
  if (std::ranges::equal(devices_, found_, {}, &watched::address, &watched::address)) return;
  ++changes_;
  devices_.swap(found_);
}

void sleep_watch::list_from_driver() {
  const std::string gpus = proc_root_ + "/driver/nvidia/gpus";
  platform::for_each_entry(gpus.c_str(), [&](std::string_view name) {
    if (const auto a = parse_pci_address(name)) found_.push_back({*a});
    return true;
  });
}

void sleep_watch::list_from_bus() {
  for (const pci::gpu& g : pci::gpus_on_bus(proc_root_, sys_root_, vendor::nvidia, *on_bus_)) {
    if (!bound_to_another(g.driver.view())) found_.push_back({g.address});
  }
}

// Allocates nothing: it is part of each reading.
std::string_view sleep_watch::read(const pci_address& device, std::string_view file,
                                   word& buffer) const {
  std::array<char, 80> name;
  return sysfs::read_line(
             sys_root_,
             compose_in(name, {"bus/pci/devices/", system_name(device).view(), "/power/", file}),
             buffer)
      .value;
}

void sleep_watch::read_controls() noexcept {
  word buffer;
  for (watched& w : devices_) {
    w.may_sleep = idle::says_may_sleep(read(w.address, "control", buffer));
  }
}

}  // namespace hmn::nvml
