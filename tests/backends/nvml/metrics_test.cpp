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

struct MetricsReading {
  explicit MetricsReading(Machine& machine, bool slow = false) {
    require_ok(machine.prepare());
    outcome = machine.source().metrics(0, slow, all, machine.reading);
    keep_plausible(all, 0, machine.reading);
  }
  [[nodiscard]] const Metric* find(MetricId id, std::uint32_t instance = 0) const {
    for (const Metric& metric : all) {
      if (metric.id == id && metric.instance == instance) return &metric;
    }
    return nullptr;
  }
  [[nodiscard]] std::optional<double> value(MetricId id, std::uint32_t instance = 0) const {
    const Metric* metric = find(id, instance);
    return metric != nullptr ? metric->value : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> count(MetricId id, std::uint32_t instance = 0) const {
    const Metric* metric = find(id, instance);
    return metric != nullptr ? metric->count : std::nullopt;
  }
  std::vector<Metric> all;
  Result<void> outcome;
};

}  // namespace

TEST_CASE("every metric is reported in its unit, with NVML as its source") {
  Machine machine(one_gpu(every_value));
  const MetricsReading metrics(machine);
  require_ok(metrics.outcome);
  CHECK(metrics.value(MetricId::engine_percent) == 64.0);
  CHECK(metrics.value(MetricId::engine_percent, metric_instance::engine::memory) == 12.0);
  CHECK(metrics.value(MetricId::engine_percent, metric_instance::engine::encode) == 7.0);
  CHECK(metrics.find(MetricId::engine_percent, metric_instance::engine::encode)->window_ns ==
        167'000'000);
  CHECK(metrics.value(MetricId::engine_percent, metric_instance::engine::decode) == 9.0);
  CHECK(metrics.value(MetricId::temperature, metric_instance::sensor::core) == 45.0);
  CHECK(metrics.value(MetricId::temperature, metric_instance::sensor::memory) == 61.0);
  CHECK(metrics.value(MetricId::temperature_shutdown, metric_instance::sensor::core) == 97.0);
  CHECK(metrics.value(MetricId::temperature_limit, metric_instance::sensor::core) == 94.0);
  CHECK(metrics.value(MetricId::temperature_limit, metric_instance::sensor::memory) == 105.0);
  CHECK(*metrics.value(MetricId::power_watts) == 58.98);
  CHECK(metrics.value(MetricId::power_watts, metric_instance::power_reading::instant) == 60.5);
  CHECK(metrics.value(MetricId::power_limit_watts, metric_instance::power_limit::current) == 350.0);
  CHECK(metrics.value(MetricId::power_limit_watts, metric_instance::power_limit::default_limit) ==
        400.0);
  CHECK(metrics.value(MetricId::power_limit_watts, metric_instance::power_limit::min) == 100.0);
  CHECK(metrics.value(MetricId::power_limit_watts, metric_instance::power_limit::max) == 450.0);
  CHECK(*metrics.value(MetricId::energy_joules) == 123456.789);
  CHECK(metrics.value(MetricId::clock_mhz, metric_instance::clock::core) == 2520.0);
  CHECK(metrics.value(MetricId::clock_mhz, metric_instance::clock::sm) == 2519.0);
  CHECK(metrics.value(MetricId::clock_mhz, metric_instance::clock::memory) == 9001.0);
  CHECK(metrics.value(MetricId::clock_limit_mhz, metric_instance::clock::video) == 2415.0);
  CHECK(metrics.value(MetricId::fan_percent, 1) == 31.0);
  CHECK(metrics.value(MetricId::fan_percent, 2) == 33.0);
  CHECK(metrics.count(MetricId::pcie_replays) == 5);
  CHECK(metrics.count(MetricId::pcie_tx_bytes) == 7'000'000);
  CHECK(metrics.count(MetricId::pcie_rx_bytes) == 9'000'000);
  CHECK(metrics.find(MetricId::pcie_rx_bytes)->notes == 0);
  CHECK(metrics.count(MetricId::ecc_corrected, metric_instance::era::since_load) == 1);
  CHECK(metrics.count(MetricId::ecc_corrected, metric_instance::era::lifetime) == 20);
  CHECK(metrics.count(MetricId::ecc_uncorrected, metric_instance::era::since_load) == 0);
  CHECK(metrics.count(MetricId::ecc_uncorrected, metric_instance::era::lifetime) == 3);
  CHECK(metrics.count(MetricId::rows_remapped, metric_instance::remapping::uncorrected) == 2);
  CHECK(metrics.count(MetricId::rows_remapped, metric_instance::remapping::pending) == 1);
  CHECK(metrics.count(MetricId::rows_remapped, metric_instance::remapping::failed) == 0);
  CHECK(metrics.count(MetricId::last_fault) == 79);
  CHECK(metrics.count(MetricId::throttle_ns, throttle::power) == 81'234'000'000);
  for (const Metric& metric : metrics.all) {
    CAPTURE(static_cast<unsigned>(metric.id));
    CHECK(metric.source == Source::nvml);
    CHECK(metric.value.has_value() != metric.count.has_value());
  }
  CHECK(machine.reading.find_diagnostics().empty());
  CHECK(machine.driver.calls("nvmlDeviceGetPcieThroughput") == 0);
}

TEST_CASE("slow metrics are read only on request") {
  Machine machine(one_gpu(every_value));
  const MetricsReading fast(machine);
  CHECK(!fast.find(MetricId::power_watts, metric_instance::power_reading::average));
  CHECK(!fast.find(MetricId::link_rx_bytes));
  const MetricsReading slow(machine, true);
  CHECK(slow.value(MetricId::power_watts, metric_instance::power_reading::average) == 59.0);
  CHECK(slow.count(MetricId::link_rx_bytes, 1) == 11 * kib);
  CHECK(slow.count(MetricId::link_tx_bytes, 2) == 10 * kib);
  CHECK(!slow.find(MetricId::link_tx_bytes, 3));
  CHECK(slow.all.size() == fast.all.size() + 5);
}

TEST_CASE("a failing call costs only its own metrics, with a reason") {
  struct FailingCall {
    const char* symbol;
    MetricId id;
    std::size_t lost_count;
  };
  constexpr std::array failing_calls{
      FailingCall{"nvmlDeviceGetUtilizationRates", MetricId::engine_percent, 2},
      FailingCall{"nvmlDeviceGetEncoderUtilization", MetricId::engine_percent, 1},
      FailingCall{"nvmlDeviceGetDecoderUtilization", MetricId::engine_percent, 1},
      FailingCall{"nvmlDeviceGetTemperatureThreshold", MetricId::temperature_limit, 3},
      FailingCall{"nvmlDeviceGetPowerUsage", MetricId::power_watts, 1},
      FailingCall{"nvmlDeviceGetEnforcedPowerLimit", MetricId::power_limit_watts, 1},
      FailingCall{"nvmlDeviceGetPowerManagementDefaultLimit", MetricId::power_limit_watts, 1},
      FailingCall{"nvmlDeviceGetPowerManagementLimitConstraints", MetricId::power_limit_watts, 2},
      FailingCall{"nvmlDeviceGetTotalEnergyConsumption", MetricId::energy_joules, 1},
      FailingCall{"nvmlDeviceGetClockInfo", MetricId::clock_mhz, 4},
      FailingCall{"nvmlDeviceGetMaxClockInfo", MetricId::clock_limit_mhz, 4},
      FailingCall{"nvmlDeviceGetNumFans", MetricId::fan_percent, 2},
      FailingCall{"nvmlDeviceGetFanSpeed_v2", MetricId::fan_percent, 2},
      FailingCall{"nvmlDeviceGetPcieReplayCounter", MetricId::pcie_replays, 1},
      FailingCall{"nvmlDeviceGetTotalEccErrors", MetricId::ecc_corrected, 4},
      FailingCall{"nvmlDeviceGetRemappedRows", MetricId::rows_remapped, 4},
      FailingCall{"nvmlDeviceGetFieldValues", MetricId::pcie_rx_bytes, 8},
      FailingCall{"nvmlDeviceGetSupportedEventTypes", MetricId::last_fault, 1},
      FailingCall{"nvmlDeviceRegisterEvents", MetricId::last_fault, 1},
      FailingCall{"nvmlEventSetCreate", MetricId::last_fault, 1},
      FailingCall{"nvmlEventSetWait_v2", MetricId::last_fault, 1}};
  std::size_t full_count = 0;
  {
    Machine whole(one_gpu(every_value));
    full_count = MetricsReading(whole).all.size();
  }
  for (const FailingCall& call : failing_calls) {
    CAPTURE(call.symbol);
    for (const auto& [number, expected] :
         {std::pair{4, Status::permission}, std::pair{999, Status::backend}}) {
      Machine machine(one_gpu(every_value, R"("rules": [{"call": ")" + std::string(call.symbol) +
                                               R"(", "result": )" + std::to_string(number) + "}]"));
      const MetricsReading metrics(machine);
      require_ok(metrics.outcome);
      CHECK(metrics.all.size() == full_count - call.lost_count);
      bool is_reported = false;
      for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::metrics)) {
        CHECK(diagnostic.failure.code == expected);
        is_reported = is_reported ||
                      missing_metric_id(diagnostic.field) == static_cast<std::uint32_t>(call.id);
      }
      CHECK(is_reported);
    }
  }
}

