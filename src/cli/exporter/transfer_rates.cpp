// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/transfer_rates.hpp"

#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::metric;
using hypomnesis::metric_id;
using hypomnesis::note;

std::optional<transfer> transfer_of(metric_id id) {
  switch (id) {
    case metric_id::pcie_tx_bytes:
      return transfer::pcie_sent;
    case metric_id::pcie_rx_bytes:
      return transfer::pcie_received;
    case metric_id::link_tx_bytes:
    case metric_id::link_rx_bytes:
      return transfer::links;
    default:
      return std::nullopt;
  }
}

bool is_exact(const metric& of) {
  return !has(of.notes, note::stale) && !has(of.notes, note::lower_bound);
}

}  // namespace

void transfer_rates::follow(followed& one, const counter& now) {
  const auto& last = one.last;
  one.rate.reset();
  if (now.parts != 0 && now.is_exact && last.is_exact && now.parts == last.parts &&
      now.bytes >= last.bytes && now.at_ns > last.at_ns)
    one.rate = static_cast<double>(now.bytes - last.bytes) * ns_per_s /
               static_cast<double>(now.at_ns - last.at_ns);
  one.last = now;
}

void transfer_rates::update(const hypomnesis::snapshot_values& from) {
  for (const auto& device : from.devices) {
    std::array<counter, 3> now{};
    for (auto& each : now) each.at_ns = from.info.monotonic_ns;
    for (const auto& each : device.metrics) {
      const auto what = transfer_of(each.id);
      if (!what || each.pid || !each.count) continue;
      auto& sum = now[static_cast<std::size_t>(*what)];
      sum.bytes = saturating_sum(sum.bytes, *each.count);
      sum.is_exact = sum.is_exact && is_exact(each);
      ++sum.parts;
    }
    auto& rates = all_[device.device.index];
    for (std::size_t n = 0; n < now.size(); ++n) follow(rates[n], now[n]);
  }
}

std::optional<double> transfer_rates::of(std::uint32_t device_index, transfer what) const {
  const auto found = all_.find(device_index);
  return found == all_.end() ? std::nullopt : found->second[static_cast<std::size_t>(what)].rate;
}

}  // namespace hmn::cli
