// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/rows.hpp"

#include <doctest/doctest.h>

#include <string>

#include "machine.hpp"
#include "model/plausible.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;
using smi_test::mib;

namespace {

GpuRow parse_row(const std::string& header, const std::string& line) {
  const auto answer = parse_gpus(header + "\n" + line + "\n", false);
  REQUIRE(answer.rows.size() == 1);
  return answer.rows[0];
}

// Drops impossible values, as every reading does.
template <class Record>
void drop_impossible(Record& record, std::vector<MissingFields>& missing) {
  drop_implausible(record, [&](std::uint64_t field, const Failure& failure) {
    add_missing(missing, field, failure.code, failure.message);
  });
}

constexpr const char* memory_header =
    "memory.total [MiB], memory.used [MiB], memory.free [MiB], memory.reserved [MiB]";

struct MemoryReading {
  explicit MemoryReading(const std::string& line, const char* name = "NVIDIA L40S")
      : pool(read_pool(
            parse_row(std::string("name, ") + memory_header, std::string(name) + ", " + line),
            missing)) {
    if (pool) drop_impossible(*pool, missing);
  }
  std::vector<MissingFields> missing;
  Result<Pool> pool;
};

FieldSet select_fields(const std::vector<MissingFields>& all, Status code) {
  FieldSet fields = 0;
  for (const MissingFields& missing : all) {
    if (missing.code == code) fields |= missing.fields;
  }
  return fields;
}

}  // namespace

TEST_CASE("a pool has the tool's values") {
  const MemoryReading memory("46068, 9123, 36346, 599");
  REQUIRE(memory.pool);
  CHECK(memory.pool->kind == PoolKind::vram);
  CHECK(memory.pool->is_main);
  CHECK(memory.pool->accounting == Accounting::allocated);
  CHECK(memory.pool->total == 46068 * mib);
  CHECK(memory.pool->used == 9123 * mib);
  CHECK(memory.pool->free == 36346 * mib);
  CHECK(memory.pool->reserved == 599 * mib);
  CHECK(memory.missing.empty());
}

TEST_CASE("values rounded to MiB may exceed the total by one MiB") {
  const MemoryReading memory("8192, 214, 7571, 408");  // 8193
  REQUIRE(memory.pool);
  CHECK(memory.pool->reserved == 408 * mib);
  CHECK(memory.missing.empty());
}

TEST_CASE("reserved is dropped if the values do not add up") {
  const MemoryReading memory("8192, 214, 7978, 408");
  REQUIRE(memory.pool);
  CHECK_FALSE(memory.pool->reserved);
  CHECK(memory.pool->used == 214 * mib);
  CHECK(select_fields(memory.missing, Status::backend) == pool_field::reserved);
}

// The predecessor's device line, with the header of its columns.
TEST_CASE("an implausible cell of a card is dropped, and the others are kept") {
  std::vector<MissingFields> missing;
  const auto row = [](const char* line) {
    return parse_row("memory.used [MiB], memory.total [MiB], driver_version", line);
  };
  for (const char* line : {"notanumber, 16384, 610.88", "[N/A], 16384, 610.88"}) {
    CAPTURE(line);
    const auto no_used = read_pool(row(line), missing);
    REQUIRE(no_used);
    CHECK_FALSE(no_used->used);
    CHECK(no_used->total == 16384 * mib);
    CHECK(read_identity(row(line)).driver_version.view() == "610.88");
  }
  const GpuRow no_total = row("1024, notanumber, 610.88");
  missing.clear();
  const auto none = read_pool(no_total, missing);
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == Status::backend);
  CHECK(read_identity(no_total).driver_version.view() == "610.88");
  missing.clear();
  const auto too_much = read_pool(row("2048, 1024, d"), missing);
  REQUIRE(too_much);
  Pool possible = *too_much;
  drop_impossible(possible, missing);
  CHECK_FALSE(possible.used);
  CHECK(possible.total == 1'073'741'824);
  CHECK(select_fields(missing, Status::backend) == (pool_field::used | pool_field::free));
}

