// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/gpu_reader.hpp"

#include <algorithm>

#include "cli/measure/freshness.hpp"
#include "cli/measure/gpu_status.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::spill_state;
using hypomnesis::telemetry;

template <auto value>
bool is_known(const telemetry& of) {
  return (of.*value).has_value();
}

// Values in the lines of the GPUs.
struct shown_value {
  std::uint32_t field;
  bool (*is_known)(const telemetry&);
};
constexpr shown_value shown_values[] = {
    {HMN_TELEMETRY_HAS_GPU_BUSY, is_known<&telemetry::gpu_busy_percent>},
    {HMN_TELEMETRY_HAS_TEMPERATURE, is_known<&telemetry::temperature_celsius>},
    {HMN_TELEMETRY_HAS_POWER, is_known<&telemetry::power_watts>},
    {HMN_TELEMETRY_HAS_CORE_CLOCK, is_known<&telemetry::core_clock_mhz>},
    {HMN_TELEMETRY_HAS_MEMORY_CLOCK, is_known<&telemetry::memory_clock_mhz>},
    {HMN_TELEMETRY_HAS_FAN_PERCENT, is_known<&telemetry::fan_percent>},
    {HMN_TELEMETRY_HAS_FAN_RPM, is_known<&telemetry::fan_rpm>},
    {HMN_TELEMETRY_HAS_PCIE_RX, is_known<&telemetry::pcie_rx_bytes>},
    {HMN_TELEMETRY_HAS_PCIE_TX, is_known<&telemetry::pcie_tx_bytes>}};

bool is_unsupported(const hypomnesis::snapshot& from, std::uint32_t device, part subject,
                    std::uint32_t field) {
  const auto why = from.reason(device, subject, field);
  return why && why->status == hypomnesis::status_code::unsupported;
}

void add_unsupported(const hypomnesis::snapshot& from, gpu_reading& to) {
  const auto index = to.of.device.index;
  for (const auto& each : shown_values)
    if (!(to.values && each.is_known(*to.values)) &&
        is_unsupported(from, index, part::telemetry, each.field))
      to.unsupported |= each.field;
  to.has_no_used =
      !used_bytes_of(to.of) && is_unsupported(from, index, part::pools, HMN_POOL_HAS_USED);
}

std::string reason_of(const hypomnesis::snapshot& from, std::uint32_t device, part subject,
                      std::uint32_t field) {
  const auto found = from.reason(device, subject, field);
  return found ? found->message : std::string();
}

bool belongs(const hypomnesis::device& device, std::optional<std::uint32_t> only) {
  return !only || device.index == *only || device.parent_index == *only;
}

}  // namespace

bool gpu_reading::is_fresh() const {
  const auto state = of.device.state;
  return (state == run_state::ready || state == run_state::unknown) &&
         (!values || cli::is_fresh(*values)) && (!of.memory || cli::is_fresh(*of.memory));
}

void gpu_reader::add_rates(kept& of, const hypomnesis::snapshot& from, gpu_reading& to) const {
  if (!to.values) return;
  const auto ended = from.info().monotonic_ns + from.info().duration_ns;
  const auto read_at = ended - std::min(ended, to.values->age_ns);
  to.received_rate = of.received.add(to.values->pcie_rx_bytes, read_at);
  to.sent_rate = of.sent.add(to.values->pcie_tx_bytes, read_at);
  if (to.received_rate) return;
  to.why_no_rate = to.values->pcie_rx_bytes ? "known from the second reading on"
                                            : reason_of(from, to.of.device.index, part::telemetry,
                                                        HMN_TELEMETRY_HAS_PCIE_RX);
}

void gpu_reader::add_spill(kept& of, const hypomnesis::snapshot& from, gpu_reading& to) const {
  const bool was_read = has(from.info().collect, part::processes);
  if (!of.spill)
    of.spill = std::make_unique<hypomnesis::spill>(hypomnesis::spill::fed({}, to.of.device.index));
  if (was_read) try {
      of.spill->observe(from, "");
    } catch (const hypomnesis::error& why) {
      to.why_no_spill = why.what();
      return;
    }
  const auto seen = of.spill->info();
  to.why_no_spill = seen.message;
  if (!has(seen.state, spill_state::measurable)) return;
  to.is_spilling = has(seen.state, spill_state::now);
  to.has_spilled = has(seen.state, spill_state::ever);
}

std::vector<gpu_reading> gpu_reader::read(const hypomnesis::snapshot& from,
                                          std::optional<std::uint32_t> only) {
  std::vector<gpu_reading> out;
  for (auto& each : gpus_of(in_, from)) {
    if (!belongs(each.device, only)) continue;
    auto& to = out.emplace_back();
    const auto index = each.device.index;
    to.of = std::move(each);
    to.values = from.telemetry(index);
    const auto state = to.of.device.state;
    if (state != run_state::ready && state != run_state::unknown)
      to.why_state = reason_of(from, index, part::telemetry, 0);
    add_unsupported(from, to);
    add_rates(all_[index], from, to);
    add_spill(all_[index], from, to);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return place_of(a.of.device) < place_of(b.of.device);
  });
  return out;
}

}  // namespace hmn::cli::top
