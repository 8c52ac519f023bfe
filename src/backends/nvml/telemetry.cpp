// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/telemetry.hpp"

#include <array>

#include "backends/nvml/limits.hpp"
#include "model/compose.hpp"

namespace hmn::nvml {
namespace {

namespace field = telemetry_field;

// nvmlClocksEventReasons
struct reason {
  std::uint64_t reported;
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
    reasons &= ~r.reported;
  }
  return reasons == 0 ? bits : bits | throttle::other;
}

result<void> telemetry_reader::read() {
  constexpr std::array steps{&telemetry_reader::read_utilization,
                             &telemetry_reader::read_temperature,
                             &telemetry_reader::read_memory_temperature,
                             &telemetry_reader::read_power,
                             &telemetry_reader::read_energy,
                             &telemetry_reader::read_clocks,
                             &telemetry_reader::read_fan,
                             &telemetry_reader::read_pcie,
                             &telemetry_reader::read_p_state,
                             &telemetry_reader::read_throttle};
  for (const auto step : steps) (this->*step)();
  refuse_what_nvml_lacks();
  out_.from = source::nvml;
  if (!any_) return failure_for(first_code_ == success ? not_offered : first_code_, first_from_);
  out_.sources |= std::uint64_t{1} << static_cast<unsigned>(source::nvml);
  return {};
}

bool telemetry_reader::wants(std::uint32_t bits) const noexcept {
  return (fields_ & bits) != 0;
}

bool telemetry_reader::take(code c, const char* from, std::uint32_t bits) {
  if (c == success) return true;
  const bool ends_now = ends_it(c) && ended_by_ == success;
  if (ends_now) ended_by_ = c;
  if (first_code_ == success || ends_now) {
    first_code_ = c;
    first_from_ = from;
  }
  t_.missing(c, ended_by_ != success ? first_from_ : from, fields_ & bits);
  return false;
}

void telemetry_reader::refuse(status s, const char* from, const char* why, std::uint32_t bits) {
  if (first_code_ == success) {
    first_code_ = s == status::unsupported ? not_offered : unusable;
    first_from_ = from;
  }
  if (!t_.wants()) return;
  const auto stated = s == status::backend ? hmn::reason::implausible : hmn::reason::unknown;
  t_.diagnose(with_reason(stated, fail(s, {from, ": ", why})), fields_ & bits);
}

void telemetry_reader::percent(unsigned reported, std::uint32_t bit, std::optional<double>& out) {
  if (!wants(bit)) return;
  out = reported;
  any_ = true;
}

void telemetry_reader::read_utilization() {
  constexpr std::uint32_t bits = field::gpu_busy_percent | field::memory_busy_percent;
  if (wants(bits)) {
    utilization reported{};
    const char* const name = s_.fn.utilization.name();
    // Drivers may report the whole GPU's value for an instance.
    const code c = of_.is_partition() ? not_offered : ask(s_.fn.utilization, &reported);
    if (take(c, name, bits)) {
      percent(reported.gpu, field::gpu_busy_percent, out_.gpu_busy_percent);
      percent(reported.memory, field::memory_busy_percent, out_.memory_busy_percent);
    }
  }
  read_engine(s_.fn.encoder, field::encoder_busy_percent, out_.encoder_busy_percent);
  read_engine(s_.fn.decoder, field::decoder_busy_percent, out_.decoder_busy_percent);
}

void telemetry_reader::read_engine(const percent_call& from, std::uint32_t bit,
                                   std::optional<double>& out) {
  if (!wants(bit)) return;
  unsigned reported = 0;
  unsigned period_us = 0;
  const code c = ask(from, &reported, &period_us);
  if (take(c, from.name(), bit)) percent(reported, bit, out);
}

void telemetry_reader::read_temperature() {
  if (!wants(field::temperature_celsius)) return;
  int celsius = 0;
  const char* name = nullptr;
  const code c = ask_temperature([this](auto&... a) { return ask(a...); }, s_, celsius, name);
  if (!take(c, name, field::temperature_celsius)) return;
  out_.temperature_celsius = celsius;
  any_ = true;
}

void telemetry_reader::read_memory_temperature() {
  if (!wants(field::memory_celsius)) return;
  field_value reported{};
  reported.id = field_memory_temperature;
  const char* const name = s_.fn.fields.name();
  code c = ask(s_.fn.fields, 1, &reported);
  if (c == success) c = outcome_of(reported);
  if (!take(c, name, field::memory_celsius)) return;
  const bool is_number = reported.type == field_unsigned_int || reported.type == field_signed_int;
  const auto celsius = static_cast<std::int32_t>(reported.bits & 0xFFFFFFFFU);
  if (reported.bits == value_not_available) {
    return refuse(status::backend, name, "a value that cannot be", field::memory_celsius);
  }
  // Boards without the sensor report 0.
  if (!is_number || celsius == 0) {
    return refuse(status::unsupported, name, "no memory temperature", field::memory_celsius);
  }
  out_.memory_celsius = celsius;
  any_ = true;
}

void telemetry_reader::read_watts(const number_call& from, std::uint32_t bit,
                                  std::optional<double>& out) {
  if (!wants(bit)) return;
  unsigned milliwatts = 0;
  const code c = ask(from, &milliwatts);
  if (!take(c, from.name(), bit)) return;
  out = from_milli.of(milliwatts);
  any_ = true;
}

void telemetry_reader::read_power() {
  read_watts(s_.fn.power, field::power_watts, out_.power_watts);
  read_watts(s_.fn.power_limit, field::power_limit_watts, out_.power_limit_watts);
}

void telemetry_reader::read_energy() {
  if (!wants(field::energy_joules)) return;
  const char* const name = s_.fn.energy.name();
  if (t_.r.is_quick()) return t_.left_out(name, field::energy_joules);
  unsigned long long millijoules = 0;
  const code c = ask(s_.fn.energy, &millijoules);
  if (!take(c, name, field::energy_joules)) return;
  if (millijoules == value_not_available) {
    return refuse(status::backend, name, "a value that cannot be", field::energy_joules);
  }
  out_.energy_joules = from_milli.of(static_cast<double>(millijoules));
  any_ = true;
}

void telemetry_reader::read_clock(unsigned which, std::uint32_t bit,
                                  std::optional<std::uint32_t>& out) {
  if (!wants(bit)) return;
  unsigned megahertz = 0;
  const char* const name = s_.fn.clock.name();
  const code c = ask(s_.fn.clock, which, &megahertz);
  if (!take(c, name, bit)) return;
  out = megahertz;
  any_ = true;
}

void telemetry_reader::read_clocks() {
  read_clock(clock_graphics, field::core_clock_mhz, out_.core_clock_mhz);
  read_clock(clock_memory, field::memory_clock_mhz, out_.memory_clock_mhz);
}

void telemetry_reader::read_fan() {
  if (!wants(field::fan_percent)) return;
  unsigned reported = 0;
  const char* name = s_.fn.fan_count.name();
  // Asking a card without fans for their speed takes longer.
  if (ask(s_.fn.fan_count, &reported) == success && reported == 0) {
    take(not_offered, name, field::fan_percent);
    return;
  }
  name = s_.fn.fan.name();
  code c = ask(s_.fn.fan, &reported);
  if (has_no_function(c) && s_.fn.fan_of) {
    name = s_.fn.fan_of.name();
    c = ask(s_.fn.fan_of, 0U, &reported);
  }
  if (!take(c, name, field::fan_percent)) return;
  out_.fan_percent = reported;
  any_ = true;
}

void telemetry_reader::read_number(const number_call& from, std::uint32_t bit,
                                   std::optional<std::uint32_t>& out,
                                   std::optional<unsigned> unknown) {
  if (!wants(bit)) return;
  unsigned reported = 0;
  if (!take(ask(from, &reported), from.name(), bit)) return;
  if (reported == unknown) {
    return refuse(status::unsupported, from.name(), "the driver does not know it now", bit);
  }
  out = reported;
  any_ = true;
}

void telemetry_reader::read_pcie() {
  read_number(s_.fn.pcie_generation, field::pcie_generation, out_.pcie_generation);
  read_number(s_.fn.pcie_width, field::pcie_width, out_.pcie_width);
}

void telemetry_reader::read_p_state() {
  read_number(s_.fn.p_state, field::p_state, out_.p_state, p_state_unknown);
}

void telemetry_reader::read_throttle() {
  if (!wants(field::throttle)) return;
  unsigned long long reasons = 0;
  const code c = ask(s_.fn.clock_reasons, &reasons);
  if (!take(c, s_.fn.clock_reasons.name(), field::throttle)) return;
  if (reasons == value_not_available) {
    return refuse(status::backend, s_.fn.clock_reasons.name(), "a value that cannot be",
                  field::throttle);
  }
  out_.throttle = throttle_bits(reasons);
  any_ = true;
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
