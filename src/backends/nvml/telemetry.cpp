// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/telemetry.hpp"

#include <array>

#include "model/compose.hpp"
#include "model/scale.hpp"

namespace hmn::nvml {
namespace {

namespace field = telemetry_field;

// nvmlClocksEventReasons
struct reason {
  std::uint32_t reported;
  std::uint32_t means;
};

constexpr std::array reasons_known{
    reason{0x001, throttle::idle},
    reason{0x002, throttle::setting},   // applications' clocks
    reason{0x004, throttle::power},     // software power cap
    reason{0x008, throttle::hardware},  // hardware slowdown
    reason{0x010, throttle::setting},   // sync boost
    reason{0x020, throttle::thermal},   // software
    reason{0x040, throttle::thermal | throttle::hardware},
    reason{0x080, throttle::power | throttle::hardware},  // power brake
    reason{0x100, throttle::setting},                     // display clocks
};

}  // namespace

std::uint32_t throttle_bits(std::uint64_t reasons) noexcept {
  std::uint32_t bits = 0;
  for (const reason& r : reasons_known) {
    if ((reasons & r.reported) != 0) bits |= r.means;
    reasons &= ~std::uint64_t{r.reported};
  }
  return reasons == 0 ? bits : bits | throttle::other;
}

result<void> telemetry_reader::read() {
  read_utilization();
  set(out_.encoder_busy_percent, engine(field::encoder_busy_percent, s_.fn.encoder));
  set(out_.decoder_busy_percent, engine(field::decoder_busy_percent, s_.fn.decoder));
  set(out_.temperature_celsius, celsius(field::temperature_celsius));
  set(out_.memory_celsius, memory_celsius());
  set(out_.power_watts, watts(field::power_watts, s_.fn.power));
  set(out_.power_limit_watts, watts(field::power_limit_watts, s_.fn.power_limit));
  set(out_.energy_joules, joules(field::energy_joules));
  set(out_.core_clock_mhz, indexed(field::core_clock_mhz, s_.fn.clock, clock_graphics));
  set(out_.memory_clock_mhz, indexed(field::memory_clock_mhz, s_.fn.clock, clock_memory));
  set(out_.fan_percent, fan_percent());
  set(out_.pcie_generation, number(field::pcie_generation, s_.fn.pcie_generation));
  set(out_.pcie_width, number(field::pcie_width, s_.fn.pcie_width));
  set(out_.p_state, p_state());
  set(out_.throttle, throttle());
  refuse_what_nvml_lacks();
  out_.from = source::nvml;
  if (!any_) return failure_for(first_code_ == success ? not_offered : first_code_, first_from_);
  out_.sources |= bit_of(source::nvml);
  return {};
}

void telemetry_reader::read_utilization() {
  constexpr std::uint32_t gpu = field::gpu_busy_percent;
  constexpr std::uint32_t memory = field::memory_busy_percent;
  utilization reported{};
  if (!get(gpu | memory, s_.fn.utilization, &reported)) return;
  any_ = true;
  if (wants(gpu)) out_.gpu_busy_percent = reported.gpu;
  if (wants(memory)) out_.memory_busy_percent = reported.memory;
}

std::optional<unsigned> telemetry_reader::engine(std::uint32_t bit, const percent_call& from) {
  unsigned percent = 0;
  unsigned period_us = 0;
  if (!get(bit, from, &percent, &period_us)) return std::nullopt;
  return percent;
}

std::optional<double> telemetry_reader::memory_celsius() {
  field_value reported{};
  reported.id = field_memory_temperature;
  if (!get_field(field::memory_celsius, reported)) return std::nullopt;
  // Boards without the sensor report 0.
  if (const double celsius = number_of(reported); celsius != 0) return celsius;
  refuse(status::unsupported, s_.fn.fields.name(), "no memory temperature", field::memory_celsius);
  return std::nullopt;
}

std::optional<double> telemetry_reader::watts(std::uint32_t bit, const number_call& from) {
  const auto milliwatts = number(bit, from);
  if (!milliwatts) return std::nullopt;
  return from_milli.of(*milliwatts);
}

std::optional<unsigned> telemetry_reader::fan_percent() {
  if (!wants(field::fan_percent)) return std::nullopt;
  unsigned reported = 0;
  // Asking a card without fans for their speed takes longer.
  if (call(t_, s_.fn.fan_count, of_.h, &reported) == success && reported == 0) {
    take(not_offered, s_.fn.fan_count, field::fan_percent);
    return std::nullopt;
  }
  const code c = call(t_, s_.fn.fan, of_.h, &reported);
  if (has_no_function(c) && s_.fn.fan_of) return indexed(field::fan_percent, s_.fn.fan_of, 0);
  if (!take(c, s_.fn.fan, field::fan_percent)) return std::nullopt;
  return reported;
}

std::optional<unsigned> telemetry_reader::p_state() {
  const auto reported = number(field::p_state, s_.fn.p_state);
  if (reported != p_state_unknown) return reported;
  refuse(status::unsupported, s_.fn.p_state.name(), "the driver does not know it now",
         field::p_state);
  return std::nullopt;
}

std::optional<std::uint32_t> telemetry_reader::throttle() {
  const auto reasons = wide_number(field::throttle, s_.fn.clock_reasons);
  if (!reasons) return std::nullopt;
  return throttle_bits(*reasons);
}

// Averaging times are not reported; PCIe byte counters wrap.
void telemetry_reader::refuse_what_nvml_lacks() {
  constexpr std::uint32_t lacking = field::hotspot_celsius | field::fan_rpm | field::pcie_rx_bytes |
                                    field::pcie_tx_bytes | field::window_ns;
  if (wants(lacking)) {
    refuse(status::unsupported, "NVML", "it has no such value in a form that can be trusted",
           lacking);
  }
}

}  // namespace hmn::nvml
