// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/telemetry.hpp"

#include <doctest/doctest.h>

#include "backends/shared/nvidia/throttle.hpp"
#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;

namespace field = hmn::telemetry_field;

namespace {

constexpr std::uint32_t never_reported = field::hotspot_celsius | field::fan_rpm |
                                         field::pcie_rx_bytes | field::pcie_tx_bytes |
                                         field::window_ns;

FieldSet collect_missing_fields(const PlainReading& reading) {
  FieldSet bits = 0;
  for (const Diagnostic& diagnostic : reading.find_diagnostics(subject::telemetry))
    bits |= diagnostic.field;
  return bits;
}

}  // namespace

TEST_CASE("every value is reported in its unit") {
  Machine machine(one_gpu(every_value));
  const hmn::Telemetry telemetry = machine.telemetry();
  CHECK(telemetry.gpu_busy_percent == 64.0);
  CHECK(telemetry.memory_busy_percent == 12.0);
  CHECK(telemetry.encoder_busy_percent == 7.0);
  CHECK(telemetry.decoder_busy_percent == 9.0);
  CHECK(telemetry.temperature_celsius == 45.0);
  CHECK(telemetry.memory_celsius == 61.0);
  CHECK(*telemetry.power_watts == 58.98);
  CHECK(telemetry.power_limit_watts == 350.0);
  CHECK(*telemetry.energy_joules == 123456.789);
  CHECK(telemetry.core_clock_mhz == 2520);
  CHECK(telemetry.memory_clock_mhz == 9001);
  CHECK(telemetry.fan_percent.has_value());
  CHECK(telemetry.p_state == 2);
  CHECK(telemetry.pcie_generation == 4);
  CHECK(telemetry.pcie_width == 16);
  CHECK(telemetry.throttle == throttle::power);
  CHECK(telemetry.source == Source::nvml);
  CHECK(telemetry.sources == 1ULL << static_cast<unsigned>(Source::nvml));
  CHECK(collect_missing_fields(machine.reading) == never_reported);
  CHECK(machine.reading.find_diagnostics(subject::telemetry).size() == 1);
  CHECK(machine.reading.find_diagnostics(subject::telemetry)[0].failure.code ==
        Status::unsupported);
}

TEST_CASE("only requested fields are queried") {
  Machine machine(one_gpu(every_value));
  const hmn::Telemetry telemetry = machine.telemetry(0, field::power_watts);
  CHECK(telemetry.power_watts.has_value());
  CHECK(!telemetry.gpu_busy_percent);
  CHECK(machine.driver.calls("nvmlDeviceGetUtilizationRates") == 0);
  CHECK(machine.driver.calls("nvmlDeviceGetFanSpeed") == 0);
  CHECK(machine.reading.find_diagnostics().empty());
}

TEST_CASE("the fan speed of a card without fans is not queried") {
  Machine machine(one_gpu(R"("temperature": 45, "fans": [])"));
  const hmn::Telemetry telemetry =
      machine.telemetry(0, field::temperature_celsius | field::fan_percent);
  CHECK(!telemetry.fan_percent);
  CHECK(collect_missing_fields(machine.reading) == field::fan_percent);
  CHECK(machine.driver.calls("nvmlDeviceGetFanSpeed") == 0);
}

TEST_CASE("a missing value has a diagnostic with its field and NVML's code") {
  Machine machine(one_gpu(R"("temperature": 45)"));
  const hmn::Telemetry telemetry = machine.telemetry();
  CHECK(telemetry.temperature_celsius == 45.0);
  CHECK(collect_missing_fields(machine.reading) == (field::all & ~field::temperature_celsius));
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::telemetry)) {
    CHECK(diagnostic.failure.code == Status::unsupported);
    CHECK(diagnostic.device == 0);
    CHECK((diagnostic.failure.native.code == nvml::not_supported ||
           (diagnostic.field & never_reported) != 0));
  }
}

TEST_CASE("a card with none of the requested fields is a failure") {
  Machine machine(one_gpu());
  hmn::Telemetry telemetry;
  require_ok(machine.prepare());
  for (const std::uint64_t fields : {field::all, field::power_watts, field::window_ns}) {
    const auto result = machine.source().telemetry(0, fields, telemetry, machine.reading);
    REQUIRE_FALSE(result);
    CHECK(result.failure().code == Status::unsupported);
  }
}