TEST_CASE("a failing field costs only itself") {
  std::string values = every_value;
  values.replace(values.find(R"("186": 60500)"), 12, R"("186": {"error": "NO_PERMISSION"})");
  Machine machine(one_gpu(values));
  const MetricsReading metrics(machine);
  CHECK(!metrics.find(MetricId::power_watts, metric_instance::power_reading::instant));
  CHECK(metrics.value(MetricId::temperature, metric_instance::sensor::memory) == 61.0);
  CHECK(metrics.count(MetricId::pcie_rx_bytes) == 9'000'000);
  REQUIRE(machine.reading.find_diagnostics().size() == 1);
  CHECK(machine.reading.find_diagnostics()[0].failure.code == Status::permission);
  CHECK(machine.reading.find_diagnostics()[0].field ==
        missing_metric(MetricId::power_watts, metric_instance::power_reading::instant));
}

// From 251 on drivers before and after 580.82 mean different things by the same number.
TEST_CASE("renumbered fields yield no metric") {
  std::string fields;
  for (int id = 251; id < 300; ++id)
    fields += (id == 251 ? "\"" : ", \"") + std::to_string(id) + "\": 1";
  Machine machine(one_gpu("\"fields\": {" + fields + "}"));
  CHECK(MetricsReading(machine, true).all.empty());
}

