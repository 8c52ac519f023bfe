// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/known_vendors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/compose.hpp"
#include "model/device.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::pci {
namespace {

constexpr std::array searched{vendor::nvidia, vendor::amd};
constexpr std::uint64_t every_vendor = (std::uint64_t{1} << searched.size()) - 1;

constexpr std::uint64_t bit_of(std::uint32_t vendor) {
  const auto* const at = std::ranges::find(searched, vendor);
  return at == searched.end() ? 0 : std::uint64_t{1} << (at - searched.begin());
}

// Returns all where the kernel's list is not that of the machine of sys_root.
std::uint64_t vendors_on_bus(std::string_view proc_root, std::string_view sys_root) {
  constexpr std::size_t most = std::size_t{1} << 22;
  // As "/proc" and "/sys" are.
  const std::size_t root = sys_root.size() - std::min<std::size_t>(sys_root.size(), 4);
  if (sysfs::path_text{sys_root.substr(0, root), "/proc"}.view() != proc_root) return every_vendor;
  const sysfs::path_text path{proc_root, "/bus/pci/devices"};
  std::string list;
  const auto cut = platform::read_whole(path.c_str(), list, most);
  return !cut || cut.value || list.empty() ? every_vendor : vendors_in(list);
}

}  // namespace

std::uint64_t vendors_in(std::string_view list) {
  std::uint64_t found = 0;
  while (!list.empty()) {
    const std::string_view line = scan::take_line(list);
    if (line.size() < 9 || line[4] != '\t') return every_vendor;
    const auto vendor = scan::number(line.substr(5, 4), 16);
    found |= vendor ? bit_of(static_cast<std::uint32_t>(*vendor)) : every_vendor;
  }
  return found;
}

bool may_have(std::uint32_t vendor, std::string_view proc_root, std::string_view sys_root,
              known_vendors& known) {
  const std::uint64_t bit = bit_of(vendor);
  if (bit == 0) return true;
  const std::uint64_t now = platform::monotonic_ns() & ~every_vendor;
  std::uint64_t found = known.load(std::memory_order_relaxed);
  if (found == 0 || now - (found & ~every_vendor) >= longest_age_ns) {
    found = now | vendors_on_bus(proc_root, sys_root);
    known.store(found, std::memory_order_relaxed);
  }
  return (found & bit) != 0;
}

}  // namespace hmn::pci