TEST_CASE("impossible values are dropped with a diagnostic") {
  Machine machine(one_gpu(R"("utilization": {"gpu": 101, "memory": 100}, "encoder": 200,
    "temperature": 4294967295, "power_usage_mw": 4294967295, "energy_mj": 18446744073709551615,
    "clocks_mhz": {"graphics": 4294967295, "memory": 9001}, "fans": 4294967295, "pstate": 32,
    "pcie": {"gen": 0, "width": 4294967295},
    "results": {"nvmlDeviceGetTemperatureV": 3})"));
  const hmn::Telemetry telemetry = machine.telemetry();
  CHECK(!telemetry.gpu_busy_percent);
  CHECK(telemetry.memory_busy_percent == 100.0);
  CHECK(!telemetry.encoder_busy_percent);
  CHECK(!telemetry.temperature_celsius);
  CHECK(!telemetry.power_watts);
  CHECK(!telemetry.energy_joules);
  CHECK(!telemetry.core_clock_mhz);
  CHECK(telemetry.memory_clock_mhz == 9001);
  CHECK(!telemetry.fan_percent);
  CHECK(!telemetry.p_state);
  CHECK(!telemetry.pcie_generation);
  CHECK(!telemetry.pcie_width);
  CHECK((collect_missing_fields(machine.reading) | field::memory_busy_percent |
         field::memory_clock_mhz) == field::all);
}

TEST_CASE("a fan above its rated speed is reported unchanged") {
  Machine machine(one_gpu(R"("fans": 104)"));
  CHECK(machine.telemetry(0, field::fan_percent).fan_percent == 104);
}

TEST_CASE("a memory temperature is read as a signed value, and 0 is dropped") {
  Machine machine(one_gpu(R"("fields": {"82": {"type": "int", "value": 61}}, "temperature": 30)"));
  CHECK(machine.telemetry(0, field::memory_celsius).memory_celsius == 61.0);
  machine.driver.load(one_gpu(R"("fields": {"82": 0}, "temperature": 30)"));
  const hmn::Telemetry telemetry =
      machine.telemetry(0, field::memory_celsius | field::temperature_celsius);
  CHECK(!telemetry.memory_celsius);
  CHECK(collect_missing_fields(machine.reading) == field::memory_celsius);
}

TEST_CASE("throttle reasons are translated bit by bit, from both versions of the call") {
  CHECK(hmn::nvidia::convert_throttle(0) == 0);
  CHECK(hmn::nvidia::convert_throttle(0x1) == throttle::idle);
  CHECK(hmn::nvidia::convert_throttle(0x2) == throttle::setting);
  CHECK(hmn::nvidia::convert_throttle(0x4) == throttle::power);
  CHECK(hmn::nvidia::convert_throttle(0x8) == throttle::hardware);
  CHECK(hmn::nvidia::convert_throttle(0x20) == throttle::thermal);
  CHECK(hmn::nvidia::convert_throttle(0x40) == (throttle::thermal | throttle::hardware));
  CHECK(hmn::nvidia::convert_throttle(0x80) == (throttle::power | throttle::hardware));
  CHECK(hmn::nvidia::convert_throttle(0x200) == throttle::other);
  CHECK(hmn::nvidia::convert_throttle(0x8000000000000001) == (throttle::idle | throttle::other));
  CHECK_FALSE(hmn::nvidia::convert_throttle(0x1ff));
  CHECK_FALSE(hmn::nvidia::convert_throttle(0xffffffff));
  Machine old(one_gpu(every_value),
              std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-only_v1/libnvidia-ml.so.1");
  CHECK(old.telemetry(0, field::throttle).throttle == throttle::power);
  CHECK(old.driver.calls("nvmlDeviceGetCurrentClocksThrottleReasons") == 1);
  CHECK(old.telemetry(0, field::temperature_celsius).temperature_celsius == 45.0);
}

TEST_CASE("a refused temperature is read with the older function") {
  Machine machine(one_gpu(R"("temperature": 45, "results": {"nvmlDeviceGetTemperatureV": 25})"));
  CHECK(machine.telemetry(0, field::temperature_celsius).temperature_celsius == 45.0);
  CHECK(machine.driver.calls("nvmlDeviceGetTemperature") == 1);
}

TEST_CASE("a lost card ends the reading at once") {
  Machine machine(one_gpu(every_value, R"("rules": [{"call": "nvmlDeviceGetPowerUsage",
                                              "result": "GPU_IS_LOST"}])"));
  hmn::Telemetry telemetry;
  require_ok(machine.prepare());
  require_ok(machine.source().telemetry(0, field::all, telemetry, machine.reading));
  CHECK(telemetry.gpu_busy_percent == 64.0);
  CHECK(!telemetry.core_clock_mhz);
  CHECK(machine.driver.calls("nvmlDeviceGetClockInfo") == 0);
  bool is_reported = false;
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::telemetry)) {
    is_reported = is_reported || diagnostic.failure.code == Status::device_lost;
  }
  CHECK(is_reported);
}

TEST_CASE("after the deadline no further value is read") {
  Machine machine(one_gpu(every_value));
  machine.devices();
  machine.reading.has_expired = [&machine] {
    return machine.driver.calls("nvmlDeviceGetUtilizationRates") > 0;
  };
  const hmn::Telemetry telemetry = machine.telemetry();
  CHECK(telemetry.gpu_busy_percent == 64.0);
  CHECK(!telemetry.temperature_celsius);
  CHECK(machine.driver.calls("nvmlDeviceGetPowerUsage") == 0);
  bool is_reported = false;
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::telemetry)) {
    is_reported = is_reported || ((diagnostic.field & field::power_watts) != 0 &&
                                  diagnostic.failure.code == Status::timeout);
  }
  CHECK(is_reported);
}
