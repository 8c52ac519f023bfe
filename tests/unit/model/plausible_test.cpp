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
  void operator()(std::uint64_t field, const Failure& why) {
    fields |= field;
    ++count;
    last = why;
  }
  std::uint64_t fields = 0;
  int count = 0;
  Failure last;
};

template <class Record>
Drops drops_of(Record& r) {
  Drops d;
  if constexpr (std::is_same_v<Record, Usage>) {
    drop_implausible(r, std::nullopt, d);
  } else {
    drop_implausible(r, d);
  }
  return d;
}

// Whether a record of this source with nothing but this value keeps it.
template <class Record, class T>
bool keeps(std::optional<T> Record::*member, std::type_identity_t<T> value,
           Source from = Source::drm) {
  Record r;
  r.from = from;
  r.*member = value;
  const std::uint64_t bit = present_bits(r);
  const Drops d = drops_of(r);
  const bool is_kept = (r.*member).has_value();
  CHECK(d.count == (is_kept ? 0 : 1));
  CHECK((d.fields & bit) == (is_kept ? 0 : bit));
  if (is_kept) CHECK(r.*member == value);
  if (!is_kept) CHECK(d.last.code == Status::backend);
  if (!is_kept) CHECK(d.last.stated == Reason::implausible);
  if (!is_kept) CHECK(d.last.from == from);
  return is_kept;
}

bool keeps_metric(MetricId id, double value, std::uint32_t instance = 1,
                  Source from = Source::drm) {
  std::vector<Metric> all{measured(from, id, instance, value)};
  Drops d;
  drop_implausible(all, d);
  CHECK(d.fields == (all.empty() ? missing_metric(id, instance) : 0));
  CHECK(d.last.from == (all.empty() ? from : Source::none));
  return !all.empty();
}

bool keeps_count(MetricId id, std::uint64_t count) {
  std::vector<Metric> all{counted(Source::nvml, id, 1, count)};
  drop_implausible(all, drop_silently);
  return !all.empty();
}

// Whether each reading of an energy counter, a second after the one before, is a value.
std::vector<bool> energies_kept(std::initializer_list<double> readings) {
  EnergyHistory seen{};
  std::uint64_t now = 0;
  std::vector<bool> kept;
  for (const double joules : readings) {
    now += 1'000'000'000;
    Telemetry t;
    t.from = Source::nvml;
    t.energy_joules = joules;
    Drops d;
    drop_jumps(t, seen, now, d);
    kept.push_back(t.energy_joules.has_value());
    CHECK(d.fields == (t.energy_joules ? 0 : telemetry_field::energy_joules));
    if (!t.energy_joules) CHECK(d.last.stated == Reason::implausible);
  }
  return kept;
}

Pool pool_of(std::uint64_t total) {
  Pool p;
  p.from = Source::drm;
  p.total = total;
  return p;
}

// What is left of these values.
template <class T, class Record>
bool keeps_next_to(Record r, std::optional<T> Record::*member, std::type_identity_t<T> value) {
  const std::uint64_t before = present_bits(r);
  r.*member = value;
  const std::uint64_t bit = present_bits(r) & ~before;
  const Drops d = drops_of(r);
  CHECK((d.fields & bit) == ((r.*member).has_value() ? 0 : bit));
  CHECK((present_bits(r) & before) == before);
  return (r.*member).has_value();
}

constexpr double infinite = std::numeric_limits<double>::infinity();

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

TEST_CASE("a host has RAM, and need have no swap") {
  CHECK(!keeps(&SystemMemory::total, 0, Source::os));
  CHECK(keeps(&SystemMemory::available, 0, Source::os));
  CHECK(keeps(&SystemMemory::swap_total, 0, Source::os));
}

