// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/plausible.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "model/record.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40;
constexpr std::uint64_t most_bytes = 256 * tebibyte;
constexpr std::uint64_t mebibyte = 1 << 20;

struct Drops {
  void operator()(std::uint64_t field, const Failure& failure) {
    fields |= field;
    ++count;
    last_failure = failure;
  }
  std::uint64_t fields = 0;
  int count = 0;
  Failure last_failure;
};

template <class Record>
Drops drop_and_record(Record& record) {
  Drops drops;
  if constexpr (std::is_same_v<Record, Usage>) {
    drop_implausible(record, std::nullopt, drops);
  } else {
    drop_implausible(record, drops);
  }
  return drops;
}

// Returns whether a record of this source with only this value keeps it.
template <class Record, class T>
bool keeps(std::optional<T> Record::*member, std::type_identity_t<T> value,
           Source source = Source::drm) {
  Record record;
  record.source = source;
  record.*member = value;
  const std::uint64_t bit = present_bits(record);
  const Drops drops = drop_and_record(record);
  const bool is_present = (record.*member).has_value();
  CHECK(drops.count == (is_present ? 0 : 1));
  CHECK((drops.fields & bit) == (is_present ? 0 : bit));
  if (is_present) CHECK(record.*member == value);
  if (!is_present) CHECK(drops.last_failure.code == Status::backend);
  if (!is_present) CHECK(drops.last_failure.reason == Reason::implausible);
  if (!is_present) CHECK(drops.last_failure.source == source);
  return is_present;
}

bool keeps_metric(MetricId id, double value, std::uint32_t instance = 1,
                  Source source = Source::drm) {
  std::vector<Metric> metrics{make_value_metric(source, id, instance, value)};
  Drops drops;
  drop_implausible(metrics, drops);
  CHECK(drops.fields == (metrics.empty() ? missing_metric(id, instance) : 0));
  CHECK(drops.last_failure.source == (metrics.empty() ? source : Source::none));
  return !metrics.empty();
}

bool keeps_count(MetricId id, std::uint64_t count) {
  std::vector<Metric> metrics{make_count_metric(Source::nvml, id, 1, count)};
  drop_implausible(metrics, drop_silently);
  return !metrics.empty();
}

// Returns whether each of these energy readings, one second apart, is kept.
std::vector<bool> keeps_energies(std::initializer_list<double> readings) {
  EnergyHistory history{};
  std::uint64_t now = 0;
  std::vector<bool> results;
  for (const double joules : readings) {
    now += 1'000'000'000;
    Telemetry telemetry;
    telemetry.source = Source::nvml;
    telemetry.energy_joules = joules;
    Drops drops;
    drop_jumps(telemetry, history, now, drops);
    results.push_back(telemetry.energy_joules.has_value());
    CHECK(drops.fields == (telemetry.energy_joules ? 0 : telemetry_field::energy_joules));
    if (!telemetry.energy_joules) CHECK(drops.last_failure.reason == Reason::implausible);
  }
  return results;
}

Pool make_pool(std::uint64_t total) {
  Pool pool;
  pool.source = Source::drm;
  pool.total = total;
  return pool;
}

// Returns whether the record keeps the value next to its other values.
template <class T, class Record>
bool keeps_in_record(Record record, std::optional<T> Record::*member,
                     std::type_identity_t<T> value) {
  const std::uint64_t before = present_bits(record);
  record.*member = value;
  const std::uint64_t bit = present_bits(record) & ~before;
  const Drops drops = drop_and_record(record);
  CHECK((drops.fields & bit) == ((record.*member).has_value() ? 0 : bit));
  CHECK((present_bits(record) & before) == before);
  return (record.*member).has_value();
}

constexpr double infinity_value = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("amounts of memory are at most 256 TiB") {
  for (const auto member :
       {&Pool::total, &Pool::free, &Pool::used, &Pool::reserved, &Pool::usable, &Pool::budget}) {
    CHECK(keeps(member, 0));
    CHECK(keeps(member, most_bytes));
    CHECK(!keeps(member, most_bytes + 1));
    CHECK(!keeps(member, UINT64_MAX));
  }
  for (const auto member :
       {&Usage::used, &Usage::peak_used, &Usage::resident, &Usage::committed, &Usage::allocated,
        &Usage::shared, &Usage::purgeable, &Usage::evicted, &Usage::host_pool, &Usage::budget}) {
    CHECK(keeps(member, most_bytes));
    CHECK(!keeps(member, most_bytes + 1));
  }
  for (const auto member : {&SystemMemory::total, &SystemMemory::available, &SystemMemory::limit,
                            &SystemMemory::limit_used}) {
    CHECK(keeps(member, most_bytes));
    CHECK(!keeps(member, most_bytes + 1));
  }
}

