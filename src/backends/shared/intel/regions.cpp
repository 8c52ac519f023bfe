// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/intel/regions.hpp"

#include <cstring>

#include "model/scan.hpp"

namespace hmn::intel {
namespace {

using amount = std::optional<std::uint64_t>;

amount sum(amount a, amount b) noexcept {
  return a && b ? scan::sum(*a, *b) : std::nullopt;
}

}  // namespace

void heap::add(const heap& one) noexcept {
  if (regions++ == 0) {
    total = one.total;
    used = one.used;
    visible = one.visible;
    visible_used = one.visible_used;
    return;
  }
  total = sum(total, one.total);
  used = sum(used, one.used);
  visible = sum(visible, one.visible);
  visible_used = sum(visible_used, one.visible_used);
}

std::optional<memory_regions> sum_regions(std::span<const std::byte> answer, std::size_t header,
                                          heap (*read)(const raw_region&)) noexcept {
  std::uint32_t count = 0;
  if (answer.size() < header) return std::nullopt;
  std::memcpy(&count, answer.data(), sizeof count);
  answer = answer.subspan(header);
  if (count == 0 || count > answer.size() / sizeof(raw_region)) return std::nullopt;
  memory_regions all;
  for (; count != 0; --count, answer = answer.subspan(sizeof(raw_region))) {
    raw_region r;
    std::memcpy(&r, answer.data(), sizeof r);
    if (r.memory_class == 0) all.system.add(read(r));
    if (r.memory_class == 1) all.device.add(read(r));
  }
  return all;
}

}  // namespace hmn::intel
