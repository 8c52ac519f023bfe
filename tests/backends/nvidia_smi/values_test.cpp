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

GpuRow row_of(const std::string& header, const std::string& line) {
  const auto a = parse_gpus(header + "\n" + line + "\n", false);
  REQUIRE(a.rows.size() == 1);
  return a.rows[0];
}

// Drops what cannot be, as every reading does.
template <class Record>
void keep_possible(Record& r, std::vector<Missing>& gone) {
  drop_implausible(r, [&](std::uint64_t field, const Failure& why) {
    add_missing(gone, field, why.code, why.message);
  });
}

constexpr const char* memory_header =
    "memory.total [MiB], memory.used [MiB], memory.free [MiB], memory.reserved [MiB]";

struct Memory {
  explicit Memory(const std::string& line, const char* name = "NVIDIA L40S")
      : found(pool_of(
            row_of(std::string("name, ") + memory_header, std::string(name) + ", " + line), gone)) {
    if (found) keep_possible(*found, gone);
  }
  std::vector<Missing> gone;
  Result<Pool> found;
};

FieldSet fields_of(const std::vector<Missing>& gone, Status code) {
  FieldSet fields = 0;
  for (const Missing& m : gone) {
    if (m.code == code) fields |= m.fields;
  }
  return fields;
}

}  // namespace

TEST_CASE("a pool as the tool gives it") {
  const Memory m("46068, 9123, 36346, 599");
  REQUIRE(m.found);
  CHECK(m.found->kind == PoolKind::vram);
  CHECK(m.found->is_main);
  CHECK(m.found->accounting == Accounting::allocated);
  CHECK(m.found->total == 46068 * mib);
  CHECK(m.found->used == 9123 * mib);
  CHECK(m.found->free == 36346 * mib);
  CHECK(m.found->reserved == 599 * mib);
  CHECK(m.gone.empty());
}

TEST_CASE("each figure is rounded by itself: one MiB too many is no contradiction") {
  const Memory m("8192, 214, 7571, 408");  // 8193
  REQUIRE(m.found);
  CHECK(m.found->reserved == 408 * mib);
  CHECK(m.gone.empty());
}

TEST_CASE("figures that do not add up: reserved is not believed") {
  const Memory m("8192, 214, 7978, 408");
  REQUIRE(m.found);
  CHECK_FALSE(m.found->reserved);
  CHECK(m.found->used == 214 * mib);
  CHECK(fields_of(m.gone, Status::backend) == pool_field::reserved);
}

// The predecessor's device line, with the header of its columns.
TEST_CASE("what of a card is kept where a cell is not to be believed") {
  std::vector<Missing> gone;
  const auto row = [](const char* line) {
    return row_of("memory.used [MiB], memory.total [MiB], driver_version", line);
  };
  for (const char* line : {"notanumber, 16384, 610.88", "[N/A], 16384, 610.88"}) {
    CAPTURE(line);
    const auto no_used = pool_of(row(line), gone);
    REQUIRE(no_used);
    CHECK_FALSE(no_used->used);
    CHECK(no_used->total == 16384 * mib);
    CHECK(identity_of(row(line)).driver_version.view() == "610.88");
  }
  const GpuRow no_total = row("1024, notanumber, 610.88");
  gone.clear();
  const auto none = pool_of(no_total, gone);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::backend);
  CHECK(identity_of(no_total).driver_version.view() == "610.88");
  gone.clear();
  const auto too_much = pool_of(row("2048, 1024, d"), gone);
  REQUIRE(too_much);
  Pool possible = *too_much;
  keep_possible(possible, gone);
  CHECK_FALSE(possible.used);
  CHECK(possible.total == 1'073'741'824);
  CHECK(fields_of(gone, Status::backend) == (pool_field::used | pool_field::free));
}

TEST_CASE("more used than there is, is absent and not shown") {
  const Memory m("1024, 2048, 0, [N/A]");
  REQUIRE(m.found);
  CHECK(m.found->total == 1024 * mib);
  CHECK_FALSE(m.found->used);
  CHECK((fields_of(m.gone, Status::backend) & pool_field::used) != 0);
  const Memory full("1024, 1024, 0, 0");
  REQUIRE(full.found);
  CHECK(full.found->used == 1024 * mib);
  const Memory free("1024, 1, 2048, 0");
  REQUIRE(free.found);
  CHECK_FALSE(free.found->free);
}