TEST_CASE("a host's RAM is above 0, but its swap may be 0") {
  CHECK(!keeps(&SystemMemory::total, 0, Source::os));
  CHECK(keeps(&SystemMemory::available, 0, Source::os));
  CHECK(keeps(&SystemMemory::swap_total, 0, Source::os));
}

TEST_CASE("address space is at most 2^57 bytes") {
  constexpr std::uint64_t limit = std::uint64_t{1} << 57;
  for (const auto member : {&SystemMemory::committed, &SystemMemory::commit_limit}) {
    CHECK(keeps(member, limit));
    CHECK(!keeps(member, 2 * limit));
  }
}

TEST_CASE("counters of traffic and time have no limit") {
  CHECK(keeps(&Telemetry::pcie_rx_bytes, UINT64_MAX));
  CHECK(keeps(&Telemetry::pcie_tx_bytes, UINT64_MAX));
  CHECK(keeps(&Usage::busy_ns, UINT64_MAX));
  CHECK(keeps(&Telemetry::window_ns, UINT64_MAX));
}

TEST_CASE("percentages are from 0 to 100") {
  for (const auto member : {&Telemetry::gpu_busy_percent, &Telemetry::memory_busy_percent,
                            &Telemetry::encoder_busy_percent, &Telemetry::decoder_busy_percent}) {
    CHECK(keeps(member, 0));
    CHECK(keeps(member, 100));
    CHECK(!keeps(member, 100.01));
    CHECK(!keeps(member, -0.01));
  }
  CHECK(keeps(&Usage::busy_percent, 100));
  CHECK(!keeps(&Usage::busy_percent, 101));
  CHECK(keeps(&SystemMemory::stall_percent, 100));
  CHECK(!keeps(&SystemMemory::stall_percent, 101));
}

TEST_CASE("fans exceed 100 % only where the driver documents it") {
  for (const Source source : {Source::nvml, Source::nvidia_smi}) {
    CHECK(keeps(&Telemetry::fan_percent, 104, source));
    CHECK(keeps(&Telemetry::fan_percent, 1000, source));
    CHECK(!keeps(&Telemetry::fan_percent, 1001, source));
    CHECK(keeps_metric(MetricId::fan_percent, 104, 1, source));
  }
  for (const Source source : {Source::amdgpu, Source::amd_smi, Source::rocm_smi, Source::drm}) {
    CHECK(keeps(&Telemetry::fan_percent, 100, source));
    CHECK(!keeps(&Telemetry::fan_percent, 101, source));
    CHECK(!keeps_metric(MetricId::fan_percent, 101, 1, source));
  }
}

TEST_CASE("temperatures are from -100 to 250 C") {
  for (const auto member :
       {&Telemetry::temperature_celsius, &Telemetry::hotspot_celsius, &Telemetry::memory_celsius}) {
    CHECK(keeps(member, -100));
    CHECK(keeps(member, 250));
    CHECK(!keeps(member, -101));
    CHECK(!keeps(member, 251));
  }
}

