// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/spread.hpp"

#include <algorithm>
#include <optional>

#include "cli/fit/amount.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::uint64_t all_of_it = 1000;  // parts per thousand

using bytes = std::vector<std::uint64_t>;  // of each device

bytes capacities(const std::vector<capacity>& devices, std::uint64_t per_thousand) {
  bytes all;
  for (const auto& each : devices) {
    const auto most = each.shared && each.ram ? std::min(*each.device, *each.ram) : *each.device;
    all.push_back(most / all_of_it * per_thousand + most % all_of_it * per_thousand / all_of_it);
  }
  return all;
}

// Places the last layers, starting at the last device; `holder`, if any, also has embedding and
// output.
spread fill(const demand& of, const bytes& most, std::size_t holder) {
  spread made;
  made.parts.resize(most.size());
  auto layer = of.layer_weights.size();
  for (auto i = most.size(); i-- > 0;) {
    auto& part = made.parts[i];
    const auto held = i == holder ? of.outside_weights : 0;
    auto used = plus(of.working.value_or(0), held);
    for (; layer > 0; --layer, ++part.layers) {
      const auto next = plus(of.layer_weights[layer - 1], of.layer_caches[layer - 1]);
      if (plus(used, next) > most[i]) break;
      used += next;
    }
    part.device_bytes = part.layers == 0 && i != holder ? 0 : used;
    made.whole.layers += part.layers;
    made.whole.device_bytes = plus(made.whole.device_bytes, part.device_bytes);
  }
  return made;
}

std::optional<spread> fill_whole(const demand& of, const bytes& most) {
  for (std::size_t holder = 0; holder < most.size(); ++holder) {
    auto made = fill(of, most, holder);
    if (made.whole.layers == of.layer_weights.size() &&
        made.parts[holder].device_bytes <= most[holder])
      return made;
  }
  return std::nullopt;
}

// Finds the smallest equal fraction of all devices that suffices.
std::optional<spread> balance(const demand& of, const std::vector<capacity>& devices) {
  auto best = fill_whole(of, capacities(devices, all_of_it));
  std::uint64_t enough = all_of_it;
  for (std::uint64_t too_little = 0; best && enough - too_little > 1;) {
    const auto middle = (too_little + enough) / 2;
    if (auto made = fill_whole(of, capacities(devices, middle))) {
      best = std::move(made);
      enough = middle;
    } else {
      too_little = middle;
    }
  }
  return best;
}

std::uint64_t bytes_in_ram(const spread& of, const std::vector<capacity>& devices) {
  auto sum = of.whole.ram_bytes;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].shared) sum = plus(sum, of.parts[i].device_bytes);
  return sum;
}

}  // namespace

spread place_over(const demand& of, const std::vector<capacity>& devices) {
  const auto whole = balance(of, devices);
  auto made = whole ? *whole : fill(of, capacities(devices, all_of_it), devices.size());
  if (!whole) {
    made.whole.ram_bytes = of.total();
    for (const auto& part : made.parts)
      if (part.layers != 0) made.whole.ram_bytes -= part.device_bytes - of.working.value_or(0);
  }
  const auto in_ram = bytes_in_ram(made, devices);
  const auto ram = devices.empty() ? std::nullopt : devices.front().ram;
  if (in_ram != 0 && !ram) return {{}, std::vector<placement>(devices.size())};
  if (in_ram != 0 && in_ram > *ram)
    return {{verdict::does_not_fit, 0, of.total(), 0}, std::vector<placement>(devices.size())};
  if (of.is_whole()) made.whole.is = whole ? verdict::fits : verdict::partly;
  return made;
}

}  // namespace hmn::cli::fit
