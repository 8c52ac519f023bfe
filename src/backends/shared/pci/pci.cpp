// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/pci.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/character.hpp"
#include "model/device.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::pci {
namespace {

using sysfs::PathText;

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

void insert(std::vector<Gpu>& all, const Gpu& found) {
  all.push_back(found);
  for (std::size_t i = all.size() - 1; i > 0 && all[i].address < all[i - 1].address; --i) {
    std::swap(all[i], all[i - 1]);
  }
}

constexpr std::array searched{vendor::nvidia, vendor::amd};
constexpr std::uint64_t every_vendor = (std::uint64_t{1} << searched.size()) - 1;

constexpr std::uint64_t bit_of(std::uint32_t vendor) {
  const auto* const at = std::ranges::find(searched, vendor);
  return at == searched.end() ? 0 : std::uint64_t{1} << (at - searched.begin());
}

// Returns all if the kernel's list is not that of the machine of sys_root.
std::uint64_t vendors_on_bus(std::string_view proc_root, std::string_view sys_root) {
  constexpr std::size_t most = std::size_t{1} << 22;
  // Both must be in the same folder, as "/proc" and "/sys" are.
  const std::size_t root = sys_root.size() - std::min<std::size_t>(sys_root.size(), 4);
  if (sysfs::PathText{sys_root.substr(0, root), "/proc"}.view() != proc_root) return every_vendor;
  const sysfs::PathText path{proc_root, "/bus/pci/devices"};
  std::string list;
  const auto cut = platform::read_whole(path.c_str(), list, most);
  return !cut || cut.value || list.empty() ? every_vendor : vendors_in(list);
}

bool has_word(std::string_view text, std::string_view word) noexcept {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_letter_or_digit(text[at - 1]);
    if (begins && (end == text.size() || !is_letter_or_digit(text[end]))) return true;
  }
  return false;
}

// Processors with a GPU inside, and its compute capability, which no other GPU has. The sources are
// in docs/backends/nvml.md.
struct Chip {
  std::string_view name;  // a word of the driver's name for the GPU
  std::uint32_t major, minor;
};
constexpr Chip chips[] = {
    {"Tegra", 5, 3},                                                     // X1
    {"Tegra", 6, 2},                                                     // X2
    {"Xavier", 7, 2}, {"Orin", 8, 7}, {"Thor", 10, 1}, {"Thor", 11, 0},  // since CUDA 13
    {"GB10", 12, 1},  {"N1X", 12, 1}, {"N1", 12, 1},   {"Spark", 12, 1},
};
// GB20B, the GPU of GB10 and N1X.
constexpr std::uint16_t chip_ids[] = {0x2e03, 0x2e06, 0x2e12, 0x2e13, 0x2e2a};

}  // namespace

std::vector<Gpu> gpus_on_bus(const std::string& proc_root, const std::string& sys_root,
                             std::uint32_t vendor, KnownVendors& known) {
  std::vector<Gpu> all;
  if (!may_have(vendor, proc_root, sys_root, known)) return all;
  const PathText devices{sys_root, "/bus/pci/devices"};
  (void)platform::for_each_entry(devices.c_str(), [&](std::string_view name) {
    const auto address = parse_pci_address(name);
    const PathText path{devices.view(), "/", name};
    const std::string_view in = path.view();
    if (!address || number_in(in, "vendor") != vendor || !is_gpu(number_in(in, "class"), vendor)) {
      return true;
    }
    const std::uint32_t subsystem = number_in(in, "subsystem_device") << 16;
    insert(all, {*address, number_in(in, "device"), subsystem | number_in(in, "subsystem_vendor"),
                 Text<32>(sysfs::read_link_name(in, "driver").view()), sysfs::is_asleep(in).value});
    return true;
  });
  return all;
}

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
              KnownVendors& known) {
  const std::uint64_t bit = bit_of(vendor);
  if (bit == 0) return true;
  const std::uint64_t now = platform::continuous_ns() & ~every_vendor;
  std::uint64_t found = known.load(std::memory_order_relaxed);
  if (found == 0 || now - (found & ~every_vendor) >= longest_age_ns) {
    found = now | vendors_on_bus(proc_root, sys_root);
    known.store(found, std::memory_order_relaxed);
  }
  return (found & bit) != 0;
}

bool names_system_on_chip(std::string_view name) noexcept {
  return std::ranges::any_of(chips, [&](const Chip& chip) { return has_word(name, chip.name); });
}

bool is_tegra(const std::string& sys_root) {
  std::array<char, 512> buffer;
  const std::string_view all =
      sysfs::read_text(sys_root, "firmware/devicetree/base/compatible", buffer).value;
  return all.find("nvidia,tegra") != all.npos;
}

bool is_integrated_nvidia(const Device& d) noexcept {
  const auto has_capability = [&](const Chip& chip) {
    return d.compute_capability_major == chip.major && d.compute_capability_minor == chip.minor;
  };
  return d.vendor == vendor::nvidia &&
         (std::ranges::any_of(chips, has_capability) ||
          std::ranges::find(chip_ids, d.pci_device) != std::end(chip_ids) ||
          names_system_on_chip(d.name.view()));
}

}  // namespace hmn::pci
