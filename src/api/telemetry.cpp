// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/convert.hpp"
#include "api/guard.hpp"
#include "model/compose.hpp"

namespace hmn::api {

hmn_telemetry to_c(std::uint32_t device_index, const dated<telemetry>& dated) {
  const telemetry& t = dated.value;
  hmn_telemetry out{};
  out.notes = t.notes;
  out.backend = static_cast<std::uint32_t>(t.from);
  out.device_index = device_index;
  out.backends = t.sources;
  hmn_flags& has = out.present;
  give(has, HMN_TELEMETRY_HAS_GPU_BUSY, out.gpu_busy_percent, t.gpu_busy_percent);
  give(has, HMN_TELEMETRY_HAS_MEMORY_BUSY, out.memory_busy_percent, t.memory_busy_percent);
  give(has, HMN_TELEMETRY_HAS_ENCODER_BUSY, out.encoder_busy_percent, t.encoder_busy_percent);
  give(has, HMN_TELEMETRY_HAS_DECODER_BUSY, out.decoder_busy_percent, t.decoder_busy_percent);
  give(has, HMN_TELEMETRY_HAS_TEMPERATURE, out.temperature_celsius, t.temperature_celsius);
  give(has, HMN_TELEMETRY_HAS_HOTSPOT, out.hotspot_celsius, t.hotspot_celsius);
  give(has, HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, out.memory_celsius, t.memory_celsius);
  give(has, HMN_TELEMETRY_HAS_POWER, out.power_watts, t.power_watts);
  give(has, HMN_TELEMETRY_HAS_POWER_LIMIT, out.power_limit_watts, t.power_limit_watts);
  give(has, HMN_TELEMETRY_HAS_ENERGY, out.energy_joules, t.energy_joules);
  give(has, HMN_TELEMETRY_HAS_CORE_CLOCK, out.core_clock_mhz, t.core_clock_mhz);
  give(has, HMN_TELEMETRY_HAS_MEMORY_CLOCK, out.memory_clock_mhz, t.memory_clock_mhz);
  give(has, HMN_TELEMETRY_HAS_FAN_PERCENT, out.fan_percent, t.fan_percent);
  give(has, HMN_TELEMETRY_HAS_FAN_RPM, out.fan_rpm, t.fan_rpm);
  give(has, HMN_TELEMETRY_HAS_PCIE_GENERATION, out.pcie_generation, t.pcie_generation);
  give(has, HMN_TELEMETRY_HAS_PCIE_WIDTH, out.pcie_width, t.pcie_width);
  give(has, HMN_TELEMETRY_HAS_PCIE_RX, out.pcie_rx_bytes, t.pcie_rx_bytes);
  give(has, HMN_TELEMETRY_HAS_PCIE_TX, out.pcie_tx_bytes, t.pcie_tx_bytes);
  give(has, HMN_TELEMETRY_HAS_THROTTLE, out.throttle, t.throttle);
  give(has, HMN_TELEMETRY_HAS_P_STATE, out.p_state, t.p_state);
  give(has, HMN_TELEMETRY_HAS_WINDOW, out.window_ns, t.window_ns);
  out.age_ns = dated.age_ns;
  return out;
}

}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_telemetry_read(hmn_context* handle, uint32_t device_index, hmn_flags fields,
                              hmn_telemetry* out, hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](context& c) -> result<hmn_telemetry> {
    if ((fields & ~telemetry_field::all) != 0) {
      return failure{status::unknown_flag,
                     source::none,
                     {},
                     {"fields: unknown bits 0x", hex(fields & ~telemetry_field::all)}};
    }
    const result<dated<telemetry>> t =
        c.telemetry(device_index, fields != 0 ? fields : telemetry_field::all);
    if (!t) return t.why();
    hmn_telemetry full = to_c(device_index, *t);
    if ((fields & ~full.present) != 0) full.notes |= HMN_NOTE_PARTIAL;
    return full;
  });
}
