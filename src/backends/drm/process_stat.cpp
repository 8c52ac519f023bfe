// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/process_stat.hpp"

#include "model/scan.hpp"

namespace hmn::drm {

bool is_kernel_thread(std::string_view stat) noexcept {
  // PF_KTHREAD, include/linux/sched.h
  constexpr std::uint64_t kernel_thread = 0x00200000;
  // A name may hold anything; what follows it holds no ')'. The flags are field 9, 3 is the first.
  const std::size_t close = stat.rfind(')');
  if (close == std::string_view::npos) return false;
  std::string_view rest = stat.substr(close + 1);
  std::string_view word;
  for (int field = 3; field <= 9; ++field) word = scan::take_word(rest);
  return !rest.empty() && (scan::number(word).value_or(0) & kernel_thread) != 0;
}

}  // namespace hmn::drm
