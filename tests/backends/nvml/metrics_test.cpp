// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/telemetry.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;

namespace {

struct Reported {
  explicit Reported(Machine& m, bool slow = false) {
    require_ok(m.prepare());
    outcome = m.source().metrics(0, slow, all, m.reading);
    keep_plausible(all, 0, m.reading);
  }
  [[nodiscard]] const Metric* find(MetricId id, std::uint32_t instance = 0) const {
    for (const Metric& m : all) {
      if (m.id == id && m.instance == instance) return &m;
    }
    return nullptr;
  }
  [[nodiscard]] std::optional<double> value(MetricId id, std::uint32_t instance = 0) const {
    const Metric* m = find(id, instance);
    return m != nullptr ? m->value : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> count(MetricId id, std::uint32_t instance = 0) const {
    const Metric* m = find(id, instance);
    return m != nullptr ? m->count : std::nullopt;
  }
  std::vector<Metric> all;
  Result<void> outcome;
};

}  // namespace

TEST_CASE("each number is told in its unit, from NVML") {
  Machine m(one_gpu(every_value));
  const Reported t(m);
  require_ok(t.outcome);
  CHECK(t.value(MetricId::engine_percent) == 64.0);
  CHECK(t.value(MetricId::engine_percent, which::engine::memory) == 12.0);
  CHECK(t.value(MetricId::engine_percent, which::engine::encode) == 7.0);
  CHECK(t.find(MetricId::engine_percent, which::engine::encode)->window_ns == 167'000'000);
  CHECK(t.value(MetricId::engine_percent, which::engine::decode) == 9.0);
  CHECK(t.value(MetricId::temperature, which::sensor::core) == 45.0);
  CHECK(t.value(MetricId::temperature, which::sensor::memory) == 61.0);
  CHECK(t.value(MetricId::temperature_shutdown, which::sensor::core) == 97.0);
  CHECK(t.value(MetricId::temperature_limit, which::sensor::core) == 94.0);
  CHECK(t.value(MetricId::temperature_limit, which::sensor::memory) == 105.0);
  CHECK(*t.value(MetricId::power_watts) == 58.98);
  CHECK(t.value(MetricId::power_watts, which::power_reading::instant) == 60.5);
  CHECK(t.value(MetricId::power_limit_watts, which::power_limit::current) == 350.0);
  CHECK(t.value(MetricId::power_limit_watts, which::power_limit::default_limit) == 400.0);
  CHECK(t.value(MetricId::power_limit_watts, which::power_limit::min) == 100.0);
  CHECK(t.value(MetricId::power_limit_watts, which::power_limit::max) == 450.0);
  CHECK(*t.value(MetricId::energy_joules) == 123456.789);
  CHECK(t.value(MetricId::clock_mhz, which::clock::core) == 2520.0);
  CHECK(t.value(MetricId::clock_mhz, which::clock::sm) == 2519.0);
  CHECK(t.value(MetricId::clock_mhz, which::clock::memory) == 9001.0);
  CHECK(t.value(MetricId::clock_limit_mhz, which::clock::video) == 2415.0);
  CHECK(t.value(MetricId::fan_percent, 1) == 31.0);
  CHECK(t.value(MetricId::fan_percent, 2) == 33.0);
  CHECK(t.count(MetricId::pcie_replays) == 5);
  CHECK(t.count(MetricId::pcie_tx_bytes) == 7'000'000);
  CHECK(t.count(MetricId::pcie_rx_bytes) == 9'000'000);
  CHECK(t.find(MetricId::pcie_rx_bytes)->notes == 0);
  CHECK(t.count(MetricId::ecc_corrected, which::era::since_load) == 1);
  CHECK(t.count(MetricId::ecc_corrected, which::era::lifetime) == 20);
  CHECK(t.count(MetricId::ecc_uncorrected, which::era::since_load) == 0);
  CHECK(t.count(MetricId::ecc_uncorrected, which::era::lifetime) == 3);
  CHECK(t.count(MetricId::rows_remapped, which::remapping::uncorrected) == 2);
  CHECK(t.count(MetricId::rows_remapped, which::remapping::pending) == 1);
  CHECK(t.count(MetricId::rows_remapped, which::remapping::failed) == 0);
  CHECK(t.count(MetricId::last_fault) == 79);
  CHECK(t.count(MetricId::throttle_ns, throttle::power) == 81'234'000'000);
  for (const Metric& one : t.all) {
    CAPTURE(static_cast<unsigned>(one.id));
    CHECK(one.from == Source::nvml);
    CHECK(one.value.has_value() != one.count.has_value());
  }
  CHECK(m.reading.about().empty());
  CHECK(m.driver.calls("nvmlDeviceGetPcieThroughput") == 0);
}

TEST_CASE("slow numbers come on request alone") {
  Machine m(one_gpu(every_value));
  const Reported fast(m);
  CHECK(!fast.find(MetricId::power_watts, which::power_reading::average));
  CHECK(!fast.find(MetricId::link_rx_bytes));
  const Reported slow(m, true);
  CHECK(slow.value(MetricId::power_watts, which::power_reading::average) == 59.0);
  CHECK(slow.count(MetricId::link_rx_bytes, 1) == 11 * kib);
  CHECK(slow.count(MetricId::link_tx_bytes, 2) == 10 * kib);
  CHECK(!slow.find(MetricId::link_tx_bytes, 3));
  CHECK(slow.all.size() == fast.all.size() + 5);
}

TEST_CASE("each call failing costs its own numbers, says so, and voids no other") {
  struct Row {
    const char* symbol;
    MetricId id;
    std::size_t lost;
  };
  constexpr std::array rows{
      Row{"nvmlDeviceGetUtilizationRates", MetricId::engine_percent, 2},
      Row{"nvmlDeviceGetEncoderUtilization", MetricId::engine_percent, 1},
      Row{"nvmlDeviceGetDecoderUtilization", MetricId::engine_percent, 1},
      Row{"nvmlDeviceGetTemperatureThreshold", MetricId::temperature_limit, 3},
      Row{"nvmlDeviceGetPowerUsage", MetricId::power_watts, 1},
      Row{"nvmlDeviceGetEnforcedPowerLimit", MetricId::power_limit_watts, 1},
      Row{"nvmlDeviceGetPowerManagementDefaultLimit", MetricId::power_limit_watts, 1},
      Row{"nvmlDeviceGetPowerManagementLimitConstraints", MetricId::power_limit_watts, 2},
      Row{"nvmlDeviceGetTotalEnergyConsumption", MetricId::energy_joules, 1},
      Row{"nvmlDeviceGetClockInfo", MetricId::clock_mhz, 4},
      Row{"nvmlDeviceGetMaxClockInfo", MetricId::clock_limit_mhz, 4},
      Row{"nvmlDeviceGetNumFans", MetricId::fan_percent, 2},
      Row{"nvmlDeviceGetFanSpeed_v2", MetricId::fan_percent, 2},
      Row{"nvmlDeviceGetPcieReplayCounter", MetricId::pcie_replays, 1},
      Row{"nvmlDeviceGetTotalEccErrors", MetricId::ecc_corrected, 4},
      Row{"nvmlDeviceGetRemappedRows", MetricId::rows_remapped, 4},
      Row{"nvmlDeviceGetFieldValues", MetricId::pcie_rx_bytes, 8},
      Row{"nvmlDeviceGetSupportedEventTypes", MetricId::last_fault, 1},
      Row{"nvmlDeviceRegisterEvents", MetricId::last_fault, 1},
      Row{"nvmlEventSetCreate", MetricId::last_fault, 1},
      Row{"nvmlEventSetWait_v2", MetricId::last_fault, 1}};
  std::size_t all = 0;
  {
    Machine whole(one_gpu(every_value));
    all = Reported(whole).all.size();
  }
  for (const Row& r : rows) {
    CAPTURE(r.symbol);
    for (const auto& [number, means] :
         {std::pair{4, Status::permission}, std::pair{999, Status::backend}}) {
      Machine m(one_gpu(every_value, R"("rules": [{"call": ")" + std::string(r.symbol) +
                                         R"(", "result": )" + std::to_string(number) + "}]"));
      const Reported t(m);
      require_ok(t.outcome);
      CHECK(t.all.size() == all - r.lost);
      bool said = false;
      for (const Diagnostic& d : m.reading.about(subject::metrics)) {
        CHECK(d.why.code == means);
        said = said || id_of_missing(d.field) == static_cast<std::uint32_t>(r.id);
      }
      CHECK(said);
    }
  }
}

