// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/placement.hpp"

#include <algorithm>

#include "cli/fit/amount.hpp"

namespace hmn::cli::fit {
namespace {

// Places as many of the last layers on the device as fit.
placement split(const demand& of, std::uint64_t device) {
  placement made;
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

}  // namespace

placement place(const demand& of, const capacity& in) {
  placement made;
  if (!in.device) return made;
  const auto in_all = in.ram ? plus(*in.ram, in.apart) : in.apart;
  const auto device = in.shared && in.ram ? std::min(*in.device, in_all) : *in.device;
  if (of.total() <= device) {
    if (!of.is_whole()) return made;
    return {verdict::fits, of.layer_weights.size(), of.total(), 0};
  }
  made = split(of, device);
  if (!in.ram) return {};
  const auto needed = in.shared ? plus(made.device_bytes, made.ram_bytes) : made.ram_bytes;
  if (needed > in_all) return {verdict::does_not_fit, 0, of.total(), 0};
  made.is = of.is_whole() ? verdict::partly : verdict::unknown;
  return made;
}

placement place_in_ram(const demand& of, std::optional<std::uint64_t> ram) {
  if (!ram) return {};
  if (of.total() > *ram) return {verdict::does_not_fit, 0, 0, of.total()};
  return {of.is_whole() ? verdict::fits : verdict::unknown, 0, 0, of.total()};
}

}  // namespace hmn::cli::fit
