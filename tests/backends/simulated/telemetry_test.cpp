// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

constexpr hmn_flags every_field = (1U << 21) - 1;

constexpr const char* full = R"("telemetry":{
    "gpu_busy_percent":97.5,"memory_busy_percent":61,"encoder_busy_percent":0,
    "decoder_busy_percent":100,"temperature_celsius":-12.5,"hotspot_celsius":81,
    "memory_celsius":90,"power_watts":371.42,"power_limit_watts":450,"energy_joules":8413077.5,
    "core_clock_mhz":2640,"memory_clock_mhz":10501,"fan_percent":104,"fan_rpm":30000,
    "pcie_generation":4,"pcie_width":16,"p_state":2,"throttle":["power","hardware"],
    "pcie_rx_bytes":18446744073709551615,"pcie_tx_bytes":1,"window_ns":1000000000,
    "notes":["estimated"]})";

}  // namespace

TEST_CASE("every figure of a device's telemetry is told") {
  Simulation s(one_device(full));
  auto t = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(s.context(), 0, every_field, &t, nullptr) == HMN_OK);
  CHECK(t.present == every_field);
  CHECK(t.backend == HMN_BACKEND_SIMULATED);
  CHECK(t.backends == 1U << HMN_BACKEND_SIMULATED);
  CHECK((t.notes & HMN_NOTE_ESTIMATED) != 0);
  CHECK(t.gpu_busy_percent == 97.5);
  CHECK(t.memory_busy_percent == 61);
  CHECK(t.encoder_busy_percent == 0);
  CHECK(t.decoder_busy_percent == 100);
  CHECK(t.temperature_celsius == -12.5);
  CHECK(t.hotspot_celsius == 81);
  CHECK(t.memory_celsius == 90);
  CHECK(t.power_watts == 371.42);
  CHECK(t.power_limit_watts == 450);
  CHECK(t.energy_joules == 8413077.5);
  CHECK(t.core_clock_mhz == 2640);
  CHECK(t.memory_clock_mhz == 10501);
  CHECK(t.fan_percent == 104);
  CHECK(t.fan_rpm == 30'000);
  CHECK(t.pcie_generation == 4);
  CHECK(t.pcie_width == 16);
  CHECK(t.p_state == 2);
  CHECK(t.throttle == (HMN_THROTTLE_POWER | HMN_THROTTLE_HARDWARE));
  CHECK(t.pcie_rx_bytes == UINT64_MAX);
  CHECK(t.pcie_tx_bytes == 1);
  CHECK(t.window_ns == 1'000'000'000);
}

TEST_CASE("a device that is not throttled says so, one that does not know says nothing") {
  Simulation s(R"({"devices":[{"uuid":"A","telemetry":{"throttle":[]}},
                              {"uuid":"B","telemetry":{"fan_rpm":0}}]})");
  auto t = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(s.context(), 0, every_field, &t, nullptr) == HMN_OK);
  CHECK(t.present == HMN_TELEMETRY_HAS_THROTTLE);
  CHECK(t.throttle == 0);
  REQUIRE(hmn_telemetry_read(s.context(), 1, every_field, &t, nullptr) == HMN_OK);
  CHECK(t.present == HMN_TELEMETRY_HAS_FAN_RPM);
}

TEST_CASE("missing figures are one diagnostic that names them, and not a partial snapshot") {
  Simulation s(one_device(R"("telemetry":{"power_watts":70,"temperature_celsius":40})"));
  const TakenSnapshot p(s, HMN_COLLECT_TELEMETRY);
  REQUIRE(p.diagnostics.size() == 1);
  CHECK(p.diagnostics[0].status == HMN_E_UNSUPPORTED);
  CHECK(p.diagnostics[0].field ==
        (every_field & ~unsigned{HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_TEMPERATURE}));
  CHECK((p.info.notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("a device without telemetry has none") {
  Simulation s(one_device(""));
  auto t = sized<hmn_telemetry>();
  CHECK(hmn_telemetry_read(s.context(), 0, 0, &t, nullptr) == HMN_E_UNSUPPORTED);
  Simulation other(one_device(R"("telemetry":{"power_watts":70})"));
  CHECK(hmn_telemetry_read(other.context(), 0, HMN_TELEMETRY_HAS_FAN_RPM, &t, nullptr) ==
        HMN_E_UNSUPPORTED);
}