TEST_CASE("used or free above the total is dropped") {
  const MemoryReading memory("1024, 2048, 0, [N/A]");
  REQUIRE(memory.pool);
  CHECK(memory.pool->total == 1024 * mib);
  CHECK_FALSE(memory.pool->used);
  CHECK((select_fields(memory.missing, Status::backend) & pool_field::used) != 0);
  const MemoryReading full("1024, 1024, 0, 0");
  REQUIRE(full.pool);
  CHECK(full.pool->used == 1024 * mib);
  const MemoryReading free("1024, 1, 2048, 0");
  REQUIRE(free.pool);
  CHECK_FALSE(free.pool->free);
}

TEST_CASE("a GPU without memory of its own has a unified pool without values") {
  for (const char* line :
       {"[N/A], [N/A], [N/A], [N/A]", "[Not Supported], 0, 0, 0", "0, 0, 0, 0"}) {
    CAPTURE(line);
    const MemoryReading memory(line, "NVIDIA GB10");
    REQUIRE(memory.pool);
    CHECK(memory.pool->kind == PoolKind::unified);
    CHECK(memory.pool->is_main);
    CHECK_FALSE(memory.pool->total);
    CHECK_FALSE(memory.pool->used);
    CHECK_FALSE(memory.pool->free);
  }
}

TEST_CASE("a GPU that reports a carve-out of host RAM has a unified pool") {
  const MemoryReading memory("8128, 199, 7929, 0", "NVIDIA N1X");
  REQUIRE(memory.pool);
  CHECK(memory.pool->kind == PoolKind::unified);
  CHECK_FALSE(memory.pool->total);
  CHECK_FALSE(memory.pool->free);
  for (const char* addressing : {"None", "ATS", "[N/A]"}) {
    const GpuRow row =
        parse_row("index, name, addressing_mode, compute_cap, pci.device_id, memory.total [MiB]",
                  std::string("0, Graphics Device, ") + addressing + ", 12.1, 0x2E2A10DE, 8128");
    CHECK(read_identity(row).memory_kind == MemoryKind::unified);
    CHECK(read_identity(row).form == DeviceForm::integrated);
  }
  const MemoryReading failed("[Unknown Error], 1, 2, 3", "NVIDIA N1X");
  REQUIRE_FALSE(failed.pool);
  CHECK(failed.pool.failure().code == Status::backend);
}

TEST_CASE("an error in place of the total does not imply unified memory") {
  const MemoryReading memory("[Unknown Error], 1, 2, 3");
  REQUIRE_FALSE(memory.pool);
  CHECK(memory.pool.failure().code == Status::backend);
  const MemoryReading lost("[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]");
  REQUIRE_FALSE(lost.pool);
  CHECK(lost.pool.failure().code == Status::device_lost);
}

TEST_CASE("a missing value costs only itself") {
  const MemoryReading memory("8192, [Unknown Error], 7571, [N/A]");
  REQUIRE(memory.pool);
  CHECK(memory.pool->free == 7571 * mib);
  CHECK(select_fields(memory.missing, Status::backend) == pool_field::used);
  CHECK(select_fields(memory.missing, Status::unsupported) == pool_field::reserved);
}

TEST_CASE("sums beyond 64 bits do not wrap") {
  const MemoryReading memory("17592186044415, 17592186044415, 17592186044415, 17592186044415");
  REQUIRE(memory.pool);
  CHECK_FALSE(memory.pool->reserved);
}

