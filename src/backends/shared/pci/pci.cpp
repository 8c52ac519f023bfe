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
std::uint32_t read_id(std::string_view folder, std::string_view name) {
  const std::uint64_t number = sysfs::read_hex(folder, name).value;
  return number <= UINT32_MAX ? static_cast<std::uint32_t>(number) : 0;
}

bool is_gpu(std::uint32_t class_code, std::uint32_t vendor) {
  constexpr std::uint32_t display = 0x03;
  constexpr std::uint32_t accelerator = 0x12;
  const std::uint32_t base = class_code >> 16;
  return base == display || (base == accelerator && vendor == vendor::amd);
}

void insert_sorted(std::vector<Gpu>& gpus, const Gpu& gpu) {
  gpus.push_back(gpu);
  for (std::size_t i = gpus.size() - 1; i > 0 && gpus[i].address < gpus[i - 1].address; --i) {
    std::swap(gpus[i], gpus[i - 1]);
  }
}

constexpr std::array searched_vendors{vendor::nvidia, vendor::amd};
constexpr std::uint64_t all_vendors = (std::uint64_t{1} << searched_vendors.size()) - 1;

constexpr std::uint64_t vendor_bit(std::uint32_t vendor) {
  const auto* const it = std::ranges::find(searched_vendors, vendor);
  return it == searched_vendors.end() ? 0 : std::uint64_t{1} << (it - searched_vendors.begin());
}

// Returns all vendors if the kernel's list is of another machine than sys_root.
std::uint64_t read_vendors(std::string_view proc_root, std::string_view sys_root) {
  constexpr std::size_t max_size = std::size_t{1} << 22;
  // Both must be in the same folder, as "/proc" and "/sys" are.
  const std::size_t root = sys_root.size() - std::min<std::size_t>(sys_root.size(), 4);
  if (sysfs::PathText{sys_root.substr(0, root), "/proc"}.view() != proc_root) return all_vendors;
  const sysfs::PathText path{proc_root, "/bus/pci/devices"};
  std::string list;
  const auto result = platform::read_whole(path.c_str(), list, max_size);
  return !result || result.value || list.empty() ? all_vendors : parse_vendors(list);
}

bool has_word(std::string_view text, std::string_view word) noexcept {
  for (std::size_t position = text.find(word); position != text.npos;
       position = text.find(word, position + 1)) {
    const std::size_t end = position + word.size();
    const bool is_start = position == 0 || !is_letter_or_digit(text[position - 1]);
    if (is_start && (end == text.size() || !is_letter_or_digit(text[end]))) return true;
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

std::vector<Gpu> list_gpus(const std::string& proc_root, const std::string& sys_root,
                           std::uint32_t vendor, VendorCache& cache) {
  std::vector<Gpu> gpus;
  if (!may_have_gpu(vendor, proc_root, sys_root, cache)) return gpus;
  const PathText devices{sys_root, "/bus/pci/devices"};
  (void)platform::for_each_entry(devices.c_str(), [&](std::string_view name) {
    const auto address = parse_pci_address(name);
    const PathText path{devices.view(), "/", name};
    const std::string_view folder = path.view();
    if (!address || read_id(folder, "vendor") != vendor ||
        !is_gpu(read_id(folder, "class"), vendor)) {
      return true;
    }
    const std::uint32_t subsystem = read_id(folder, "subsystem_device") << 16;
    insert_sorted(
        gpus,
        {*address, read_id(folder, "device"), subsystem | read_id(folder, "subsystem_vendor"),
         Text<32>(sysfs::read_link_name(folder, "driver").view()), sysfs::is_asleep(folder).value});
    return true;
  });
  return gpus;
}

std::uint64_t parse_vendors(std::string_view list) {
  std::uint64_t vendors = 0;
  while (!list.empty()) {
    const std::string_view line = scan::take_line(list);
    if (line.size() < 9 || line[4] != '\t') return all_vendors;
    const auto vendor = scan::parse_number(line.substr(5, 4), 16);
    vendors |= vendor ? vendor_bit(static_cast<std::uint32_t>(*vendor)) : all_vendors;
  }
  return vendors;
}

bool may_have_gpu(std::uint32_t vendor, std::string_view proc_root, std::string_view sys_root,
                  VendorCache& cache) {
  const std::uint64_t bit = vendor_bit(vendor);
  if (bit == 0) return true;
  const std::uint64_t now = platform::continuous_ns() & ~all_vendors;
  std::uint64_t vendors = cache.load(std::memory_order_relaxed);
  if (vendors == 0 || now - (vendors & ~all_vendors) >= max_list_age_ns) {
    vendors = now | read_vendors(proc_root, sys_root);
    cache.store(vendors, std::memory_order_relaxed);
  }
  return (vendors & bit) != 0;
}

bool is_system_on_chip_name(std::string_view name) noexcept {
  return std::ranges::any_of(chips, [&](const Chip& chip) { return has_word(name, chip.name); });
}

bool is_tegra(const std::string& sys_root) {
  std::array<char, 512> buffer;
  const std::string_view compatible =
      sysfs::read_text(sys_root, "firmware/devicetree/base/compatible", buffer).value;
  return compatible.find("nvidia,tegra") != compatible.npos;
}

bool is_integrated_nvidia(const Device& device) noexcept {
  const auto has_capability = [&](const Chip& chip) {
    return device.compute_capability_major == chip.major &&
           device.compute_capability_minor == chip.minor;
  };
  return device.vendor == vendor::nvidia &&
         (std::ranges::any_of(chips, has_capability) ||
          std::ranges::find(chip_ids, device.pci_device) != std::end(chip_ids) ||
          is_system_on_chip_name(device.name.view()));
}

}  // namespace hmn::pci
