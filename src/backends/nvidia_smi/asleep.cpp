// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/asleep.hpp"

#include <algorithm>
#include <array>

#include "backends/nvidia_smi/rows.hpp"
#include "model/device.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::nvidia_smi {
namespace {

std::string first_line(const std::string& path) {
  std::array<char, 64> buffer;
  const auto got = platform::read_small(path.c_str(), buffer);
  std::string_view text(buffer.data(), got ? got.value : 0);
  return std::string(scan::take_line(text));
}

// "0x10de"
std::uint32_t hexadecimal(const std::string& path) {
  const std::string line = first_line(path);
  if (!line.starts_with("0x")) return 0;
  return scan::number<std::uint32_t>(std::string_view(line).substr(2), 16).value_or(0);
}

bool is_display(std::uint32_t class_code) {
  return class_code >> 16 == 0x03;
}

bool is_of_another_driver(const std::string& folder) {
  std::array<char, 256> buffer;
  const auto got = platform::read_link((folder + "/driver").c_str(), buffer);
  if (!got) return false;
  return !std::string_view(buffer.data(), got.value).ends_with("/nvidia");
}

// "suspending" counts: a reading would call it back.
bool is_asleep(const std::string& folder) {
  return first_line(folder + "/power/runtime_status").starts_with("suspend");
}

}  // namespace

std::vector<listed_gpu> gpus_on_bus(const std::string& sys_root) {
  const std::string devices = sys_root + "/bus/pci/devices";
  std::vector<listed_gpu> found;
  (void)platform::for_each_entry(devices.c_str(), [&](std::string_view name) {
    const std::string folder = devices + "/" + std::string(name);
    if (hexadecimal(folder + "/vendor") != vendor::nvidia) return true;
    if (!is_display(hexadecimal(folder + "/class")) || is_of_another_driver(folder)) return true;
    const std::uint32_t subsystem =
        hexadecimal(folder + "/subsystem_device") << 16 | hexadecimal(folder + "/subsystem_vendor");
    found.push_back(
        {normal_bus_id(name), hexadecimal(folder + "/device"), subsystem, is_asleep(folder)});
    return true;
  });
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.bus_id < b.bus_id; });
  return found;
}

}  // namespace hmn::nvidia_smi