TEST_CASE("a card without memory of its own has a unified pool, and no figure") {
  for (const char* line :
       {"[N/A], [N/A], [N/A], [N/A]", "[Not Supported], 0, 0, 0", "0, 0, 0, 0"}) {
    CAPTURE(line);
    const Memory m(line, "NVIDIA GB10");
    REQUIRE(m.found);
    CHECK(m.found->kind == PoolKind::unified);
    CHECK(m.found->is_main);
    CHECK_FALSE(m.found->total);
    CHECK_FALSE(m.found->used);
    CHECK_FALSE(m.found->free);
  }
}

TEST_CASE("a card that shows the part of the host's RAM set aside for it has a unified pool") {
  const Memory m("8128, 199, 7929, 0", "NVIDIA N1X");
  REQUIRE(m.found);
  CHECK(m.found->kind == PoolKind::unified);
  CHECK_FALSE(m.found->total);
  CHECK_FALSE(m.found->free);
  for (const char* addressing : {"None", "ATS", "[N/A]"}) {
    const GpuRow row =
        row_of("index, name, addressing_mode, compute_cap, pci.device_id, memory.total [MiB]",
               std::string("0, Graphics Device, ") + addressing + ", 12.1, 0x2E2A10DE, 8128");
    CHECK(identity_of(row).memory_kind == MemoryKind::unified);
    CHECK(identity_of(row).form == DeviceForm::integrated);
  }
  const Memory failed("[Unknown Error], 1, 2, 3", "NVIDIA N1X");
  REQUIRE_FALSE(failed.found);
  CHECK(failed.found.why().code == Status::backend);
}

TEST_CASE("an error in place of the total is no unified memory") {
  const Memory m("[Unknown Error], 1, 2, 3");
  REQUIRE_FALSE(m.found);
  CHECK(m.found.why().code == Status::backend);
  const Memory lost("[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]");
  REQUIRE_FALSE(lost.found);
  CHECK(lost.found.why().code == Status::device_lost);
}

TEST_CASE("one missing figure costs itself") {
  const Memory m("8192, [Unknown Error], 7571, [N/A]");
  REQUIRE(m.found);
  CHECK(m.found->free == 7571 * mib);
  CHECK(fields_of(m.gone, Status::backend) == pool_field::used);
  CHECK(fields_of(m.gone, Status::unsupported) == pool_field::reserved);
}

TEST_CASE("sums past 64 bits do not wrap") {
  const Memory m("17592186044415, 17592186044415, 17592186044415, 17592186044415");
  REQUIRE(m.found);
  CHECK_FALSE(m.found->reserved);
}

TEST_CASE("telemetry") {
  const GpuRow row = row_of(
      "utilization.gpu [%], utilization.memory [%], temperature.gpu, temperature.memory, "
      "power.draw [W], "
      "enforced.power.limit [W], clocks.current.graphics [MHz], fan.speed [%], pstate, "
      "clocks_event_reasons.active, pcie.link.gen.current, pcie.link.width.current",
      "64, 12, 45, N/A, 58.98, 300.00, 2520, [N/A], P8, 0x0000000000000021, 4, 16");
  std::vector<Missing> gone;
  const Telemetry t = telemetry_of(row, telemetry_field::all, gone);
  CHECK(t.from == Source::nvidia_smi);
  CHECK(t.gpu_busy_percent == 64);
  CHECK(t.memory_busy_percent == 12);
  CHECK(t.temperature_celsius == 45);
  CHECK_FALSE(t.memory_celsius);
  CHECK(t.power_watts == doctest::Approx(58.98));
  CHECK(t.power_limit_watts == 300);
  CHECK(t.core_clock_mhz == 2520u);
  CHECK_FALSE(t.fan_percent);
  CHECK(t.p_state == 8u);
  CHECK(t.throttle == (throttle::idle | throttle::thermal));
  CHECK(t.pcie_generation == 4u);
  CHECK(t.pcie_width == 16u);
  const FieldSet unsupported = fields_of(gone, Status::unsupported);
  CHECK((unsupported & telemetry_field::memory_celsius) != 0);
  CHECK((unsupported & telemetry_field::fan_percent) != 0);
  CHECK((unsupported & telemetry_field::memory_clock_mhz) != 0);
  CHECK((unsupported & telemetry_field::energy_joules) != 0);
  CHECK((unsupported & telemetry_field::gpu_busy_percent) == 0);
}

namespace {

struct ReportedMetrics {
  ReportedMetrics(const char* header, const char* line) {
    metrics_of(row_of(header, line), all, [&](FieldSet metric, Status why, const GpuCell&) {
      refused.emplace_back(static_cast<MetricId>(id_of_missing(metric)), why);
    });
  }
  [[nodiscard]] const Metric* find(MetricId id, std::uint32_t instance) const {
    for (const Metric& m : all) {
      if (m.id == id && m.instance == instance) return &m;
    }
    return nullptr;
  }
  std::vector<Metric> all;
  std::vector<std::pair<MetricId, Status>> refused;
};

}  // namespace

