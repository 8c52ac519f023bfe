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

FieldSet missing(const PlainReading& r) {
  FieldSet bits = 0;
  for (const Diagnostic& d : r.about(subject::telemetry)) bits |= d.field;
  return bits;
}

}  // namespace

TEST_CASE("each value is told in its unit") {
  Machine m(one_gpu(every_value));
  const hmn::Telemetry t = m.telemetry();
  CHECK(t.gpu_busy_percent == 64.0);
  CHECK(t.memory_busy_percent == 12.0);
  CHECK(t.encoder_busy_percent == 7.0);
  CHECK(t.decoder_busy_percent == 9.0);
  CHECK(t.temperature_celsius == 45.0);
  CHECK(t.memory_celsius == 61.0);
  CHECK(*t.power_watts == 58.98);
  CHECK(t.power_limit_watts == 350.0);
  CHECK(*t.energy_joules == 123456.789);
  CHECK(t.core_clock_mhz == 2520);
  CHECK(t.memory_clock_mhz == 9001);
  CHECK(t.fan_percent.has_value());
  CHECK(t.p_state == 2);
  CHECK(t.pcie_generation == 4);
  CHECK(t.pcie_width == 16);
  CHECK(t.throttle == throttle::power);
  CHECK(t.from == Source::nvml);
  CHECK(t.sources == 1ULL << static_cast<unsigned>(Source::nvml));
  CHECK(missing(m.reading) == never_reported);
  CHECK(m.reading.about(subject::telemetry).size() == 1);
  CHECK(m.reading.about(subject::telemetry)[0].why.code == Status::unsupported);
}

TEST_CASE("only what is wanted is asked") {
  Machine m(one_gpu(every_value));
  const hmn::Telemetry t = m.telemetry(0, field::power_watts);
  CHECK(t.power_watts.has_value());
  CHECK(!t.gpu_busy_percent);
  CHECK(m.driver.calls("nvmlDeviceGetUtilizationRates") == 0);
  CHECK(m.driver.calls("nvmlDeviceGetFanSpeed") == 0);
  CHECK(m.reading.about().empty());
}

TEST_CASE("a card without fans is not asked for their speed") {
  Machine m(one_gpu(R"("temperature": 45, "fans": [])"));
  const hmn::Telemetry t = m.telemetry(0, field::temperature_celsius | field::fan_percent);
  CHECK(!t.fan_percent);
  CHECK(missing(m.reading) == field::fan_percent);
  CHECK(m.driver.calls("nvmlDeviceGetFanSpeed") == 0);
}

TEST_CASE("what a card does not have is a remark with its field and NVML's code") {
  Machine m(one_gpu(R"("temperature": 45)"));
  const hmn::Telemetry t = m.telemetry();
  CHECK(t.temperature_celsius == 45.0);
  CHECK(missing(m.reading) == (field::all & ~field::temperature_celsius));
  for (const Diagnostic& d : m.reading.about(subject::telemetry)) {
    CHECK(d.why.code == Status::unsupported);
    CHECK(d.device == 0);
    CHECK((d.why.native.code == nvml::not_supported || (d.field & never_reported) != 0));
  }
}

TEST_CASE("a card that has none of what is wanted is a failure") {
  Machine m(one_gpu());
  hmn::Telemetry t;
  require_ok(m.prepare());
  for (const std::uint64_t fields : {field::all, field::power_watts, field::window_ns}) {
    const auto done = m.source().telemetry(0, fields, t, m.reading);
    REQUIRE_FALSE(done);
    CHECK(done.why().code == Status::unsupported);
  }
}

