// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/bus.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/device.hpp"
#include "platform/file.hpp"

namespace hmn::pci {
namespace {

using sysfs::path_text;

// Parses "0x10de"; 0: unknown.
std::uint32_t number_in(std::string_view folder, std::string_view name) {
  const std::uint64_t number = sysfs::read_hex(folder, name).value;
  return number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : 0;
}

bool is_gpu(std::uint32_t class_code, std::uint32_t vendor) {
  constexpr std::uint32_t display = 0x03;
  constexpr std::uint32_t accelerator = 0x12;
  const std::uint32_t base = class_code >> 16;
  return base == display || (base == accelerator && vendor == vendor::amd);
}

void insert(std::vector<gpu>& all, const gpu& found) {
  all.push_back(found);
  for (std::size_t i = all.size() - 1; i > 0 && all[i].address < all[i - 1].address; --i) {
    std::swap(all[i], all[i - 1]);
  }
}

}  // namespace

std::vector<gpu> gpus_on_bus(const std::string& proc_root, const std::string& sys_root,
                             std::uint32_t vendor, known_vendors& known) {
  std::vector<gpu> all;
  if (!may_have(vendor, proc_root, sys_root, known)) return all;
  const path_text devices{sys_root, "/bus/pci/devices"};
  (void)platform::for_each_entry(devices.c_str(), [&](std::string_view name) {
    const auto address = parse_pci_address(name);
    const path_text path{devices.view(), "/", name};
    const std::string_view in = path.view();
    if (!address || number_in(in, "vendor") != vendor || !is_gpu(number_in(in, "class"), vendor)) {
      return true;
    }
    const std::uint32_t subsystem = number_in(in, "subsystem_device") << 16;
    insert(all, {*address, number_in(in, "device"), subsystem | number_in(in, "subsystem_vendor"),
                 text<32>(sysfs::read_link_name(in, "driver").view()), sysfs::is_asleep(in).value});
    return true;
  });
  return all;
}

}  // namespace hmn::pci
