// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <algorithm>

namespace hmn::cli::fit {
namespace {

// Places as many of the last layers on the device as fit.
Placement split(const Demand& demand, std::uint64_t device) {
  Placement result;
  const auto working = demand.working.value_or(0);
  std::uint64_t on_device = working;
  std::uint64_t in_ram = demand.total();
  for (auto i = demand.layer_weights.size(); i-- > 0;) {
    const auto layer = saturating_sum(demand.layer_weights[i], demand.layer_caches[i]);
    if (saturating_sum(on_device, layer) > device) break;
    on_device += layer;
    in_ram -= layer;
    ++result.layers;
  }
  result.device_bytes = result.layers == 0 ? 0 : on_device;
  result.ram_bytes = in_ram;
  return result;
}

constexpr std::uint64_t whole_share = 1000;  // parts per thousand

// Input that is the same for every attempt.
struct FillInput {
  const Demand& demand;
  const std::vector<Capacity>& devices;
  std::uint64_t ram = 0;  // RAM, and what shared pools have beyond it
};

// Places the last layers, starting at the last device; `holder`, if any, also has embedding and
// output. Each device is filled to a fraction of its memory at most, and the devices in RAM share
// one RAM. Returns none if the holder lacks memory for what it holds.
std::optional<CombinedPlacement> fill(const FillInput& input, std::uint64_t per_thousand,
                                      std::size_t holder) {
  CombinedPlacement result;
  result.parts.resize(input.devices.size());
  auto layer = input.demand.layer_weights.size();
  auto ram = input.ram;
  for (auto i = input.devices.size(); i-- > 0;) {
    auto& part = result.parts[i];
    const auto& device = input.devices[i];
    auto limit = *device.device / whole_share * per_thousand +
                 *device.device % whole_share * per_thousand / whole_share;
    if (device.is_shared && device.ram) limit = std::min(limit, ram);
    const auto outside_bytes = i == holder ? input.demand.outside_weights : 0;
    auto used = saturating_sum(input.demand.working.value_or(0), outside_bytes);
    for (; layer > 0; --layer, ++part.layers) {
      const auto layer_bytes = saturating_sum(input.demand.layer_weights[layer - 1],
                                              input.demand.layer_caches[layer - 1]);
      if (saturating_sum(used, layer_bytes) > limit) break;
      used += layer_bytes;
    }
    part.device_bytes = part.layers == 0 && i != holder ? 0 : used;
    if (i == holder && used > limit) return std::nullopt;
    if (device.is_shared) ram -= std::min(ram, part.device_bytes);
    result.whole.layers += part.layers;
    result.whole.device_bytes = saturating_sum(result.whole.device_bytes, part.device_bytes);
  }
  return result;
}

std::optional<CombinedPlacement> fill_whole(const FillInput& input, std::uint64_t per_thousand) {
  for (std::size_t holder = 0; holder < input.devices.size(); ++holder) {
    auto result = fill(input, per_thousand, holder);
    if (result && result->whole.layers == input.demand.layer_weights.size()) return result;
  }
  return std::nullopt;
}

// Finds the smallest equal fraction of all devices that suffices.
std::optional<CombinedPlacement> balance(const FillInput& input) {
  auto best = fill_whole(input, whole_share);
  std::uint64_t enough = whole_share;
  for (std::uint64_t too_little = 0; best && enough - too_little > 1;) {
    const auto middle = (too_little + enough) / 2;
    if (auto result = fill_whole(input, middle)) {
      best = std::move(result);
      enough = middle;
    } else {
      too_little = middle;
    }
  }
  return best;
}

std::uint64_t sum_ram_bytes(const CombinedPlacement& placement,
                            const std::vector<Capacity>& devices) {
  auto sum = placement.whole.ram_bytes;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].is_shared) sum = saturating_sum(sum, placement.parts[i].device_bytes);
  return sum;
}

}  // namespace

Placement place_on_device(const Demand& demand, const Capacity& capacity) {
  Placement result;
  if (!capacity.device) return result;
  const auto total_ram =
      capacity.ram ? saturating_sum(*capacity.ram, capacity.carveout) : capacity.carveout;
  const auto device =
      capacity.is_shared && capacity.ram ? std::min(*capacity.device, total_ram) : *capacity.device;
  if (demand.total() <= device) {
    if (!demand.is_complete()) return result;
    return {Verdict::fits, demand.layer_weights.size(), demand.total(), 0};
  }
  result = split(demand, device);
  if (!capacity.ram) return {};
  const auto needed_ram =
      capacity.is_shared ? saturating_sum(result.device_bytes, result.ram_bytes) : result.ram_bytes;
  if (needed_ram > total_ram) return {Verdict::does_not_fit, 0, demand.total(), 0};
  result.verdict = demand.is_complete() ? Verdict::partly : Verdict::unknown;
  return result;
}

Placement place_in_ram(const Demand& demand, std::optional<std::uint64_t> ram) {
  if (!ram) return {};
  if (demand.total() > *ram) return {Verdict::does_not_fit, 0, 0, demand.total()};
  return {demand.is_complete() ? Verdict::fits : Verdict::unknown, 0, 0, demand.total()};
}

CombinedPlacement place_across_devices(const Demand& demand, const std::vector<Capacity>& devices) {
  const auto ram = devices.empty() ? std::nullopt : devices.front().ram;
  FillInput input{demand, devices, ram.value_or(0)};
  for (const auto& device : devices) input.ram = saturating_sum(input.ram, device.carveout);
  const auto balanced = balance(input);
  auto result = balanced ? *balanced : *fill(input, whole_share, devices.size());
  if (!balanced) {
    result.whole.ram_bytes = demand.total();
    for (const auto& part : result.parts)
      if (part.layers != 0)
        result.whole.ram_bytes -= part.device_bytes - demand.working.value_or(0);
  }
  const auto in_ram = sum_ram_bytes(result, devices);
  if (in_ram != 0 && !ram) return {{}, std::vector<Placement>(devices.size())};
  if (in_ram > input.ram)
    return {{Verdict::does_not_fit, 0, demand.total(), 0}, std::vector<Placement>(devices.size())};
  if (demand.is_complete()) result.whole.verdict = balanced ? Verdict::fits : Verdict::partly;
  return result;
}

}  // namespace hmn::cli::fit
