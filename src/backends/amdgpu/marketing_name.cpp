// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/marketing_name.hpp"

#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

std::string_view find_marketing_name(std::string_view table, std::uint32_t device,
                                     std::uint32_t revision) noexcept {
  while (!table.empty()) {
    std::string_view line = scan::take_line(table);
    const auto of = scan::number(scan::trim(scan::take_until(line, ',')), 16);
    const auto version = scan::number(scan::trim(scan::take_until(line, ',')), 16);
    if (of == device && version == revision) return scan::trim(line);
  }
  return {};
}

std::string read_marketing_name(std::uint32_t device, std::uint32_t revision) {
  std::string table;
  const auto got = platform::read_whole("/usr/share/libdrm/amdgpu.ids", table, 1 << 20);
  if (!got) return {};
  return std::string(find_marketing_name(table, device, revision));
}

}  // namespace hmn::amdgpu
