// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/system/inspect.hpp"
#include "cli/units.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

std::optional<std::string> text_if(const hmn_device& device, hmn_flags bit, const char* text) {
  return has(device, bit) ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<hmn_pool> main_pool(const std::vector<hmn_pool>& pools, std::uint32_t index) {
  for (const auto& each : pools)
    if (each.device_index == index && each.is_main != 0) return each;
  return std::nullopt;
}

bool has_ids(const hmn_device& device) {
  return device.vendor != HMN_VENDOR_UNKNOWN && has(device, HMN_DEVICE_HAS_PCI_DEVICE);
}

bool is_named_without_driver(const hmn_device& device) {
  return has(device, HMN_DEVICE_HAS_NAME) || (has_ids(device) && vendor_name(device.vendor));
}

// For a card that the kernel has no name for: as lspci -nn would, or by its driver.
std::optional<std::string> name_by_ids(const gpu& of) {
  const auto vendor = vendor_name(of.device.vendor);
  if (!vendor && of.driver.empty()) return std::nullopt;
  const auto maker = vendor.value_or(of.driver);
  if (has_ids(of.device))
    return fmt::format("{} {:04x}:{:04x}", maker, of.device.vendor, of.device.pci_device);
  if (of.driver.empty()) return std::nullopt;
  return fmt::format("{}{}{} GPU", vendor.value_or(""), vendor ? " " : "", of.driver);
}

}  // namespace

std::vector<gpu> gpus_of(const snapshot& picture) {
  const auto pools = picture.pools();
  std::vector<gpu> all;
  for (const auto& device : picture.devices()) {
    all.push_back({device, main_pool(pools, device.index)});
    // A simulated device's numbers are none of this machine's.
    if (!picture.is_simulated() && !is_named_without_driver(device))
      all.back().driver = kernel_driver(device);
  }
  return all;
}

std::optional<std::string> shown_name(const gpu& of) {
  const auto name = name_of(of.device);
  return name ? name : name_by_ids(of);
}

std::string label_of(const gpu& of) {
  auto label = fmt::format("GPU {}", of.device.index);
  if (const auto name = shown_name(of)) label += fmt::format(" [{}]", *name);
  if (has(of.device, HMN_DEVICE_HAS_PARENT))
    label += fmt::format(" in GPU {}", of.device.parent_index);
  return label;
}

std::optional<double> fraction_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

std::optional<double> fraction_used(const gpu& of) {
  if (!of.memory || !has(*of.memory, HMN_POOL_HAS_TOTAL)) return std::nullopt;
  const auto& pool = *of.memory;
  if (has(pool, HMN_POOL_HAS_FREE) && pool.free_bytes <= pool.total_bytes)
    return fraction_of(pool.total_bytes - pool.free_bytes, pool.total_bytes);
  if (has(pool, HMN_POOL_HAS_USED)) return fraction_of(pool.used_bytes, pool.total_bytes);
  return std::nullopt;
}

std::string staleness(hmn_flags notes, std::uint64_t age_ns) {
  if ((notes & HMN_NOTE_STALE) == 0) return {};
  return fmt::format(", stale: {:.1f} s old", static_cast<double>(age_ns) / ns_per_s);
}

std::optional<std::string> name_of(const hmn_device& device) {
  return text_if(device, HMN_DEVICE_HAS_NAME, device.name);
}

std::optional<std::string> uuid_of(const hmn_device& device) {
  return text_if(device, HMN_DEVICE_HAS_UUID, device.uuid);
}

std::optional<std::string> pci_bus_id_of(const hmn_device& device) {
  return text_if(device, HMN_DEVICE_HAS_PCI, device.pci_bus_id);
}

std::optional<std::string> driver_version_of(const hmn_device& device) {
  return text_if(device, HMN_DEVICE_HAS_DRIVER, device.driver_version);
}

}  // namespace hmn::cli
