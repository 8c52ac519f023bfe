// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

constexpr hmn_flags all_fields = (1U << 21) - 1;

constexpr const char* full_telemetry = R"("telemetry":{
    "gpu_busy_percent":97.5,"memory_busy_percent":61,"encoder_busy_percent":0,
    "decoder_busy_percent":100,"temperature_celsius":-12.5,"hotspot_celsius":81,
    "memory_celsius":90,"power_watts":371.42,"power_limit_watts":450,"energy_joules":8413077.5,
    "core_clock_mhz":2640,"memory_clock_mhz":10501,"fan_percent":104,"fan_rpm":30000,
    "pcie_generation":4,"pcie_width":16,"p_state":2,"throttle":["power","hardware"],
    "pcie_rx_bytes":18446744073709551615,"pcie_tx_bytes":1,"window_ns":1000000000,
    "notes":["estimated"]})";

}  // namespace

TEST_CASE("every value of telemetry is reported") {
  Simulation simulation(make_machine(full_telemetry));
  auto telemetry = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(simulation.context(), 0, all_fields, &telemetry, nullptr) == HMN_OK);
  CHECK(telemetry.present == all_fields);
  CHECK(telemetry.backend == HMN_BACKEND_SIMULATED);
  CHECK(telemetry.backends == 1U << HMN_BACKEND_SIMULATED);
  CHECK((telemetry.notes & HMN_NOTE_ESTIMATED) != 0);
  CHECK(telemetry.gpu_busy_percent == 97.5);
  CHECK(telemetry.memory_busy_percent == 61);
  CHECK(telemetry.encoder_busy_percent == 0);
  CHECK(telemetry.decoder_busy_percent == 100);
  CHECK(telemetry.temperature_celsius == -12.5);
  CHECK(telemetry.hotspot_celsius == 81);
  CHECK(telemetry.memory_celsius == 90);
  CHECK(telemetry.power_watts == 371.42);
  CHECK(telemetry.power_limit_watts == 450);
  CHECK(telemetry.energy_joules == 8413077.5);
  CHECK(telemetry.core_clock_mhz == 2640);
  CHECK(telemetry.memory_clock_mhz == 10501);
  CHECK(telemetry.fan_percent == 104);
  CHECK(telemetry.fan_rpm == 30'000);
  CHECK(telemetry.pcie_generation == 4);
  CHECK(telemetry.pcie_width == 16);
  CHECK(telemetry.p_state == 2);
  CHECK(telemetry.throttle == (HMN_THROTTLE_POWER | HMN_THROTTLE_HARDWARE));
  CHECK(telemetry.pcie_rx_bytes == UINT64_MAX);
  CHECK(telemetry.pcie_tx_bytes == 1);
  CHECK(telemetry.window_ns == 1'000'000'000);
}

TEST_CASE("no throttling is reported as such, and unknown throttling is absent") {
  Simulation simulation(R"({"devices":[{"uuid":"A","telemetry":{"throttle":[]}},
                              {"uuid":"B","telemetry":{"fan_rpm":0}}]})");
  auto telemetry = sized<hmn_telemetry>();
  REQUIRE(hmn_telemetry_read(simulation.context(), 0, all_fields, &telemetry, nullptr) == HMN_OK);
  CHECK(telemetry.present == HMN_TELEMETRY_HAS_THROTTLE);
  CHECK(telemetry.throttle == 0);
  REQUIRE(hmn_telemetry_read(simulation.context(), 1, all_fields, &telemetry, nullptr) == HMN_OK);
  CHECK(telemetry.present == HMN_TELEMETRY_HAS_FAN_RPM);
}

TEST_CASE("missing values have one diagnostic that lists them and do not make a snapshot partial") {
  Simulation simulation(make_machine(R"("telemetry":{"power_watts":70,"temperature_celsius":40})"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_TELEMETRY);
  REQUIRE(snapshot.diagnostics.size() == 1);
  CHECK(snapshot.diagnostics[0].status == HMN_E_UNSUPPORTED);
  CHECK(snapshot.diagnostics[0].field ==
        (all_fields & ~unsigned{HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_TEMPERATURE}));
  CHECK((snapshot.info.notes & HMN_NOTE_PARTIAL) == 0);
}

TEST_CASE("a device without telemetry reports it as unsupported") {
  Simulation simulation(make_machine(""));
  auto telemetry = sized<hmn_telemetry>();
  CHECK(hmn_telemetry_read(simulation.context(), 0, 0, &telemetry, nullptr) == HMN_E_UNSUPPORTED);
  Simulation power_only(make_machine(R"("telemetry":{"power_watts":70})"));
  CHECK(hmn_telemetry_read(power_only.context(), 0, HMN_TELEMETRY_HAS_FAN_RPM, &telemetry,
                           nullptr) == HMN_E_UNSUPPORTED);
}