TEST_CASE("address space is at most 2^57 bytes") {
  constexpr std::uint64_t most = std::uint64_t{1} << 57;
  for (const auto member : {&SystemMemory::committed, &SystemMemory::commit_limit}) {
    CHECK(keeps(member, most));
    CHECK(!keeps(member, 2 * most));
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
  for (const Source from : {Source::nvml, Source::nvidia_smi}) {
    CHECK(keeps(&Telemetry::fan_percent, 104, from));
    CHECK(keeps(&Telemetry::fan_percent, 1000, from));
    CHECK(!keeps(&Telemetry::fan_percent, 1001, from));
    CHECK(keeps_metric(MetricId::fan_percent, 104, 1, from));
  }
  for (const Source from : {Source::amdgpu, Source::amd_smi, Source::rocm_smi, Source::drm}) {
    CHECK(keeps(&Telemetry::fan_percent, 100, from));
    CHECK(!keeps(&Telemetry::fan_percent, 101, from));
    CHECK(!keeps_metric(MetricId::fan_percent, 101, 1, from));
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

TEST_CASE("0 where a driver writes it for no value is none") {
  for (const Source from : {Source::nvml, Source::nvidia_smi, Source::amdgpu, Source::amd_smi,
                            Source::rocm_smi, Source::i915, Source::xe, Source::macmon}) {
    CHECK(!keeps(&Telemetry::temperature_celsius, 0, from));
    CHECK(!keeps(&Telemetry::power_limit_watts, 0, from));
    CHECK(!keeps(&Telemetry::memory_clock_mhz, 0, from));
    CHECK(!keeps_metric(MetricId::temperature_limit, 0, 1, from));
    CHECK(!keeps_metric(MetricId::clock_limit_mhz, 0, 1, from));
    CHECK(!keeps_metric(MetricId::voltage, 0, 1, from));
    CHECK(!keeps_metric(MetricId::power_limit_watts, 0, which::power_limit::max, from));
    CHECK(keeps_metric(MetricId::power_limit_watts, 0, which::power_limit::min, from));
  }
  for (const Source from : {Source::nvml, Source::nvidia_smi}) {
    CHECK(!keeps(&Telemetry::core_clock_mhz, 0, from));
  }
  for (const Source from : {Source::nvml, Source::amdgpu, Source::amd_smi, Source::rocm_smi}) {
    CHECK(!keeps(&Telemetry::power_watts, 0, from));
    CHECK(!keeps(&Pool::total, 0, from));
  }
}

TEST_CASE("0 is a value where an idle device has it") {
  CHECK(keeps(&Telemetry::core_clock_mhz, 0, Source::amdgpu));
  CHECK(keeps(&Telemetry::core_clock_mhz, 0, Source::i915));
  CHECK(keeps(&Telemetry::power_watts, 0, Source::xe));
  CHECK(keeps(&Telemetry::power_watts, 0, Source::macmon));
  CHECK(keeps(&Telemetry::fan_rpm, 0, Source::nvml));
  CHECK(keeps(&Telemetry::fan_percent, 0, Source::amdgpu));
  CHECK(keeps(&Telemetry::temperature_celsius, 0, Source::simulated));
}

TEST_CASE("a total of 0 that stands for none leaves nothing of its pool") {
  Pool p = pool_of(0);
  p.from = Source::amdgpu;
  p.used = p.free = 0;
  CHECK(drops_of(p).fields == (pool_field::total | pool_field::used | pool_field::free));
  CHECK(present_bits(p) == 0);
}

TEST_CASE("power, energy, clocks and speeds are not negative and below a limit") {
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

TEST_CASE("a PCIe link has a generation and one of the widths that exist") {
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

TEST_CASE("counts of errors are below the maximum of their type") {
  for (const MetricId id :
       {MetricId::ecc_corrected, MetricId::ecc_uncorrected, MetricId::pcie_replays}) {
    CHECK(keeps_count(id, 0));
    CHECK(keeps_count(id, 4'000'000'000));
    CHECK(!keeps_count(id, UINT32_MAX));
    CHECK(!keeps_count(id, UINT64_MAX));
  }
  CHECK(keeps_count(MetricId::pcie_rx_bytes, UINT64_MAX));
}

TEST_CASE("of remapped rows two are numbers and two are flags") {
  const auto keeps = [](std::uint32_t instance, std::uint64_t value) {
    std::vector<Metric> all{counted(Source::nvml, MetricId::rows_remapped, instance, value)};
    Drops d;
    drop_implausible(all, d);
    return !all.empty();
  };
  for (const auto number : {which::remapping::corrected, which::remapping::uncorrected}) {
    CHECK(keeps(number, 0));
    CHECK(keeps(number, 512));
    CHECK(!keeps(number, UINT32_MAX));
  }
  for (const auto flag : {which::remapping::pending, which::remapping::failed}) {
    CHECK(keeps(flag, 0));
    CHECK(keeps(flag, 1));
    CHECK(!keeps(flag, 2));
    CHECK(!keeps(flag, 55));
  }
}

TEST_CASE("memory of a device and of a host is at least 1 MiB, but in a described machine") {
  for (const std::uint64_t total : {1U, 100U, 4096U, 1048575U}) {
    Pool p = pool_of(total);
    CHECK(drops_of(p).fields == pool_field::total);
    p = pool_of(total);
    p.from = Source::simulated;
    CHECK(drops_of(p).fields == 0);
    SystemMemory m;
    m.from = Source::os;
    m.total = total;
    CHECK(drops_of(m).fields == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  }
  Pool p = pool_of(mebibyte);
  CHECK(drops_of(p).fields == 0);
  p = pool_of(0);  // a device without memory of its own
  CHECK(drops_of(p).fields == 0);
}

TEST_CASE("a total is at most what a partition can have") {
  Drops d;
  Pool p = pool_of(10 * mebibyte);
  p.used = 1 * mebibyte;
  drop_implausible(p, d, 10 * mebibyte);
  CHECK(d.fields == 0);
  drop_implausible(p, d, 5 * mebibyte);
  CHECK(d.fields == (pool_field::total | pool_field::used));
  CHECK(!p.total);
  CHECK(!p.used);
}

TEST_CASE("shared and purgeable memory is at most what a process has, resident or not") {
  Usage row;
  row.used = 4;
  row.committed = 16;
  row.shared = 16;
  row.purgeable = 17;
  CHECK(drops_of(row).fields == usage_field::purgeable);
  CHECK(row.shared == 16U);
  row.committed.reset();
  row.shared = 100;
  CHECK(drops_of(row).fields == 0);
}

TEST_CASE("what has happened has no time in the future") {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t now = 1'700'000'000 * second;
  CHECK(!doubt_time(Source::nvml, "a sample", 0, now));
  CHECK(!doubt_time(Source::nvml, "a sample", now, now));
  CHECK(!doubt_time(Source::nvml, "a sample", now + second, now));
  CHECK(doubt_time(Source::nvml, "a sample", now + second + 1, now));
  const auto why = doubt_time(Source::nvml, "a sample", UINT64_MAX, now);
  REQUIRE(why);
  CHECK(why->stated == Reason::implausible);
}

TEST_CASE("an energy counter that jumps has no value until two readings agree") {
  using Kept = std::vector<bool>;
  CHECK(energies_kept({1000, 1200, 1200, 9000}) == Kept{true, true, true, true});
  CHECK(energies_kept({1000, 1e9, 1300}) == Kept{true, false, true});
  CHECK(energies_kept({1000, 5, 300, 600}) == Kept{true, false, true, true});
  CHECK(energies_kept({1000, 1e9, 5, 1e9, 1200}) == Kept{true, false, false, false, true});
}

TEST_CASE("energy counters of a device are judged one by one") {
  EnergyHistory seen{};
  constexpr std::uint64_t second = 1'000'000'000;
  for (const double joules : {1000.0, 1100.0}) {
    std::vector<Metric> all{
        measured(Source::xe, MetricId::energy_joules, which::power_reading::package, joules),
        measured(Source::xe, MetricId::energy_joules, which::power_reading::board, 1e6 - joules)};
    Drops d;
    drop_jumps(all, seen, joules == 1000 ? second : 2 * second, d);
    CHECK(all.size() == (joules == 1000 ? 2 : 1));
    CHECK(all[0].instance == which::power_reading::package);
  }
}

TEST_CASE("what is no number is no value") {
  CHECK(!keeps(&Telemetry::temperature_celsius, infinite));
  CHECK(!keeps(&Telemetry::temperature_celsius, -infinite));
  Telemetry t;
  t.power_watts = std::nan("");
  CHECK(drops_of(t).fields == telemetry_field::power_watts);
  CHECK(!t.power_watts);
  CHECK(!keeps_metric(MetricId::voltage, std::nan("")));
  CHECK(!keeps_metric(MetricId::voltage, infinite));
}

TEST_CASE("parts of a pool are at most its total") {
  for (const auto member : {&Pool::free, &Pool::used, &Pool::reserved, &Pool::usable}) {
    CHECK(keeps_next_to(pool_of(8 * mebibyte), member, 8 * mebibyte));
    CHECK(!keeps_next_to(pool_of(8 * mebibyte), member, 8 * mebibyte + 1));
  }
  CHECK(keeps_next_to(pool_of(8 * mebibyte), &Pool::budget, 9 * mebibyte));
  CHECK(keeps_next_to(pool_of(8 * mebibyte), &Pool::unattributed, 9 * mebibyte));
  Pool other_way;
  other_way.free = 12;
  CHECK(keeps_next_to(other_way, &Pool::used, 12));
}

TEST_CASE("a total that cannot be makes its parts void, which came with it") {
  Pool p = pool_of(std::uint64_t{1} << 60);
  p.free = 12;
  p.budget = 13;
  CHECK(drops_of(p).fields == (pool_field::total | pool_field::free));
  CHECK(!p.total);
  CHECK(!p.free);
  CHECK(p.budget == 13U);
  SystemMemory m;
  m.total = std::uint64_t{1} << 60;
  m.available = 12;
  m.swap_total = 8;
  m.swap_free = 4;
  CHECK(drops_of(m).fields == (HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_AVAILABLE));
  CHECK(m.swap_free == 4U);
}

TEST_CASE("free and used are together at most the total, rounded to MiB") {
  Pool p = pool_of(100 * mebibyte);
  p.free = 60 * mebibyte;
  CHECK(keeps_next_to(p, &Pool::used, 40 * mebibyte));
  CHECK(keeps_next_to(p, &Pool::used, 42 * mebibyte));
  p.used = 42 * mebibyte + 1;
  CHECK(drops_of(p).fields == (pool_field::used | pool_field::free));
  CHECK(!p.used);
  CHECK(!p.free);
  CHECK(p.total == 100 * mebibyte);
}

TEST_CASE("free memory that is not reported is missing for the same reason as used") {
  Pool p = pool_of(8 * mebibyte);
  p.used = 9 * mebibyte;
  CHECK(drops_of(p).fields == (pool_field::used | pool_field::free));
}

TEST_CASE("a process uses at most what the device has") {
  Usage row;
  row.used = row.allocated = 9;
  row.peak_used = 8;
  row.host_pool = 100;
  Drops d;
  drop_implausible(row, 8, d);
  CHECK(d.fields == (usage_field::used | usage_field::allocated));
  CHECK(d.count == 2);
  CHECK(!row.used);
  CHECK(!row.allocated);
  CHECK(row.peak_used == 8U);
  CHECK(row.host_pool == 100U);
  drop_implausible(row, 7, d);
  CHECK(!row.peak_used);
}

TEST_CASE("what is resident is on the device; what is only committed need not be, but for KFD") {
  for (const Source from : {Source::amdgpu, Source::kfd, Source::pdh, Source::metal}) {
    CAPTURE(from);
    Usage row;
    row.from = from;
    row.used = row.resident = 9;
    row.accounting = Accounting::resident;
    Drops d;
    drop_implausible(row, 8, d);
    CHECK(row.used.has_value() == (from == Source::metal));
    CHECK(row.resident.has_value() == (from == Source::metal));
    row.used = 9;
    row.accounting = Accounting::committed;
    drop_implausible(row, 8, d);
    CHECK(row.used.has_value() == (from != Source::kfd));
  }
}

TEST_CASE("a load that cannot be takes its window with it") {
  Usage row;
  row.busy_percent = 101;
  row.window_ns = 5;
  CHECK(drops_of(row).count == 1);
  CHECK(!row.busy_percent);
  CHECK(!row.window_ns);
}

TEST_CASE("available memory and free swap are at most their totals") {
  SystemMemory m;
  m.total = 8 * mebibyte;
  m.swap_total = 4;
  CHECK(keeps_next_to(m, &SystemMemory::available, 8 * mebibyte));
  CHECK(!keeps_next_to(m, &SystemMemory::available, 8 * mebibyte + 1));
  CHECK(keeps_next_to(m, &SystemMemory::swap_free, 4));
  CHECK(!keeps_next_to(m, &SystemMemory::swap_free, 5));
  SystemMemory no_swap_total;
  no_swap_total.total = 8 * mebibyte;
  CHECK(keeps_next_to(no_swap_total, &SystemMemory::swap_free, 9));
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
  std::vector<Metric> counts{counted(Source::drm, MetricId::pcie_rx_bytes, 0, UINT64_MAX)};
  Drops d;
  drop_implausible(counts, d);
  CHECK(counts.size() == 1);
}

TEST_CASE("the reason names the field, its value and the limit") {
  Pool p = pool_of(8 * mebibyte);
  p.free = 12 * mebibyte;
  CHECK(drops_of(p).last.message.view() ==
        "the driver reported free_bytes 12582912, above the total of 8388608: implausible");
  Telemetry t;
  t.gpu_busy_percent = 100.5;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported gpu_busy_percent 100.5, above 100: implausible");
  t.temperature_celsius = 0;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported temperature_celsius 0, which stands for no value: implausible");
  t.temperature_celsius = -273;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported temperature_celsius -273, below -100: implausible");
  std::vector<Metric> all{measured(Source::drm, MetricId::power_watts, 1, 2e5)};
  Drops d;
  drop_implausible(all, d);
  CHECK(d.last.message.view() ==
        "the driver reported power_watts 200000, above 10000: implausible");
  t.pcie_width = 3;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported pcie_width 3, which no link has: implausible");
  EnergySeen seen{{1000, 1}, {}};
  const auto back = seen.doubt(Source::nvml, "energy_joules", 5, 1);
  REQUIRE(back);
  CHECK(back->message.view() ==
        "the driver reported energy_joules 5, below what follows the last reading, 1000: "
        "implausible");
  Usage row;
  row.used = 9;
  drop_implausible(row, 8, d);
  CHECK(d.last.message.view() ==
        "the driver reported used_bytes 9, above the device's 8: implausible");
}
