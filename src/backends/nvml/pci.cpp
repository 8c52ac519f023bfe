// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/pci.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "model/compose.hpp"
#include "model/device.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

constexpr std::uint32_t display_class = 0x03;

// Takes 1 to `digits` hexadecimal digits and, unless it is 0, the character after them.
bool take(std::string_view& from, std::size_t digits, char after, std::uint32_t& out) noexcept {
  const char* const end = from.data() + std::min(from.size(), digits);
  const auto [stop, error] = std::from_chars(from.data(), end, out, 16);
  if (error != std::errc()) return false;
  from.remove_prefix(static_cast<std::size_t>(stop - from.data()));
  if (after == 0) return from.empty();
  if (from.empty() || from.front() != after) return false;
  from.remove_prefix(1);
  return true;
}

std::string_view terminated(const char* bytes, std::size_t capacity) noexcept {
  return {bytes, strnlen(bytes, capacity)};
}

std::optional<std::uint32_t> read_hex(const std::string& path) {
  std::array<char, 16> buffer;
  const auto got = platform::read_small(path.c_str(), buffer);
  std::string_view written(buffer.data(), got ? got.value : 0);
  if (!written.starts_with("0x")) return std::nullopt;
  written.remove_prefix(2);
  std::uint32_t value = 0;
  const char* const end = written.data() + written.size();
  if (std::from_chars(written.data(), end, value, 16).ec != std::errc()) return std::nullopt;
  return value;
}

std::string bound_driver(const std::string& folder) {
  std::array<char, 256> buffer;
  const auto got = platform::read_link((folder + "/driver").c_str(), buffer);
  const std::string_view target(buffer.data(), got ? got.value : 0);
  return std::string(target.substr(target.rfind('/') + 1));
}

text<32> written(const pci_address& a, unsigned domain_digits) noexcept {
  std::array<char, 32> buffer;
  return text<32>(compose_in(buffer, {hex(a.domain, domain_digits), ":", hex(a.bus, 2), ":",
                                      hex(a.device, 2), ".", hex(a.function)}));
}

template <class Found>
void each_nvidia_display(const std::string& sys_root, Found&& found) {
  const std::string devices = sys_root + "/bus/pci/devices";
  platform::for_each_entry(devices.c_str(), [&](std::string_view name) {
    const auto address = parse_pci_address(name);
    if (!address) return true;
    const std::string folder = compose({devices, "/", name});
    if (read_hex(folder + "/vendor") != vendor::nvidia) return true;
    const auto kind = read_hex(folder + "/class");
    if (!kind || *kind >> 16 != display_class) return true;
    return static_cast<bool>(found(*address, folder));
  });
}

}  // namespace

std::optional<pci_address> parse_pci_address(std::string_view from) noexcept {
  pci_address a;
  const bool whole = take(from, 8, ':', a.domain) && take(from, 2, ':', a.bus) &&
                     take(from, 2, '.', a.device) && take(from, 1, 0, a.function);
  if (!whole || a.device > 0x1F || a.function > 7) return std::nullopt;
  return a;
}

text<32> to_text(const pci_address& a) noexcept {
  return a.domain > 0xFFFF ? written(a, 8) : written(a, 4);
}

text<32> system_name(const pci_address& a) noexcept {
  return written(a, 4);
}

std::optional<pci_address> address_of(const pci_info& from) noexcept {
  if (const auto a = parse_pci_address(terminated(from.bus_id, sizeof(from.bus_id)))) return a;
  if (const auto a =
          parse_pci_address(terminated(from.bus_id_legacy, sizeof(from.bus_id_legacy)))) {
    return a;
  }
  return std::nullopt;
}

std::vector<pci_display> nvidia_displays(const std::string& sys_root) {
  std::vector<pci_display> all;
  each_nvidia_display(sys_root, [&](const pci_address& address, const std::string& folder) {
    all.push_back({address, bound_driver(folder)});
    return true;
  });
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return all;
}

bool has_nvidia_display(const std::string& sys_root) {
  bool any = false;
  each_nvidia_display(sys_root, [&](const pci_address&, const std::string&) {
    any = true;
    return false;
  });
  return any;
}

std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of) {
  constexpr std::string_view prefix = "renderD";
  std::optional<std::uint32_t> minor;
  const std::string folder =
      compose({sys_root, "/bus/pci/devices/", system_name(of).view(), "/drm"});
  platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    std::uint32_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
    if (error == std::errc() && stop == end) minor = number;
    return !minor;
  });
  return minor;
}

}  // namespace hmn::nvml