TEST_CASE("a card without metrics has an empty list, with reasons") {
  Machine machine(one_gpu());
  const MetricsReading metrics(machine);
  require_ok(metrics.outcome);
  CHECK(metrics.all.empty());
  CHECK(!machine.reading.find_diagnostics(subject::metrics).empty());
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::metrics)) {
    CHECK(diagnostic.failure.code == Status::unsupported);
    CHECK(diagnostic.field != 0);
  }
}

TEST_CASE("impossible values are dropped") {
  Machine machine(
      one_gpu(R"("utilization": {"gpu": 101, "memory": 100}, "power_usage_mw": 4294967295,
    "energy_mj": 18446744073709551615, "clocks_mhz": {"graphics": 4294967295, "sm": 1},
    "power_limits_mw": {"min": 5, "max": 4}, "fields": {"82": 0, "186": 4294967295}, "fans": 5000)"));
  const MetricsReading metrics(machine);
  CHECK(!metrics.find(MetricId::engine_percent));
  CHECK(metrics.value(MetricId::engine_percent, metric_instance::engine::memory) == 100.0);
  CHECK(!metrics.find(MetricId::power_watts));
  CHECK(!metrics.find(MetricId::power_watts, metric_instance::power_reading::instant));
  CHECK(!metrics.find(MetricId::energy_joules));
  CHECK(!metrics.find(MetricId::clock_mhz, metric_instance::clock::core));
  CHECK(metrics.value(MetricId::clock_mhz, metric_instance::clock::sm) == 1.0);
  CHECK(!metrics.find(MetricId::power_limit_watts, metric_instance::power_limit::min));
  CHECK(!metrics.find(MetricId::temperature, metric_instance::sensor::memory));
  CHECK(!metrics.find(MetricId::fan_percent, 1));
}

TEST_CASE("a wrapped 32-bit count is continued, as a lower bound") {
  nvml::WideCounters counts;
  CHECK(counts.widen(1, 0, 197, 4'294'967'000) == 4'294'967'000);
  CHECK(counts.widen(1, 0, 197, 4) == 4'294'967'300);
  CHECK(counts.widen(1, 0, 197, 4) == 4'294'967'300);
  CHECK(counts.widen(1, 0, 198, 7) == 7);
  CHECK(counts.widen(1, 1, 197, 9) == 9);
  CHECK(counts.widen(2, 0, 197, 5) == 5);
  Machine machine(one_gpu(R"("fields": {"197": {"type": "uint", "value": 4294967000}})"));
  CHECK(MetricsReading(machine).count(MetricId::pcie_tx_bytes) == 4'294'967'000);
  machine.driver.load(one_gpu(R"("fields": {"197": {"type": "uint", "value": 4}})"));
  const MetricsReading metrics(machine);
  CHECK(metrics.count(MetricId::pcie_tx_bytes) == 4'294'967'300);
  CHECK(metrics.find(MetricId::pcie_tx_bytes)->notes == note::lower_bound);
}

TEST_CASE("a count restarted by a driver reload is not taken for a wrapped one") {
  Machine machine(one_gpu(R"("fields": {"197": {"type": "uint", "value": 70000}})"));
  CHECK(MetricsReading(machine).count(MetricId::pcie_tx_bytes) == 70'000);
  machine.driver.load(one_gpu(R"("fields": {"197": {"type": "uint", "value": 4}})"));
  machine.driver.driver_reload();
  CHECK(MetricsReading(machine).count(MetricId::pcie_tx_bytes) == 4);
}

TEST_CASE("a lost card ends the reading at once") {
  Machine machine(one_gpu(every_value, R"("rules": [{"call": "nvmlDeviceGetPowerUsage",
                                              "result": "GPU_IS_LOST"}])"));
  const MetricsReading metrics(machine);
  CHECK(metrics.value(MetricId::temperature, metric_instance::sensor::core) == 45.0);
  CHECK(machine.driver.calls("nvmlDeviceGetClockInfo") == 0);
  bool is_reported = false;
  for (const Diagnostic& diagnostic : machine.reading.find_diagnostics(subject::metrics)) {
    is_reported = is_reported || diagnostic.failure.code == Status::device_lost;
  }
  CHECK(is_reported);
}