TEST_CASE("a field that fails costs itself") {
  std::string some = every_value;
  some.replace(some.find(R"("186": 60500)"), 12, R"("186": {"error": "NO_PERMISSION"})");
  Machine m(one_gpu(some));
  const Reported t(m);
  CHECK(!t.find(MetricId::power_watts, which::power_reading::instant));
  CHECK(t.value(MetricId::temperature, which::sensor::memory) == 61.0);
  CHECK(t.count(MetricId::pcie_rx_bytes) == 9'000'000);
  REQUIRE(m.reading.about().size() == 1);
  CHECK(m.reading.about()[0].why.code == Status::permission);
  CHECK(m.reading.about()[0].field ==
        missing_metric(MetricId::power_watts, which::power_reading::instant));
}

// From 251 on drivers before and after 580.82 mean different things by the same number.
TEST_CASE("no number comes from a field that was renumbered") {
  std::string fields;
  for (int id = 251; id < 300; ++id)
    fields += (id == 251 ? "\"" : ", \"") + std::to_string(id) + "\": 1";
  Machine m(one_gpu("\"fields\": {" + fields + "}"));
  CHECK(Reported(m, true).all.empty());
}

TEST_CASE("a card without any of them is an empty list, with reasons") {
  Machine m(one_gpu());
  const Reported t(m);
  require_ok(t.outcome);
  CHECK(t.all.empty());
  CHECK(!m.reading.about(subject::metrics).empty());
  for (const Diagnostic& d : m.reading.about(subject::metrics)) {
    CHECK(d.why.code == Status::unsupported);
    CHECK(d.field != 0);
  }
}

