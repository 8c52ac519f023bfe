// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/device_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/exporter/families.hpp"
#include "cli/exporter/metric_values.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::run_state;
using hypomnesis::telemetry;

std::string partition_text(const hypomnesis::device& of) {
  if (!of.gpu_instance) return {};
  return fmt::format("{}:{}", *of.gpu_instance, of.compute_instance.value_or(0));
}

void collect_identity(const hypomnesis::device& of, const device_labels& with, samples& to) {
  label_set info = with.whole();
  info.add("index", fmt::format("{}", of.index))
      .add("uuid", of.uuid.value_or(""))
      .add("pci_bus_id", of.pci_bus_id.value_or(""))
      .add("kind", kind_word(of.kind).value_or(std::string_view()))
      .add("memory_kind", memory_kind_word(of.memory_kind).value_or(std::string_view()))
      .add("driver_version", of.driver_version.value_or(""))
      .add("architecture", of.architecture.value_or(""))
      .add("partition", partition_text(of));
  to.add(families::device_info, info, true);
}

// A GPU that waits for memory rows to be replaced, or has one that cannot be, is degraded.
bool is_degraded(const hypomnesis::snapshot_device& of) {
  return std::any_of(of.metrics.begin(), of.metrics.end(), [](const hypomnesis::metric& each) {
    return each.id == hypomnesis::metric_id::rows_remapped && each.count.value_or(0) != 0 &&
           (each.instance == HMN_REMAPPED_PENDING || each.instance == HMN_REMAPPED_FAILED);
  });
}

void collect_state(const hypomnesis::snapshot_device& of, const device_labels& with, samples& to) {
  const auto state = of.device.state;
  if (state == run_state::unknown) return;
  const bool works = state == run_state::ready || state == run_state::asleep;
  const bool degraded = works && is_degraded(of);
  to.add(families::status, with.whole().with("hw_state", "ok"), works && !degraded);
  to.add(families::status, with.whole().with("hw_state", "degraded"), degraded);
  to.add(families::status, with.whole().with("hw_state", "failed"), !works);
  for (const auto each : {run_state::ready, run_state::asleep, run_state::lost,
                          run_state::unreadable, run_state::hung})
    to.add(families::device_state, with.brief().with("state", or_unknown(state_word(each))),
           each == state);
}

void collect_age(std::string_view subject, std::uint64_t age_ns, hypomnesis::note notes,
                 const device_labels& with, samples& to) {
  const auto of_subject = with.brief().with("subject", subject);
  to.add(families::reading_age, of_subject, std::optional(static_cast<double>(age_ns)),
         from_nanoseconds);
  to.add(families::reading_stale, of_subject, has(notes, hypomnesis::note::stale));
}

std::optional<double> share(const std::optional<std::uint64_t>& part,
                            const std::optional<std::uint64_t>& whole) {
  if (!part || !whole || *whole == 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

void collect_pool(const hypomnesis::pool& of, const device_labels& with, samples& to) {
  if (of.is_main) {
    to.add(families::gpu_memory_usage, with.whole(), of.used_bytes);
    to.add(families::gpu_memory_limit, with.whole(), of.total_bytes);
    to.add(families::gpu_memory_utilization, with.whole(), share(of.used_bytes, of.total_bytes));
    collect_age("pools", of.age_ns, of.notes, with, to);
  }
  const auto in = with.brief().with("pool", or_unknown(pool_word(of.kind)));
  to.add(families::pool_used, in, of.used_bytes);
  to.add(families::pool_size, in, of.total_bytes);
  to.add(families::pool_free, in, of.free_bytes);
  to.add(families::pool_reserved, in, of.reserved_bytes);
  to.add(families::pool_usable, in, of.usable_bytes);
  to.add(families::pool_budget, in, of.budget_bytes);
  to.add(families::pool_unattributed, in, of.unattributed_bytes);
}

void collect_throttle(const telemetry& of, const device_labels& with, samples& to) {
  if (!of.throttle) return;
  for (hmn_flags bit = HMN_THROTTLE_IDLE; bit <= HMN_THROTTLE_OTHER; bit <<= 1)
    to.add(families::throttle,
           with.brief().with("reason",
                             hypomnesis::instance_name(hypomnesis::metric_id::throttle_ns, bit)),
           (number(*of.throttle) & bit) != 0);
}

template <class T>
std::optional<double> real(const std::optional<T>& number) {
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

void collect_load(const telemetry& of, const device_labels& with, samples& to) {
  const auto task = [&](std::string_view name) { return with.whole().with("hw_gpu_task", name); };
  to.add(families::gpu_utilization, task("general"), of.gpu_busy_percent, from_percent);
  to.add(families::gpu_utilization, task("encoder"), of.encoder_busy_percent, from_percent);
  to.add(families::gpu_utilization, task("decoder"), of.decoder_busy_percent, from_percent);
  to.add(families::memory_controller, with.brief(), of.memory_busy_percent, from_percent);
  const auto direction = [&](std::string_view name) {
    return with.whole().with("network_io_direction", name);
  };
  to.add(families::gpu_io, direction("receive"), of.pcie_rx_bytes);
  to.add(families::gpu_io, direction("transmit"), of.pcie_tx_bytes);
}

void collect_telemetry(const telemetry& of, const device_labels& with, samples& to) {
  collect_load(of, with, to);
  to.add(families::temperature, with.part("temperature", "core"), of.temperature_celsius);
  to.add(families::temperature, with.part("temperature", "hotspot"), of.hotspot_celsius);
  to.add(families::temperature, with.part("temperature", "memory"), of.memory_celsius);
  to.add(families::power, with.whole(), of.power_watts);
  to.add(families::power_limit, with.brief().with("limit", "current"), of.power_limit_watts);
  to.add(families::energy, with.whole(), of.energy_joules);
  to.add(families::clock, with.brief().with("clock", "core"), real(of.core_clock_mhz),
         from_megahertz);
  to.add(families::clock, with.brief().with("clock", "memory"), real(of.memory_clock_mhz),
         from_megahertz);
  to.add(families::pcie_generation, with.brief(), real(of.pcie_generation));
  to.add(families::pcie_lanes, with.brief(), real(of.pcie_width));
  to.add(families::performance_state, with.brief(), real(of.p_state));
  collect_throttle(of, with, to);
  collect_age("telemetry", of.age_ns, of.notes, with, to);
}

// The speed of the whole GPU is that of its first fan. It comes after the list of fans, of which
// the sample of the first is written, so that a fan keeps its id where the list fails.
void collect_first_fan(const telemetry& of, const device_labels& with, samples& to) {
  const auto fan = with.part("fan", first_fan);
  to.add(families::fan_speed_ratio, fan, real(of.fan_percent), from_percent);
  to.add(families::fan_speed, fan, real(of.fan_rpm));
}

}  // namespace

void collect_device(const hypomnesis::snapshot_device& of, const device_labels& with, samples& to) {
  collect_identity(of.device, with, to);
  collect_state(of, with, to);
  for (const auto& each : of.pools) collect_pool(each, with, to);
  if (of.telemetry) collect_telemetry(*of.telemetry, with, to);
  for (const auto& each : of.metrics) collect_metric(each, with, to);
  if (of.telemetry) collect_first_fan(*of.telemetry, with, to);
}

}  // namespace hmn::cli
