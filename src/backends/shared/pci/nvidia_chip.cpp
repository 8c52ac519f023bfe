// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/nvidia_chip.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/scan.hpp"

namespace hmn::pci {
namespace {

bool is_word_part(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool has_word(std::string_view text, std::string_view word) noexcept {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_part(text[at - 1]);
    if (begins && (end == text.size() || !is_word_part(text[end]))) return true;
  }
  return false;
}

template <class T, std::size_t N>
bool is_one_of(const T (&all)[N], std::optional<std::uint32_t> value) noexcept {
  return value && std::ranges::find(all, *value) != std::end(all);
}

}  // namespace

bool names_system_on_chip(std::string_view name) noexcept {
  for (std::string_view chips = "GB10 Orin Thor Xavier Tegra"; !chips.empty();) {
    if (has_word(name, scan::take_until(chips, ' '))) return true;
  }
  return false;
}

bool is_tegra(const std::string& sys_root) {
  std::array<char, 512> buffer;
  const std::string_view all =
      sysfs::read_text(sys_root, "firmware/devicetree/base/compatible", buffer).value;
  return all.find("nvidia,tegra") != all.npos;
}

bool is_integrated_nvidia(const device& d) noexcept {
  // Tegra X1 and X2, Xavier, Orin, Thor (11.0 since CUDA 13), GB10: no other chip has these.
  constexpr std::uint16_t capabilities[] = {5030, 6020, 7020, 8070, 10010, 11000, 12010};
  constexpr std::uint16_t ids[] = {0x2e03, 0x2e06, 0x2e12, 0x2e13};  // GB20B, the GPU of GB10
  return is_one_of(capabilities, d.compute_capability) || is_one_of(ids, d.pci_device) ||
         names_system_on_chip(d.name.view());
}

}  // namespace hmn::pci