TEST_CASE("values that cannot be are left out with a remark") {
  Machine m(one_gpu(R"("utilization": {"gpu": 101, "memory": 100}, "encoder": 200,
    "temperature": 4294967295, "power_usage_mw": 4294967295, "energy_mj": 18446744073709551615,
    "clocks_mhz": {"graphics": 4294967295, "memory": 9001}, "fans": 4294967295, "pstate": 32,
    "pcie": {"gen": 0, "width": 4294967295},
    "results": {"nvmlDeviceGetTemperatureV": 3})"));
  const hmn::Telemetry t = m.telemetry();
  CHECK(!t.gpu_busy_percent);
  CHECK(t.memory_busy_percent == 100.0);
  CHECK(!t.encoder_busy_percent);
  CHECK(!t.temperature_celsius);
  CHECK(!t.power_watts);
  CHECK(!t.energy_joules);
  CHECK(!t.core_clock_mhz);
  CHECK(t.memory_clock_mhz == 9001);
  CHECK(!t.fan_percent);
  CHECK(!t.p_state);
  CHECK(!t.pcie_generation);
  CHECK(!t.pcie_width);
  CHECK((missing(m.reading) | field::memory_busy_percent | field::memory_clock_mhz) == field::all);
}

TEST_CASE("a fan above its rated speed is told as it is") {
  Machine m(one_gpu(R"("fans": 104)"));
  CHECK(m.telemetry(0, field::fan_percent).fan_percent == 104);
}

TEST_CASE("temperatures below zero are temperatures") {
  Machine m(one_gpu(R"("fields": {"82": {"type": "int", "value": 61}}, "temperature": 30)"));
  CHECK(m.telemetry(0, field::memory_celsius).memory_celsius == 61.0);
  m.driver.load(one_gpu(R"("fields": {"82": 0}, "temperature": 30)"));
  const hmn::Telemetry t = m.telemetry(0, field::memory_celsius | field::temperature_celsius);
  CHECK(!t.memory_celsius);
  CHECK(missing(m.reading) == field::memory_celsius);
}

TEST_CASE("throttle reasons by both names, bit by bit") {
  CHECK(hmn::nvidia::throttle_bits(0) == 0);
  CHECK(hmn::nvidia::throttle_bits(0x1) == throttle::idle);
  CHECK(hmn::nvidia::throttle_bits(0x2) == throttle::setting);
  CHECK(hmn::nvidia::throttle_bits(0x4) == throttle::power);
  CHECK(hmn::nvidia::throttle_bits(0x8) == throttle::hardware);
  CHECK(hmn::nvidia::throttle_bits(0x20) == throttle::thermal);
  CHECK(hmn::nvidia::throttle_bits(0x40) == (throttle::thermal | throttle::hardware));
  CHECK(hmn::nvidia::throttle_bits(0x80) == (throttle::power | throttle::hardware));
  CHECK(hmn::nvidia::throttle_bits(0x200) == throttle::other);
  CHECK(hmn::nvidia::throttle_bits(0x8000000000000001) == (throttle::idle | throttle::other));
  CHECK_FALSE(hmn::nvidia::throttle_bits(0x1ff));
  CHECK_FALSE(hmn::nvidia::throttle_bits(0xffffffff));
  Machine old(one_gpu(every_value),
              std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-only_v1/libnvidia-ml.so.1");
  CHECK(old.telemetry(0, field::throttle).throttle == throttle::power);
  CHECK(old.driver.calls("nvmlDeviceGetCurrentClocksThrottleReasons") == 1);
  CHECK(old.telemetry(0, field::temperature_celsius).temperature_celsius == 45.0);
}

TEST_CASE("a refused temperature is asked by its older name") {
  Machine m(one_gpu(R"("temperature": 45, "results": {"nvmlDeviceGetTemperatureV": 25})"));
  CHECK(m.telemetry(0, field::temperature_celsius).temperature_celsius == 45.0);
  CHECK(m.driver.calls("nvmlDeviceGetTemperature") == 1);
}

TEST_CASE("a lost card ends the reading at once") {
  Machine m(one_gpu(every_value, R"("rules": [{"call": "nvmlDeviceGetPowerUsage",
                                              "result": "GPU_IS_LOST"}])"));
  hmn::Telemetry t;
  require_ok(m.prepare());
  require_ok(m.source().telemetry(0, field::all, t, m.reading));
  CHECK(t.gpu_busy_percent == 64.0);
  CHECK(!t.core_clock_mhz);
  CHECK(m.driver.calls("nvmlDeviceGetClockInfo") == 0);
  bool reported = false;
  for (const Diagnostic& d : m.reading.about(subject::telemetry)) {
    reported = reported || d.why.code == Status::device_lost;
  }
  CHECK(reported);
}

TEST_CASE("when the deadline passes, no further value is asked") {
  Machine m(one_gpu(every_value));
  m.devices();
  m.reading.is_over = [&m] { return m.driver.calls("nvmlDeviceGetUtilizationRates") > 0; };
  const hmn::Telemetry t = m.telemetry();
  CHECK(t.gpu_busy_percent == 64.0);
  CHECK(!t.temperature_celsius);
  CHECK(m.driver.calls("nvmlDeviceGetPowerUsage") == 0);
  bool reported = false;
  for (const Diagnostic& d : m.reading.about(subject::telemetry)) {
    reported = reported || ((d.field & field::power_watts) != 0 && d.why.code == Status::timeout);
  }
  CHECK(reported);
}
