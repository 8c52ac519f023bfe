// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pci/bus.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/sysfs/attribute.hpp"
#include "model/device.hpp"
#include "model/scan.hpp"
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

// Returns false where the kernel's list of all functions, "0100\t10de2684\t…", is of the machine of
// sys_root and has none of the vendor. A line of it costs less than half of what opening a file of
// a function does.
bool may_have(std::uint32_t vendor, std::string_view proc_root, std::string_view sys_root) {
  constexpr std::size_t most = std::size_t{1} << 22;
  // As "/proc" and "/sys" are.
  const std::size_t root = sys_root.size() - std::min<std::size_t>(sys_root.size(), 4);
  if (path_text{sys_root.substr(0, root), "/proc"}.view() != proc_root) return true;
  std::string list;
  list.reserve(most / 16);  // growing would copy it six times
  const path_text path{proc_root, "/bus/pci/devices"};
  const auto cut = platform::read_whole(path.c_str(), list, most);
  if (!cut || cut.value || list.empty()) return true;
  char digits[8];
  const std::string_view wanted = compose_in(digits, {"\t", hex(vendor, 4)});
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view line = scan::take_line(rest);
    if (line.size() < 9 || line[4] != '\t' || line.substr(4, 5) == wanted) return true;
  }
  return false;
}

void insert(std::vector<gpu>& all, const gpu& found) {
  all.push_back(found);
  for (std::size_t i = all.size() - 1; i > 0 && all[i].address < all[i - 1].address; --i) {
    std::swap(all[i], all[i - 1]);
  }
}

}  // namespace

std::vector<gpu> gpus_on_bus(const std::string& proc_root, const std::string& sys_root,
                             std::uint32_t vendor) {
  const path_text devices{sys_root, "/bus/pci/devices"};
  std::vector<gpu> all;
  if (!may_have(vendor, proc_root, sys_root)) return all;
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