TEST_CASE("telemetry columns are parsed, and missing ones have a reason") {
  const GpuRow row = parse_row(
      "utilization.gpu [%], utilization.memory [%], temperature.gpu, temperature.memory, "
      "power.draw [W], "
      "enforced.power.limit [W], clocks.current.graphics [MHz], fan.speed [%], pstate, "
      "clocks_event_reasons.active, pcie.link.gen.current, pcie.link.width.current",
      "64, 12, 45, N/A, 58.98, 300.00, 2520, [N/A], P8, 0x0000000000000021, 4, 16");
  std::vector<MissingFields> missing;
  const Telemetry telemetry = read_telemetry(row, telemetry_field::all, missing);
  CHECK(telemetry.source == Source::nvidia_smi);
  CHECK(telemetry.gpu_busy_percent == 64);
  CHECK(telemetry.memory_busy_percent == 12);
  CHECK(telemetry.temperature_celsius == 45);
  CHECK_FALSE(telemetry.memory_celsius);
  CHECK(telemetry.power_watts == doctest::Approx(58.98));
  CHECK(telemetry.power_limit_watts == 300);
  CHECK(telemetry.core_clock_mhz == 2520u);
  CHECK_FALSE(telemetry.fan_percent);
  CHECK(telemetry.p_state == 8u);
  CHECK(telemetry.throttle == (throttle::idle | throttle::thermal));
  CHECK(telemetry.pcie_generation == 4u);
  CHECK(telemetry.pcie_width == 16u);
  const FieldSet unsupported = select_fields(missing, Status::unsupported);
  CHECK((unsupported & telemetry_field::memory_celsius) != 0);
  CHECK((unsupported & telemetry_field::fan_percent) != 0);
  CHECK((unsupported & telemetry_field::memory_clock_mhz) != 0);
  CHECK((unsupported & telemetry_field::energy_joules) != 0);
  CHECK((unsupported & telemetry_field::gpu_busy_percent) == 0);
}

namespace {

struct ParsedMetrics {
  ParsedMetrics(const char* header, const char* line) {
    append_metrics(parse_row(header, line), all,
                   [&](FieldSet field, Status status, const GpuCell&) {
                     refused.emplace_back(static_cast<MetricId>(missing_metric_id(field)), status);
                   });
  }
  [[nodiscard]] const Metric* find(MetricId id, std::uint32_t instance) const {
    for (const Metric& metric : all) {
      if (metric.id == id && metric.instance == instance) return &metric;
    }
    return nullptr;
  }
  std::vector<Metric> all;
  std::vector<std::pair<MetricId, Status>> refused;
};

}  // namespace

TEST_CASE("metrics: every column with a value is reported with its instance") {
  const ParsedMetrics metrics(
      "utilization.gpu [%], temperature.memory, power.max_limit [W], clocks.current.video [MHz], "
      "clocks.max.memory [MHz], fan.speed [%], ecc.errors.corrected.volatile.total, "
      "ecc.errors.uncorrected.aggregate.total",
      "64, 88, 350.00, 1965, 9001, 31, 0, 4294967296");
  CHECK(metrics.all.size() == 8);
  CHECK(metrics.refused.empty());
  for (const Metric& metric : metrics.all) CHECK(metric.source == Source::nvidia_smi);
  const auto value = [&](MetricId id, std::uint32_t instance) {
    const Metric* const metric = metrics.find(id, instance);
    return metric == nullptr ? std::nullopt : metric->value;
  };
  CHECK(value(MetricId::engine_percent, metric_instance::engine::unknown) == 64.0);
  CHECK(value(MetricId::temperature, metric_instance::sensor::memory) == 88.0);
  CHECK(value(MetricId::power_limit_watts, metric_instance::power_limit::max) == 350.0);
  CHECK(value(MetricId::clock_mhz, metric_instance::clock::video) == 1965.0);
  CHECK(value(MetricId::clock_limit_mhz, metric_instance::clock::memory) == 9001.0);
  CHECK(value(MetricId::fan_percent, 1) == 31.0);
  const Metric* const since_load =
      metrics.find(MetricId::ecc_corrected, metric_instance::era::since_load);
  const Metric* const lifetime =
      metrics.find(MetricId::ecc_uncorrected, metric_instance::era::lifetime);
  REQUIRE((since_load != nullptr && lifetime != nullptr));
  CHECK(since_load->count == 0u);
  CHECK_FALSE(since_load->value);
  CHECK(lifetime->count == std::uint64_t{1} << 32);
}