TEST_CASE("0 is dropped where a driver writes it for an unknown value") {
  for (const Source source : {Source::nvml, Source::nvidia_smi, Source::amdgpu, Source::amd_smi,
                              Source::rocm_smi, Source::i915, Source::xe, Source::macmon}) {
    CHECK(!keeps(&Telemetry::temperature_celsius, 0, source));
    CHECK(!keeps(&Telemetry::power_limit_watts, 0, source));
    CHECK(!keeps(&Telemetry::memory_clock_mhz, 0, source));
    CHECK(!keeps_metric(MetricId::temperature_limit, 0, 1, source));
    CHECK(!keeps_metric(MetricId::clock_limit_mhz, 0, 1, source));
    CHECK(!keeps_metric(MetricId::voltage, 0, 1, source));
    CHECK(!keeps_metric(MetricId::power_limit_watts, 0, metric_instance::power_limit::max, source));
    CHECK(keeps_metric(MetricId::power_limit_watts, 0, metric_instance::power_limit::min, source));
  }
  for (const Source source : {Source::nvml, Source::nvidia_smi}) {
    CHECK(!keeps(&Telemetry::core_clock_mhz, 0, source));
  }
  for (const Source source : {Source::nvml, Source::amdgpu, Source::amd_smi, Source::rocm_smi}) {
    CHECK(!keeps(&Telemetry::power_watts, 0, source));
    CHECK(!keeps(&Pool::total, 0, source));
  }
}

TEST_CASE("0 is kept where an idle device reports it") {
  CHECK(keeps(&Telemetry::core_clock_mhz, 0, Source::amdgpu));
  CHECK(keeps(&Telemetry::core_clock_mhz, 0, Source::i915));
  CHECK(keeps(&Telemetry::power_watts, 0, Source::xe));
  CHECK(keeps(&Telemetry::power_watts, 0, Source::macmon));
  CHECK(keeps(&Telemetry::fan_rpm, 0, Source::nvml));
  CHECK(keeps(&Telemetry::fan_percent, 0, Source::amdgpu));
  CHECK(keeps(&Telemetry::temperature_celsius, 0, Source::simulated));
}

TEST_CASE("a total of 0 that means unknown drops every value of its pool") {
  Pool pool = make_pool(0);
  pool.source = Source::amdgpu;
  pool.used = pool.free = 0;
  CHECK(drop_and_record(pool).fields == (pool_field::total | pool_field::used | pool_field::free));
  CHECK(present_bits(pool) == 0);
}

