// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <algorithm>

namespace hmn::cli::fit {
namespace {

std::uint64_t add_layer(const Demand& demand, std::size_t layer, std::uint64_t bytes) {
  return saturating_sum(bytes, demand.layer_weights[layer], demand.layer_caches[layer]);
}

std::uint64_t count_split_working(const Demand& demand) {
  return std::max(demand.split_working, demand.working.value_or(0));
}

// What a device that has a part of the model needs before any layer.
std::uint64_t count_base_bytes(const Demand& demand) {
  return saturating_sum(count_split_working(demand),
                        demand.output_is_first ? demand.outside_weights : 0);
}

// RAM that a device can leave to the model: none if it is not known.
std::optional<std::uint64_t> count_ram(const Capacity& capacity) {
  if (!capacity.ram) return std::nullopt;
  return saturating_sum(*capacity.ram, capacity.carveout);
}

std::uint64_t count_device_limit(const Capacity& capacity) {
  return capacity.is_shared && capacity.ram ? std::min(*capacity.device, *count_ram(capacity))
                                            : *capacity.device;
}

// Returns the number of the last layers that fit on the device.
std::uint64_t count_fitting_layers(const Demand& demand, std::uint64_t limit) {
  auto bytes = count_base_bytes(demand);
  std::uint64_t layers = 0;
  for (auto i = demand.layer_weights.size(); i-- > 0; ++layers) {
    bytes = add_layer(demand, i, bytes);
    if (bytes > limit) break;
  }
  return layers;
}

constexpr std::uint64_t whole_share = 1000;  // parts per thousand

// Input that is the same for every attempt.
struct FillInput {
  const Demand& demand;
  const std::vector<Capacity>& devices;
  std::uint64_t ram = 0;  // RAM, and what shared pools have beyond it
  std::uint64_t working = 0;
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
    auto used = saturating_sum(input.working, outside_bytes);
    for (; layer > 0; --layer, ++part.layers) {
      const auto next = add_layer(input.demand, layer - 1, used);
      if (next > limit) break;
      used = next;
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
  const auto first_holder = input.demand.output_is_first ? input.devices.size() - 1 : 0;
  for (auto holder = first_holder; holder < input.devices.size(); ++holder) {
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

// Places as many layers on the devices as fit, and the others in RAM.
CombinedPlacement fill_partly(FillInput input) {
  const auto& demand = input.demand;
  const auto none = input.devices.size();
  input.working = count_split_working(demand);
  auto result = fill(input, whole_share, demand.output_is_first ? none - 1 : none);
  if (!result) {
    result.emplace();
    result->parts.resize(none);
  }
  if (result->whole.layers == 0) {
    result->parts.assign(none, {});
    result->whole = {};
  }
  result->whole.ram_bytes = place_layers(demand, result->whole.layers).ram_bytes;
  return *std::move(result);
}

}  // namespace

Placement place_whole(const Demand& demand) {
  Placement result;
  result.layers = demand.layer_weights.size();
  result.device_bytes = saturating_sum(demand.working.value_or(0), demand.outside_weights);
  for (std::size_t i = 0; i < demand.layer_weights.size(); ++i)
    result.device_bytes = add_layer(demand, i, result.device_bytes);
  result.ram_bytes = saturating_sum(demand.ram_weights, demand.ram_working);
  return result;
}

Placement place_layers(const Demand& demand, std::uint64_t layers) {
  Placement result;
  const auto count = demand.layer_weights.size();
  result.layers = layers;
  if (layers == 0) {
    result.ram_bytes = demand.total();
    return result;
  }
  result.device_bytes = count_base_bytes(demand);
  result.ram_bytes = saturating_sum(demand.ram_weights, demand.working.value_or(0),
                                    demand.output_is_first ? 0 : demand.outside_weights);
  for (std::size_t i = 0; i < count; ++i) {
    auto& bytes = i < count - layers ? result.ram_bytes : result.device_bytes;
    bytes = add_layer(demand, i, bytes);
  }
  return result;
}

bool has_memory(const Capacity& capacity, const Placement& placement, bool needs_known_ram) {
  if (!capacity.device || placement.device_bytes > count_device_limit(capacity)) return false;
  const auto ram = count_ram(capacity);
  if (!ram) return !needs_known_ram;
  return (capacity.is_shared ? saturating_sum(placement.device_bytes, placement.ram_bytes)
                             : placement.ram_bytes) <= *ram;
}

Placement place_on_device(const Demand& demand, const Capacity& capacity) {
  if (!capacity.device) return {};
  auto whole = place_whole(demand);
  if (has_memory(capacity, whole, false)) {
    if (!demand.is_complete()) return {};
    whole.verdict = Verdict::fits;
    return whole;
  }
  if (!capacity.ram) return {};
  const auto layers = count_fitting_layers(demand, count_device_limit(capacity));
  auto result = place_layers(demand, layers);
  if (!has_memory(capacity, result, true)) return {Verdict::does_not_fit, 0, demand.total(), 0};
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
  FillInput input{demand, devices, ram.value_or(0), demand.working.value_or(0)};
  for (const auto& device : devices) input.ram = saturating_sum(input.ram, device.carveout);
  auto balanced = balance(input);
  if (balanced) balanced->whole.ram_bytes = saturating_sum(demand.ram_weights, demand.ram_working);
  auto result = balanced ? *balanced : fill_partly(input);
  const auto in_ram = sum_ram_bytes(result, devices);
  if (!ram && (!balanced || in_ram > result.whole.ram_bytes))
    return {{}, std::vector<Placement>(devices.size())};
  if (ram && in_ram > input.ram)
    return {{Verdict::does_not_fit, 0, demand.total(), 0}, std::vector<Placement>(devices.size())};
  if (demand.is_complete()) result.whole.verdict = balanced ? Verdict::fits : Verdict::partly;
  return result;
}

}  // namespace hmn::cli::fit
