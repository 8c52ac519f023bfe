// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <algorithm>

namespace hmn::cli::fit {
namespace {

// Places as many of the last layers on the device as fit.
Placement split(const Demand& of, std::uint64_t device) {
  Placement made;
  const auto working = of.working.value_or(0);
  std::uint64_t on_device = working;
  std::uint64_t in_ram = of.total();
  for (auto i = of.layer_weights.size(); i-- > 0;) {
    const auto layer = plus(of.layer_weights[i], of.layer_caches[i]);
    if (plus(on_device, layer) > device) break;
    on_device += layer;
    in_ram -= layer;
    ++made.layers;
  }
  made.device_bytes = made.layers == 0 ? 0 : on_device;
  made.ram_bytes = in_ram;
  return made;
}

constexpr std::uint64_t all_of_it = 1000;  // parts per thousand

// What every attempt has in common.
struct Common {
  const Demand& of;
  const std::vector<Capacity>& devices;
  std::uint64_t ram = 0;  // RAM, and what shared pools have beyond it
};

// Places the last layers, starting at the last device; `holder`, if any, also has embedding and
// output. Each device is filled to a fraction of its memory at most, and those in RAM have one RAM.
// Returns nothing if the holder lacks the memory for what it holds.
std::optional<Spread> fill(const Common& in, std::uint64_t per_thousand, std::size_t holder) {
  Spread made;
  made.parts.resize(in.devices.size());
  auto layer = in.of.layer_weights.size();
  auto ram = in.ram;
  for (auto i = in.devices.size(); i-- > 0;) {
    auto& part = made.parts[i];
    const auto& on = in.devices[i];
    auto most =
        *on.device / all_of_it * per_thousand + *on.device % all_of_it * per_thousand / all_of_it;
    if (on.shared && on.ram) most = std::min(most, ram);
    const auto held = i == holder ? in.of.outside_weights : 0;
    auto used = plus(in.of.working.value_or(0), held);
    for (; layer > 0; --layer, ++part.layers) {
      const auto next = plus(in.of.layer_weights[layer - 1], in.of.layer_caches[layer - 1]);
      if (plus(used, next) > most) break;
      used += next;
    }
    part.device_bytes = part.layers == 0 && i != holder ? 0 : used;
    if (i == holder && used > most) return std::nullopt;
    if (on.shared) ram -= std::min(ram, part.device_bytes);
    made.whole.layers += part.layers;
    made.whole.device_bytes = plus(made.whole.device_bytes, part.device_bytes);
  }
  return made;
}

std::optional<Spread> fill_whole(const Common& in, std::uint64_t per_thousand) {
  for (std::size_t holder = 0; holder < in.devices.size(); ++holder) {
    auto made = fill(in, per_thousand, holder);
    if (made && made->whole.layers == in.of.layer_weights.size()) return made;
  }
  return std::nullopt;
}

// Finds the smallest equal fraction of all devices that suffices.
std::optional<Spread> balance(const Common& in) {
  auto best = fill_whole(in, all_of_it);
  std::uint64_t enough = all_of_it;
  for (std::uint64_t too_little = 0; best && enough - too_little > 1;) {
    const auto middle = (too_little + enough) / 2;
    if (auto made = fill_whole(in, middle)) {
      best = std::move(made);
      enough = middle;
    } else {
      too_little = middle;
    }
  }
  return best;
}

std::uint64_t bytes_in_ram(const Spread& of, const std::vector<Capacity>& devices) {
  auto sum = of.whole.ram_bytes;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].shared) sum = plus(sum, of.parts[i].device_bytes);
  return sum;
}

}  // namespace

Placement place(const Demand& of, const Capacity& in) {
  Placement made;
  if (!in.device) return made;
  const auto in_all = in.ram ? plus(*in.ram, in.apart) : in.apart;
  const auto device = in.shared && in.ram ? std::min(*in.device, in_all) : *in.device;
  if (of.total() <= device) {
    if (!of.is_whole()) return made;
    return {Verdict::fits, of.layer_weights.size(), of.total(), 0};
  }
  made = split(of, device);
  if (!in.ram) return {};
  const auto needed = in.shared ? plus(made.device_bytes, made.ram_bytes) : made.ram_bytes;
  if (needed > in_all) return {Verdict::does_not_fit, 0, of.total(), 0};
  made.is = of.is_whole() ? Verdict::partly : Verdict::unknown;
  return made;
}

Placement place_in_ram(const Demand& of, std::optional<std::uint64_t> ram) {
  if (!ram) return {};
  if (of.total() > *ram) return {Verdict::does_not_fit, 0, 0, of.total()};
  return {of.is_whole() ? Verdict::fits : Verdict::unknown, 0, 0, of.total()};
}

Spread place_over(const Demand& of, const std::vector<Capacity>& devices) {
  const auto ram = devices.empty() ? std::nullopt : devices.front().ram;
  Common in{of, devices, ram.value_or(0)};
  for (const auto& each : devices) in.ram = plus(in.ram, each.apart);
  const auto whole = balance(in);
  auto made = whole ? *whole : *fill(in, all_of_it, devices.size());
  if (!whole) {
    made.whole.ram_bytes = of.total();
    for (const auto& part : made.parts)
      if (part.layers != 0) made.whole.ram_bytes -= part.device_bytes - of.working.value_or(0);
  }
  const auto in_ram = bytes_in_ram(made, devices);
  if (in_ram != 0 && !ram) return {{}, std::vector<Placement>(devices.size())};
  if (in_ram > in.ram)
    return {{Verdict::does_not_fit, 0, of.total(), 0}, std::vector<Placement>(devices.size())};
  if (of.is_whole()) made.whole.is = whole ? Verdict::fits : Verdict::partly;
  return made;
}

}  // namespace hmn::cli::fit
