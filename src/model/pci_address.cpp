// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/pci_address.hpp"

#include <array>

#include "model/message_text.hpp"
#include "model/scan.hpp"

namespace hmn {
namespace {

struct Part {
  char separator;
  std::uint8_t digits;
  std::uint32_t max;
};
constexpr Part parts[] = {{':', 8, 0xFFFFFFFF}, {':', 2, 0xFF}, {'.', 2, 0x1F}, {0, 1, 7}};

Text<32> format_address(const PciAddress& address, unsigned domain_digits) noexcept {
  std::array<char, 32> buffer;
  return Text<32>(
      compose_into(buffer, {hex(address.domain, domain_digits), ":", hex(address.bus, 2), ":",
                            hex(address.device, 2), ".", hex(address.function)}));
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) noexcept {
  std::array<std::uint32_t, std::size(parts)> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Part& part = parts[i];
    const std::string_view digits =
        part.separator != 0 ? scan::take_until(text, part.separator) : text;
    const auto number = scan::parse_number<std::uint32_t>(digits, 16);
    if (!number || digits.size() > part.digits || *number > part.max) return std::nullopt;
    numbers[i] = *number;
  }
  const auto narrow = [&](std::size_t i) { return static_cast<std::uint8_t>(numbers[i]); };
  return PciAddress{numbers[0], narrow(1), narrow(2), narrow(3)};
}

Text<32> to_text(const PciAddress& address) noexcept {
  return format_address(address, address.domain > 0xFFFF ? 8 : 4);
}

Text<32> sysfs_name(const PciAddress& address) noexcept {
  return format_address(address, 4);
}

Text<32> normalize_pci_address(std::string_view spelling) noexcept {
  const auto address = parse_pci_address(spelling);
  return address ? to_text(*address) : Text<32>();
}

bool is_pci_id(std::string_view name) noexcept {
  name = scan::trim(name.substr(0, name.find(" (rev ")));
  const std::size_t space = name.rfind(' ');  // npos + 1 is 0
  std::string_view ids = name.substr(space + 1);
  const std::string_view prefix = space == name.npos ? "" : scan::trim(name.substr(0, space));
  if (!prefix.empty() && !prefix.ends_with("Device") && prefix != "device") return false;
  // "A100" and "B200" are models: kernels and drivers write an id alone in lower case.
  if (name.size() == 4 && name[0] >= 'A' && name[0] <= 'F') return false;
  if (ids.starts_with('[') && ids.ends_with(']')) ids = ids.substr(1, ids.size() - 2);
  bool is_id = !ids.empty();
  while (!ids.empty()) {
    std::string_view id = scan::take_until(ids, ':');
    if (id.starts_with("0x")) id.remove_prefix(2);
    is_id = is_id && (id.size() == 4 || id.size() == 8) && scan::parse_number(id, 16);
  }
  return is_id;
}

}  // namespace hmn