TEST_CASE("metrics: unsupported values are omitted, and unreadable ones have a reason") {
  const ParsedMetrics metrics(
      "utilization.gpu [%], fan.speed [%], power.draw [W], power.min_limit [W], "
      "clocks.current.sm [MHz], ecc.errors.corrected.volatile.total",
      "[Unknown Error], [N/A], [Insufficient Permissions], nonsense, 2520, -1");
  REQUIRE(metrics.all.size() == 1);
  CHECK(metrics.all[0].instance == metric_instance::clock::sm);
  using Refusal = std::pair<MetricId, Status>;
  const std::vector<Refusal> expected = {{MetricId::engine_percent, Status::backend},
                                         {MetricId::power_watts, Status::permission},
                                         {MetricId::power_limit_watts, Status::backend},
                                         {MetricId::ecc_corrected, Status::backend}};
  CHECK(metrics.refused == expected);
}

TEST_CASE("only requested fields are reported as missing") {
  const GpuRow row = parse_row("temperature.gpu", "45");
  std::vector<MissingFields> missing;
  const Telemetry telemetry = read_telemetry(row, telemetry_field::temperature_celsius, missing);
  CHECK(telemetry.temperature_celsius == 45);
  CHECK(missing.empty());
}

TEST_CASE("a load above 100 % is dropped, a fan speed above 100 % is kept") {
  const GpuRow row = parse_row("utilization.gpu [%], fan.speed [%]", "101, 120");
  std::vector<MissingFields> missing;
  Telemetry telemetry = read_telemetry(
      row, telemetry_field::gpu_busy_percent | telemetry_field::fan_percent, missing);
  drop_impossible(telemetry, missing);
  CHECK_FALSE(telemetry.gpu_busy_percent);
  CHECK(telemetry.fan_percent == 120u);
  CHECK(select_fields(missing, Status::backend) == telemetry_field::gpu_busy_percent);
}

TEST_CASE("throttle reasons have the same meaning as in NVML") {
  std::vector<MissingFields> missing;
  for (const auto& [cell, expected] :
       {std::pair("0x0000000000000010", throttle::setting),
        std::pair("0x0000000000000040", throttle::thermal | throttle::hardware),
        std::pair("0x0000000000000080", throttle::power | throttle::hardware)}) {
    const GpuRow row = parse_row("clocks_event_reasons.active", cell);
    CHECK(read_telemetry(row, telemetry_field::throttle, missing).throttle == expected);
  }
}

TEST_CASE("an unknown throttle reason is reported as another reason") {
  const GpuRow row = parse_row("clocks_event_reasons.active", "0x0000000000001000");
  std::vector<MissingFields> missing;
  CHECK(read_telemetry(row, telemetry_field::throttle, missing).throttle == throttle::other);
}

TEST_CASE("a device's identity is parsed") {
  const Device device = read_identity(parse_row(
      "index, uuid, name, pci.bus_id, pci.device_id, pci.sub_device_id, driver_version, "
      "compute_cap, memory.total [MiB], "
      "addressing_mode",
      "3, GPU-1, NVIDIA GH200, 00000009:0A:00.0, 0x234210DE, 0x16EB10DE, 595.80, 9.0, 97871, ATS"));
  CHECK(device.compute_capability_major == 9u);
  CHECK(device.compute_capability_minor == 0u);
  CHECK(device.driver_index == 3u);
  CHECK(device.uuid.view() == "GPU-1");
  CHECK(device.name.view() == "NVIDIA GH200");
  CHECK(device.pci_bus_id.view() == "0009:0a:00.0");
  CHECK(device.pci_device == 0x2342u);
  CHECK(device.pci_subsystem == 0x16EB10DEu);
  CHECK(device.driver_version.view() == "595.80");
  CHECK(device.vendor == vendor::nvidia);
  CHECK(device.memory_kind == MemoryKind::coherent);
  CHECK(device.form == DeviceForm::discrete);
  CHECK(device.state == State::ready);
}

TEST_CASE("a compute capability needs a major and a minor number") {
  const auto capability = [](const std::string& cell) {
    const Device device = read_identity(parse_row("index, compute_cap", "0, " + cell));
    return std::pair(device.compute_capability_major, device.compute_capability_minor);
  };
  CHECK(capability("12.1") == std::pair(std::optional(12U), std::optional(1U)));
  for (const char* none : {"9", ".9", "9.", "-1.0", "9.0.1", "[N/A]", "70000.0"}) {
    CAPTURE(none);
    CHECK_FALSE(capability(none).first);
    CHECK_FALSE(capability(none).second);
  }
}