TEST_CASE("power, energy, clocks and speeds are between 0 and a limit") {
  for (const auto member : {&Telemetry::power_watts, &Telemetry::power_limit_watts}) {
    CHECK(keeps(member, 10'000));
    CHECK(!keeps(member, 10'001));
    CHECK(!keeps(member, -1));
  }
  CHECK(keeps(&Telemetry::energy_joules, 1e15));
  CHECK(!keeps(&Telemetry::energy_joules, 1.2e15));
  CHECK(!keeps(&Telemetry::energy_joules, -1));
  for (const auto member : {&Telemetry::core_clock_mhz, &Telemetry::memory_clock_mhz}) {
    CHECK(keeps(member, 50'000));
    CHECK(!keeps(member, UINT16_MAX));
    CHECK(!keeps(member, UINT32_MAX));
  }
  CHECK(keeps(&Telemetry::fan_rpm, 30'000));
  CHECK(!keeps(&Telemetry::fan_rpm, UINT16_MAX));
}

TEST_CASE("a PCIe link has a valid generation and width") {
  for (const std::uint32_t lanes : {1, 2, 4, 8, 12, 16, 32}) {
    CHECK(keeps(&Telemetry::pcie_width, lanes));
  }
  for (const std::uint32_t lanes : {0U, 3U, 17U, 63U, 255U, UINT32_MAX}) {
    CHECK(!keeps(&Telemetry::pcie_width, lanes));
  }
  CHECK(keeps(&Telemetry::pcie_generation, 1));
  CHECK(keeps(&Telemetry::pcie_generation, 6));
  CHECK(!keeps(&Telemetry::pcie_generation, 0));
  CHECK(!keeps(&Telemetry::pcie_generation, 255));
}

TEST_CASE("error counts are below the maximum of their type") {
  for (const MetricId id :
       {MetricId::ecc_corrected, MetricId::ecc_uncorrected, MetricId::pcie_replays}) {
    CHECK(keeps_count(id, 0));
    CHECK(keeps_count(id, 4'000'000'000));
    CHECK(!keeps_count(id, UINT32_MAX));
    CHECK(!keeps_count(id, UINT64_MAX));
  }
  CHECK(keeps_count(MetricId::pcie_rx_bytes, UINT64_MAX));
}

TEST_CASE("remapped rows are two counts and two flags") {
  const auto keeps_row = [](std::uint32_t instance, std::uint64_t value) {
    std::vector<Metric> metrics{
        make_count_metric(Source::nvml, MetricId::rows_remapped, instance, value)};
    Drops drops;
    drop_implausible(metrics, drops);
    return !metrics.empty();
  };
  for (const auto number :
       {metric_instance::remapping::corrected, metric_instance::remapping::uncorrected}) {
    CHECK(keeps_row(number, 0));
    CHECK(keeps_row(number, 512));
    CHECK(!keeps_row(number, UINT32_MAX));
  }
  for (const auto flag :
       {metric_instance::remapping::pending, metric_instance::remapping::failed}) {
    CHECK(keeps_row(flag, 0));
    CHECK(keeps_row(flag, 1));
    CHECK(!keeps_row(flag, 2));
    CHECK(!keeps_row(flag, 55));
  }
}

TEST_CASE("memory of a device or host is at least 1 MiB, except in a simulated machine") {
  for (const std::uint64_t total : {1U, 100U, 4096U, 1048575U}) {
    Pool pool = make_pool(total);
    CHECK(drop_and_record(pool).fields == pool_field::total);
    pool = make_pool(total);
    pool.source = Source::simulated;
    CHECK(drop_and_record(pool).fields == 0);
    SystemMemory memory;
    memory.source = Source::os;
    memory.total = total;
    CHECK(drop_and_record(memory).fields == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  }
  Pool pool = make_pool(mebibyte);
  CHECK(drop_and_record(pool).fields == 0);
  pool = make_pool(0);  // a device without memory of its own
  CHECK(drop_and_record(pool).fields == 0);
}

TEST_CASE("a total above what a partition can have is dropped") {
  Drops drops;
  Pool pool = make_pool(10 * mebibyte);
  pool.used = 1 * mebibyte;
  drop_implausible(pool, drops, 10 * mebibyte);
  CHECK(drops.fields == 0);
  drop_implausible(pool, drops, 5 * mebibyte);
  CHECK(drops.fields == (pool_field::total | pool_field::used));
  CHECK(!pool.total);
  CHECK(!pool.used);
}

TEST_CASE("shared and purgeable memory is at most what a process has, resident or committed") {
  Usage row;
  row.used = 4;
  row.committed = 16;
  row.shared = 16;
  row.purgeable = 17;
  CHECK(drop_and_record(row).fields == usage_field::purgeable);
  CHECK(row.shared == 16U);
  row.committed.reset();
  row.shared = 100;
  CHECK(drop_and_record(row).fields == 0);
}

TEST_CASE("the time of an event is not in the future") {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t now = 1'700'000'000 * second;
  CHECK(!check_time(Source::nvml, "a sample", 0, now));
  CHECK(!check_time(Source::nvml, "a sample", now, now));
  CHECK(!check_time(Source::nvml, "a sample", now + second, now));
  CHECK(check_time(Source::nvml, "a sample", now + second + 1, now));
  const auto doubt = check_time(Source::nvml, "a sample", UINT64_MAX, now);
  REQUIRE(doubt);
  CHECK(doubt->reason == Reason::implausible);
}

TEST_CASE("an energy counter that jumps has no value until two readings agree") {
  using Flags = std::vector<bool>;
  CHECK(keeps_energies({1000, 1200, 1200, 9000}) == Flags{true, true, true, true});
  CHECK(keeps_energies({1000, 1e9, 1300}) == Flags{true, false, true});
  CHECK(keeps_energies({1000, 5, 300, 600}) == Flags{true, false, true, true});
  CHECK(keeps_energies({1000, 1e9, 5, 1e9, 1200}) == Flags{true, false, false, false, true});
}

TEST_CASE("energy counters of a device are judged separately") {
  EnergyHistory history{};
  constexpr std::uint64_t second = 1'000'000'000;
  for (const double joules : {1000.0, 1100.0}) {
    std::vector<Metric> metrics{
        make_value_metric(Source::xe, MetricId::energy_joules,
                          metric_instance::power_reading::package, joules),
        make_value_metric(Source::xe, MetricId::energy_joules,
                          metric_instance::power_reading::board, 1e6 - joules)};
    Drops drops;
    drop_jumps(metrics, history, joules == 1000 ? second : 2 * second, drops);
    CHECK(metrics.size() == (joules == 1000 ? 2 : 1));
    CHECK(metrics[0].instance == metric_instance::power_reading::package);
  }
}

TEST_CASE("infinity and NaN are dropped") {
  CHECK(!keeps(&Telemetry::temperature_celsius, infinity_value));
  CHECK(!keeps(&Telemetry::temperature_celsius, -infinity_value));
  Telemetry telemetry;
  telemetry.power_watts = std::nan("");
  CHECK(drop_and_record(telemetry).fields == telemetry_field::power_watts);
  CHECK(!telemetry.power_watts);
  CHECK(!keeps_metric(MetricId::voltage, std::nan("")));
  CHECK(!keeps_metric(MetricId::voltage, infinity_value));
}

TEST_CASE("parts of a pool are at most its total") {
  for (const auto member : {&Pool::free, &Pool::used, &Pool::reserved, &Pool::usable}) {
    CHECK(keeps_in_record(make_pool(8 * mebibyte), member, 8 * mebibyte));
    CHECK(!keeps_in_record(make_pool(8 * mebibyte), member, 8 * mebibyte + 1));
  }
  CHECK(keeps_in_record(make_pool(8 * mebibyte), &Pool::budget, 9 * mebibyte));
  CHECK(keeps_in_record(make_pool(8 * mebibyte), &Pool::unattributed, 9 * mebibyte));
  Pool without_total;
  without_total.free = 12;
  CHECK(keeps_in_record(without_total, &Pool::used, 12));
}

TEST_CASE("an impossible total also drops the parts reported with it") {
  Pool pool = make_pool(std::uint64_t{1} << 60);
  pool.free = 12;
  pool.budget = 13;
  CHECK(drop_and_record(pool).fields == (pool_field::total | pool_field::free));
  CHECK(!pool.total);
  CHECK(!pool.free);
  CHECK(pool.budget == 13U);
  SystemMemory memory;
  memory.total = std::uint64_t{1} << 60;
  memory.available = 12;
  memory.swap_total = 8;
  memory.swap_free = 4;
  CHECK(drop_and_record(memory).fields ==
        (HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_AVAILABLE));
  CHECK(memory.swap_free == 4U);
}

TEST_CASE("free plus used memory is at most the total, rounded to MiB") {
  Pool pool = make_pool(100 * mebibyte);
  pool.free = 60 * mebibyte;
  CHECK(keeps_in_record(pool, &Pool::used, 40 * mebibyte));
  CHECK(keeps_in_record(pool, &Pool::used, 42 * mebibyte));
  pool.used = 42 * mebibyte + 1;
  CHECK(drop_and_record(pool).fields == (pool_field::used | pool_field::free));
  CHECK(!pool.used);
  CHECK(!pool.free);
  CHECK(pool.total == 100 * mebibyte);
}

TEST_CASE("free memory is dropped for the same reason as used memory") {
  Pool pool = make_pool(8 * mebibyte);
  pool.used = 9 * mebibyte;
  CHECK(drop_and_record(pool).fields == (pool_field::used | pool_field::free));
}

TEST_CASE("a process uses at most the device's memory") {
  Usage row;
  row.used = row.allocated = 9;
  row.peak_used = 8;
  row.host_pool = 100;
  Drops drops;
  drop_implausible(row, 8, drops);
  CHECK(drops.fields == (usage_field::used | usage_field::allocated));
  CHECK(drops.count == 2);
  CHECK(!row.used);
  CHECK(!row.allocated);
  CHECK(row.peak_used == 8U);
  CHECK(row.host_pool == 100U);
  drop_implausible(row, 7, drops);
  CHECK(!row.peak_used);
}

TEST_CASE("resident memory fits on the device; committed memory need not, except on KFD") {
  for (const Source source : {Source::amdgpu, Source::kfd, Source::pdh, Source::metal}) {
    CAPTURE(source);
    Usage row;
    row.source = source;
    row.used = row.resident = 9;
    row.accounting = Accounting::resident;
    Drops drops;
    drop_implausible(row, 8, drops);
    CHECK(row.used.has_value() == (source == Source::metal));
    CHECK(row.resident.has_value() == (source == Source::metal));
    row.used = 9;
    row.accounting = Accounting::committed;
    drop_implausible(row, 8, drops);
    CHECK(row.used.has_value() == (source != Source::kfd));
  }
}

TEST_CASE("an implausible load also drops its window") {
  Usage row;
  row.busy_percent = 101;
  row.window_ns = 5;
  CHECK(drop_and_record(row).count == 1);
  CHECK(!row.busy_percent);
  CHECK(!row.window_ns);
}

TEST_CASE("available memory and free swap are at most their totals") {
  SystemMemory memory;
  memory.total = 8 * mebibyte;
  memory.swap_total = 4;
  CHECK(keeps_in_record(memory, &SystemMemory::available, 8 * mebibyte));
  CHECK(!keeps_in_record(memory, &SystemMemory::available, 8 * mebibyte + 1));
  CHECK(keeps_in_record(memory, &SystemMemory::swap_free, 4));
  CHECK(!keeps_in_record(memory, &SystemMemory::swap_free, 5));
  SystemMemory no_swap_total;
  no_swap_total.total = 8 * mebibyte;
  CHECK(keeps_in_record(no_swap_total, &SystemMemory::swap_free, 9));
}

TEST_CASE("metrics have the limits of their unit") {
  CHECK(keeps_metric(MetricId::engine_percent, 100));
  CHECK(!keeps_metric(MetricId::engine_percent, 101));
  CHECK(keeps_metric(MetricId::temperature_shutdown, 250));
  CHECK(!keeps_metric(MetricId::temperature, -101));
  CHECK(!keeps_metric(MetricId::temperature_limit, 251));
  CHECK(!keeps_metric(MetricId::power_watts, -1));
  CHECK(!keeps_metric(MetricId::power_limit_watts, 10'001));
  CHECK(!keeps_metric(MetricId::energy_joules, -1));
  CHECK(!keeps_metric(MetricId::clock_mhz, 50'001));
  CHECK(!keeps_metric(MetricId::clock_limit_mhz, -1));
  CHECK(!keeps_metric(MetricId::fan_rpm, 30'001));
  CHECK(keeps_metric(MetricId::voltage, 1000));
  CHECK(!keeps_metric(MetricId::voltage, 1001));
  std::vector<Metric> metrics{
      make_count_metric(Source::drm, MetricId::pcie_rx_bytes, 0, UINT64_MAX)};
  Drops drops;
  drop_implausible(metrics, drops);
  CHECK(metrics.size() == 1);
}

TEST_CASE("the reason names the field, its value and the limit") {
  Pool pool = make_pool(8 * mebibyte);
  pool.free = 12 * mebibyte;
  CHECK(drop_and_record(pool).last_failure.message.view() ==
        "the driver reported free_bytes 12582912, above the total of 8388608: implausible");
  Telemetry telemetry;
  telemetry.gpu_busy_percent = 100.5;
  CHECK(drop_and_record(telemetry).last_failure.message.view() ==
        "the driver reported gpu_busy_percent 100.5, above 100: implausible");
  telemetry.temperature_celsius = 0;
  CHECK(drop_and_record(telemetry).last_failure.message.view() ==
        "the driver reported temperature_celsius 0, a placeholder without a value: implausible");
  telemetry.temperature_celsius = -273;
  CHECK(drop_and_record(telemetry).last_failure.message.view() ==
        "the driver reported temperature_celsius -273, below -100: implausible");
  std::vector<Metric> metrics{make_value_metric(Source::drm, MetricId::power_watts, 1, 2e5)};
  Drops drops;
  drop_implausible(metrics, drops);
  CHECK(drops.last_failure.message.view() ==
        "the driver reported power_watts 200000, above 10000: implausible");
  telemetry.pcie_width = 3;
  CHECK(drop_and_record(telemetry).last_failure.message.view() ==
        "the driver reported pcie_width 3, which no link has: implausible");
  EnergyCounter energy{{1000, 1}, {}};
  const auto failure = energy.check_reading(Source::nvml, "energy_joules", 5, 1);
  REQUIRE(failure);
  CHECK(failure->message.view() ==
        "the driver reported energy_joules 5, below what follows the last reading, 1000: "
        "implausible");
  Usage row;
  row.used = 9;
  drop_implausible(row, 8, drops);
  CHECK(drops.last_failure.message.view() ==
        "the driver reported used_bytes 9, above the device's 8: implausible");
}