TEST_CASE("metrics: each column that has a value, with its instance") {
  const ReportedMetrics t(
      "utilization.gpu [%], temperature.memory, power.max_limit [W], clocks.current.video [MHz], "
      "clocks.max.memory [MHz], fan.speed [%], ecc.errors.corrected.volatile.total, "
      "ecc.errors.uncorrected.aggregate.total",
      "64, 88, 350.00, 1965, 9001, 31, 0, 4294967296");
  CHECK(t.all.size() == 8);
  CHECK(t.refused.empty());
  for (const Metric& m : t.all) CHECK(m.from == Source::nvidia_smi);
  const auto value = [&](MetricId id, std::uint32_t instance) {
    const Metric* const m = t.find(id, instance);
    return m == nullptr ? std::nullopt : m->value;
  };
  CHECK(value(MetricId::engine_percent, which::engine::unknown) == 64.0);
  CHECK(value(MetricId::temperature, which::sensor::memory) == 88.0);
  CHECK(value(MetricId::power_limit_watts, which::power_limit::max) == 350.0);
  CHECK(value(MetricId::clock_mhz, which::clock::video) == 1965.0);
  CHECK(value(MetricId::clock_limit_mhz, which::clock::memory) == 9001.0);
  CHECK(value(MetricId::fan_percent, 1) == 31.0);
  const Metric* const now = t.find(MetricId::ecc_corrected, which::era::since_load);
  const Metric* const ever = t.find(MetricId::ecc_uncorrected, which::era::lifetime);
  REQUIRE((now != nullptr && ever != nullptr));
  CHECK(now->count == 0u);
  CHECK_FALSE(now->value);
  CHECK(ever->count == std::uint64_t{1} << 32);
}

TEST_CASE("metrics: what a GPU has not is left out, what it may not tell has a reason") {
  const ReportedMetrics t(
      "utilization.gpu [%], fan.speed [%], power.draw [W], power.min_limit [W], "
      "clocks.current.sm [MHz], ecc.errors.corrected.volatile.total",
      "[Unknown Error], [N/A], [Insufficient Permissions], nonsense, 2520, -1");
  REQUIRE(t.all.size() == 1);
  CHECK(t.all[0].instance == which::clock::sm);
  using Found = std::pair<MetricId, Status>;
  const std::vector<Found> wanted = {{MetricId::engine_percent, Status::backend},
                                     {MetricId::power_watts, Status::permission},
                                     {MetricId::power_limit_watts, Status::backend},
                                     {MetricId::ecc_corrected, Status::backend}};
  CHECK(t.refused == wanted);
}

TEST_CASE("only what was asked for is missed") {
  const GpuRow row = row_of("temperature.gpu", "45");
  std::vector<Missing> gone;
  const Telemetry t = telemetry_of(row, telemetry_field::temperature_celsius, gone);
  CHECK(t.temperature_celsius == 45);
  CHECK(gone.empty());
}

TEST_CASE("a load above 100 % is absent, a fan's is not") {
  const GpuRow row = row_of("utilization.gpu [%], fan.speed [%]", "101, 120");
  std::vector<Missing> gone;
  Telemetry t =
      telemetry_of(row, telemetry_field::gpu_busy_percent | telemetry_field::fan_percent, gone);
  keep_possible(t, gone);
  CHECK_FALSE(t.gpu_busy_percent);
  CHECK(t.fan_percent == 120u);
  CHECK(fields_of(gone, Status::backend) == telemetry_field::gpu_busy_percent);
}

TEST_CASE("a reason to throttle means what it means in NVML") {
  std::vector<Missing> gone;
  for (const auto& [reported, means] :
       {std::pair("0x0000000000000010", throttle::setting),
        std::pair("0x0000000000000040", throttle::thermal | throttle::hardware),
        std::pair("0x0000000000000080", throttle::power | throttle::hardware)}) {
    const GpuRow row = row_of("clocks_event_reasons.active", reported);
    CHECK(telemetry_of(row, telemetry_field::throttle, gone).throttle == means);
  }
}

TEST_CASE("a reason to throttle that is not known yet is another reason, never none") {
  const GpuRow row = row_of("clocks_event_reasons.active", "0x0000000000001000");
  std::vector<Missing> gone;
  CHECK(telemetry_of(row, telemetry_field::throttle, gone).throttle == throttle::other);
}