TEST_CASE("a sentinel is not taken for a name, UUID, address or driver version") {
  const Device device =
      read_identity(parse_row("index, uuid, name, pci.bus_id, driver_version, memory.total [MiB]",
                              "0, [N/A], [Unknown Error], [N/A], [N/A], [N/A]"));
  CHECK(device.uuid.empty());
  CHECK(device.name.empty());
  CHECK(device.pci_bus_id.empty());
  CHECK(device.driver_version.empty());
  CHECK(device.memory_kind == MemoryKind::unknown);
  CHECK(device.form == DeviceForm::unknown);
}

TEST_CASE("an error in any column sets the state of the GPU") {
  const std::string columns =
      "index, memory.total [MiB], utilization.gpu [%], temperature.gpu, pstate";
  for (int column = 0; column < 4; ++column) {
    const auto read_state = [&](const char* cell) {
      std::string row = "0";
      for (int i = 0; i < 4; ++i) row += std::string(", ") + (i == column ? cell : "1");
      return read_identity(parse_row(columns, row)).state;
    };
    CAPTURE(column);
    for (const char* value : {"1", "[N/A]", "[Not Supported]", "[No data]"}) {
      CHECK(read_state(value) == State::ready);
    }
    CHECK(read_state("[GPU is lost]") == State::lost);
    for (const char* error : {"[GPU requires reset]", "[Unknown Error]", "ERR!", "[Timeout]",
                              "[Insufficient Permissions]", "[Something new]"}) {
      CAPTURE(error);
      CHECK(read_state(error) == State::unreadable);
    }
  }
  CHECK(read_identity(parse_row(columns, "0, [GPU requires reset], [GPU is lost], 1, P0")).state ==
        State::lost);
}

TEST_CASE("unsupported memory is unified only if name, addressing, capability or ID shows it") {
  struct {
    const char* name;
    const char* addressing;
    const char* capability;
    const char* id;
    MemoryKind expected;
  } const gpus[] = {
      {"NVIDIA L40S", "None", "8.9", "0x26B910DE", MemoryKind::unknown},
      {"NVIDIA GeForce RTX 4090", "[N/A]", "[N/A]", "[N/A]", MemoryKind::unknown},
      {"NVIDIA GB10", "[N/A]", "[N/A]", "[N/A]", MemoryKind::unified},
      {"[Unknown Error]", "ATS", "[N/A]", "[N/A]", MemoryKind::unified},
      {"[Unknown Error]", "[N/A]", "12.1", "[N/A]", MemoryKind::unified},
      {"Graphics Device", "[N/A]", "8.7", "[N/A]", MemoryKind::unified},
      {"Graphics Device", "[N/A]", "[N/A]", "0x2E1210DE", MemoryKind::unified},
  };
  for (const char* total : {"[N/A]", "[Not Supported]", "0"}) {
    for (const auto& gpu : gpus) {
      CAPTURE(total);
      CAPTURE(gpu.name);
      CAPTURE(gpu.capability);
      const GpuRow row =
          parse_row("index, name, addressing_mode, compute_cap, pci.device_id, memory.total [MiB]",
                    std::string("0, ") + gpu.name + ", " + gpu.addressing + ", " + gpu.capability +
                        ", " + gpu.id + ", " + total);
      CHECK(read_identity(row).memory_kind == gpu.expected);
      std::vector<MissingFields> missing;
      const Result<Pool> pool = read_pool(row, missing);
      const bool is_unified = pool && pool->kind == PoolKind::unified;
      CHECK(is_unified == (gpu.expected == MemoryKind::unified));
      if (!pool) CHECK(pool.failure().code == Status::unsupported);
    }
  }
}

TEST_CASE("a name that is too long is truncated at a character, with a note") {
  const Device device =
      read_identity(parse_row("index, name", "0, " + std::string(254, 'x') + "\xC3\xA4"));
  CHECK(device.name.view() == std::string(254, 'x'));
  CHECK((device.notes & note::truncated) != 0);
}
