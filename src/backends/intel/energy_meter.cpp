// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/intel/energy_meter.hpp"

#include "platform/clock.hpp"

namespace hmn::intel {
namespace {

// Counters move about once in a millisecond.
constexpr std::uint64_t shortest_ns = 10 * platform::ns_per_ms;
constexpr std::uint64_t usual_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t longest_ns = 60 * platform::ns_per_second;

}  // namespace

std::optional<average_power> energy_meter::read(std::uint64_t microjoules,
                                                std::uint64_t at_ns) noexcept {
  if (microjoules < last_.microjoules || at_ns < last_.at_ns) before_ = last_ = sample{};
  const std::uint64_t since_last = at_ns - last_.at_ns;
  const bool is_old = before_.at_ns == 0 || since_last >= usual_ns ||
                      at_ns - before_.at_ns >= platform::ns_per_second;
  if (last_.at_ns != 0 && since_last >= shortest_ns && is_old) before_ = last_;
  last_ = {microjoules, at_ns};
  const std::uint64_t window = at_ns - before_.at_ns;
  if (before_.at_ns == 0 || window < shortest_ns || window > longest_ns) return std::nullopt;
  const auto used = static_cast<double>(microjoules - before_.microjoules);
  return average_power{used * 1e3 / static_cast<double>(window), window};
}

}  // namespace hmn::intel
