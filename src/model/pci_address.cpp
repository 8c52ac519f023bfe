// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/pci_address.hpp"

#include <array>

#include "model/message_text.hpp"
#include "model/scan.hpp"

namespace hmn {
namespace {

struct Part {
  char after;
  std::uint8_t digits;
  std::uint32_t most;
};
constexpr Part parts[] = {{':', 8, 0xFFFFFFFF}, {':', 2, 0xFF}, {'.', 2, 0x1F}, {0, 1, 7}};

Text<32> written(const PciAddress& a, unsigned domain_digits) noexcept {
  std::array<char, 32> buffer;
  return Text<32>(compose_in(buffer, {hex(a.domain, domain_digits), ":", hex(a.bus, 2), ":",
                                      hex(a.device, 2), ".", hex(a.function)}));
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) noexcept {
  std::array<std::uint32_t, std::size(parts)> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Part& p = parts[i];
    const std::string_view digits = p.after != 0 ? scan::take_until(text, p.after) : text;
    const auto number = scan::number<std::uint32_t>(digits, 16);
    if (!number || digits.size() > p.digits || *number > p.most) return std::nullopt;
    numbers[i] = *number;
  }
  const auto small = [&](std::size_t i) { return static_cast<std::uint8_t>(numbers[i]); };
  return PciAddress{numbers[0], small(1), small(2), small(3)};
}

Text<32> to_text(const PciAddress& a) noexcept {
  return written(a, a.domain > 0xFFFF ? 8 : 4);
}

Text<32> system_name(const PciAddress& a) noexcept {
  return written(a, 4);
}

Text<32> normal_pci_address(std::string_view spelling) noexcept {
  const auto address = parse_pci_address(spelling);
  return address ? to_text(*address) : Text<32>();
}

bool is_pci_id(std::string_view name) noexcept {
  name = scan::trim(name.substr(0, name.find(" (rev ")));
  const std::size_t space = name.rfind(' ');  // npos + 1 is 0
  std::string_view ids = name.substr(space + 1);
  const std::string_view before = space == name.npos ? "" : scan::trim(name.substr(0, space));
  if (!before.empty() && !before.ends_with("Device") && before != "device") return false;
  // "A100" and "B200" are models: kernels and drivers write an id alone in lower case.
  if (name.size() == 4 && name[0] >= 'A' && name[0] <= 'F') return false;
  if (ids.starts_with('[') && ids.ends_with(']')) ids = ids.substr(1, ids.size() - 2);
  bool is_id = !ids.empty();
  while (!ids.empty()) {
    std::string_view id = scan::take_until(ids, ':');
    if (id.starts_with("0x")) id.remove_prefix(2);
    is_id = is_id && (id.size() == 4 || id.size() == 8) && scan::number(id, 16);
  }
  return is_id;
}

}  // namespace hmn
