// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/gpu_reader.hpp"

#include "cli/measure/freshness.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::spill_state;

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
    add_rates(all_[index], from, to);
    add_spill(all_[index], from, to);
  }
  return out;
}

}  // namespace hmn::cli::top