TEST_CASE("values that cannot be are left out with a remark") {
  Machine m(one_gpu(R"("utilization": {"gpu": 101, "memory": 100}, "power_usage_mw": 4294967295,
    "energy_mj": 18446744073709551615, "clocks_mhz": {"graphics": 4294967295, "sm": 1},
    "power_limits_mw": {"min": 5, "max": 4}, "fields": {"82": 0, "186": 4294967295}, "fans": 5000)"));
  const Reported t(m);
  CHECK(!t.find(MetricId::engine_percent));
  CHECK(t.value(MetricId::engine_percent, which::engine::memory) == 100.0);
  CHECK(!t.find(MetricId::power_watts));
  CHECK(!t.find(MetricId::power_watts, which::power_reading::instant));
  CHECK(!t.find(MetricId::energy_joules));
  CHECK(!t.find(MetricId::clock_mhz, which::clock::core));
  CHECK(t.value(MetricId::clock_mhz, which::clock::sm) == 1.0);
  CHECK(!t.find(MetricId::power_limit_watts, which::power_limit::min));
  CHECK(!t.find(MetricId::temperature, which::sensor::memory));
  CHECK(!t.find(MetricId::fan_percent, 1));
}

TEST_CASE("a count of 32 bits is carried on over its end, as a lower bound") {
  nvml::WideCounts w;
  CHECK(w.widen(1, 0, 197, 4'294'967'000) == 4'294'967'000);
  CHECK(w.widen(1, 0, 197, 4) == 4'294'967'300);
  CHECK(w.widen(1, 0, 197, 4) == 4'294'967'300);
  CHECK(w.widen(1, 0, 198, 7) == 7);
  CHECK(w.widen(1, 1, 197, 9) == 9);
  CHECK(w.widen(2, 0, 197, 5) == 5);
  Machine m(one_gpu(R"("fields": {"197": {"type": "uint", "value": 4294967000}})"));
  CHECK(Reported(m).count(MetricId::pcie_tx_bytes) == 4'294'967'000);
  m.driver.load(one_gpu(R"("fields": {"197": {"type": "uint", "value": 4}})"));
  const Reported t(m);
  CHECK(t.count(MetricId::pcie_tx_bytes) == 4'294'967'300);
  CHECK(t.find(MetricId::pcie_tx_bytes)->notes == note::lower_bound);
}

TEST_CASE("a count that a reloaded driver begins anew has not wrapped") {
  Machine m(one_gpu(R"("fields": {"197": {"type": "uint", "value": 70000}})"));
  CHECK(Reported(m).count(MetricId::pcie_tx_bytes) == 70'000);
  m.driver.load(one_gpu(R"("fields": {"197": {"type": "uint", "value": 4}})"));
  m.driver.driver_reload();
  CHECK(Reported(m).count(MetricId::pcie_tx_bytes) == 4);
}

TEST_CASE("a lost card ends the reading at once") {
  Machine m(one_gpu(every_value, R"("rules": [{"call": "nvmlDeviceGetPowerUsage",
                                              "result": "GPU_IS_LOST"}])"));
  const Reported t(m);
  CHECK(t.value(MetricId::temperature, which::sensor::core) == 45.0);
  CHECK(m.driver.calls("nvmlDeviceGetClockInfo") == 0);
  bool said = false;
  for (const Diagnostic& d : m.reading.about(subject::metrics)) {
    said = said || d.why.code == Status::device_lost;
  }
  CHECK(said);
}