TEST_CASE("who a device is") {
  const Device d = identity_of(row_of(
      "index, uuid, name, pci.bus_id, pci.device_id, pci.sub_device_id, driver_version, "
      "compute_cap, memory.total [MiB], "
      "addressing_mode",
      "3, GPU-1, NVIDIA GH200, 00000009:0A:00.0, 0x234210DE, 0x16EB10DE, 595.80, 9.0, 97871, ATS"));
  CHECK(d.compute_capability_major == 9u);
  CHECK(d.compute_capability_minor == 0u);
  CHECK(d.driver_index == 3u);
  CHECK(d.uuid.view() == "GPU-1");
  CHECK(d.name.view() == "NVIDIA GH200");
  CHECK(d.pci_bus_id.view() == "0009:0a:00.0");
  CHECK(d.pci_device == 0x2342u);
  CHECK(d.pci_subsystem == 0x16EB10DEu);
  CHECK(d.driver_version.view() == "595.80");
  CHECK(d.vendor == vendor::nvidia);
  CHECK(d.memory_kind == MemoryKind::coherent);
  CHECK(d.form == DeviceForm::discrete);
  CHECK(d.state == State::ready);
}

TEST_CASE("a compute capability has a major and a minor number") {
  const auto capability = [](const std::string& cell) {
    const Device d = identity_of(row_of("index, compute_cap", "0, " + cell));
    return std::pair(d.compute_capability_major, d.compute_capability_minor);
  };
  CHECK(capability("12.1") == std::pair(std::optional(12U), std::optional(1U)));
  for (const char* none : {"9", ".9", "9.", "-1.0", "9.0.1", "[N/A]", "70000.0"}) {
    CAPTURE(none);
    CHECK_FALSE(capability(none).first);
    CHECK_FALSE(capability(none).second);
  }
}

TEST_CASE("a sentinel is no name, no uuid and no driver") {
  const Device d =
      identity_of(row_of("index, uuid, name, pci.bus_id, driver_version, memory.total [MiB]",
                         "0, [N/A], [Unknown Error], [N/A], [N/A], [N/A]"));
  CHECK(d.uuid.empty());
  CHECK(d.name.empty());
  CHECK(d.pci_bus_id.empty());
  CHECK(d.driver_version.empty());
  CHECK(d.memory_kind == MemoryKind::unknown);
  CHECK(d.form == DeviceForm::unknown);
}

TEST_CASE("an error in any column is the state of the GPU") {
  const std::string columns =
      "index, memory.total [MiB], utilization.gpu [%], temperature.gpu, pstate";
  for (int at = 0; at < 4; ++at) {
    const auto state_with = [&](const char* cell) {
      std::string row = "0";
      for (int i = 0; i < 4; ++i) row += std::string(", ") + (i == at ? cell : "1");
      return identity_of(row_of(columns, row)).state;
    };
    CAPTURE(at);
    for (const char* value : {"1", "[N/A]", "[Not Supported]", "[No data]"}) {
      CHECK(state_with(value) == State::ready);
    }
    CHECK(state_with("[GPU is lost]") == State::lost);
    for (const char* error : {"[GPU requires reset]", "[Unknown Error]", "ERR!", "[Timeout]",
                              "[Insufficient Permissions]", "[Something new]"}) {
      CAPTURE(error);
      CHECK(state_with(error) == State::unreadable);
    }
  }
  CHECK(identity_of(row_of(columns, "0, [GPU requires reset], [GPU is lost], 1, P0")).state ==
        State::lost);
}

TEST_CASE("memory that is not supported is the host's only where something shows it") {
  struct {
    const char* name;
    const char* addressing;
    const char* capability;
    const char* id;
    MemoryKind is;
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
    for (const auto& g : gpus) {
      CAPTURE(total);
      CAPTURE(g.name);
      CAPTURE(g.capability);
      const GpuRow row =
          row_of("index, name, addressing_mode, compute_cap, pci.device_id, memory.total [MiB]",
                 std::string("0, ") + g.name + ", " + g.addressing + ", " + g.capability + ", " +
                     g.id + ", " + total);
      CHECK(identity_of(row).memory_kind == g.is);
      std::vector<Missing> gone;
      const Result<Pool> p = pool_of(row, gone);
      const bool is_unified = p && p->kind == PoolKind::unified;
      CHECK(is_unified == (g.is == MemoryKind::unified));
      if (!p) CHECK(p.why().code == Status::unsupported);
    }
  }
}

TEST_CASE("a name longer than its place is cut at a character, and noted") {
  const Device d = identity_of(row_of("index, name", "0, " + std::string(254, 'x') + "\xC3\xA4"));
  CHECK(d.name.view() == std::string(254, 'x'));
  CHECK((d.notes & note::truncated) != 0);
}
