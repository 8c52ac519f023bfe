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

struct drops {
  void operator()(std::uint64_t field, const failure& why) {
    fields |= field;
    ++count;
    last = why;
  }
  std::uint64_t fields = 0;
  int count = 0;
  failure last;
};

template <class Record>
drops drops_of(Record& r) {
  drops d;
  if constexpr (std::is_same_v<Record, usage>) {
    drop_implausible(r, std::nullopt, d);
  } else {
    drop_implausible(r, d);
  }
  return d;
}

// Whether a record of this source with nothing but this value keeps it.
template <class Record, class T>
bool keeps(std::optional<T> Record::*member, std::type_identity_t<T> value,
           source from = source::drm) {
  Record r;
  r.from = from;
  r.*member = value;
  const std::uint64_t bit = present_bits(r);
  const drops d = drops_of(r);
  const bool is_kept = (r.*member).has_value();
  CHECK(d.count == (is_kept ? 0 : 1));
  CHECK((d.fields & bit) == (is_kept ? 0 : bit));
  if (is_kept) CHECK(r.*member == value);
  if (!is_kept) CHECK(d.last.code == status::backend);
  if (!is_kept) CHECK(d.last.stated == reason::implausible);
  if (!is_kept) CHECK(d.last.from == from);
  return is_kept;
}

bool keeps_metric(metric_id id, double value, std::uint32_t instance = 1,
                  source from = source::drm) {
  std::vector<metric> all{measured(from, id, instance, value)};
  drops d;
  drop_implausible(all, d);
  CHECK(d.fields == (all.empty() ? missing_metric(id, instance) : 0));
  CHECK(d.last.from == (all.empty() ? from : source::none));
  return !all.empty();
}

bool keeps_count(metric_id id, std::uint64_t count) {
  std::vector<metric> all{counted(source::nvml, id, 1, count)};
  drop_implausible(all, drop_silently);
  return !all.empty();
}

// Whether each reading of an energy counter, a second after the one before, is a value.
std::vector<bool> energies_kept(std::initializer_list<double> readings) {
  energy_history seen{};
  std::uint64_t now = 0;
  std::vector<bool> kept;
  for (const double joules : readings) {
    now += 1'000'000'000;
    telemetry t;
    t.from = source::nvml;
    t.energy_joules = joules;
    drops d;
    drop_jumps(t, seen, now, d);
    kept.push_back(t.energy_joules.has_value());
    CHECK(d.fields == (t.energy_joules ? 0 : telemetry_field::energy_joules));
    if (!t.energy_joules) CHECK(d.last.stated == reason::implausible);
  }
  return kept;
}

pool pool_of(std::uint64_t total) {
  pool p;
  p.from = source::drm;
  p.total = total;
  return p;
}

// What is left of these values.
template <class T, class Record>
bool keeps_next_to(Record r, std::optional<T> Record::*member, std::type_identity_t<T> value) {
  const std::uint64_t before = present_bits(r);
  r.*member = value;
  const std::uint64_t bit = present_bits(r) & ~before;
  const drops d = drops_of(r);
  CHECK((d.fields & bit) == ((r.*member).has_value() ? 0 : bit));
  CHECK((present_bits(r) & before) == before);
  return (r.*member).has_value();
}

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("amounts of memory are at most 256 TiB") {
  for (const auto member :
       {&pool::total, &pool::free, &pool::used, &pool::reserved, &pool::usable, &pool::budget}) {
    CHECK(keeps(member, 0));
    CHECK(keeps(member, most_bytes));
    CHECK(!keeps(member, most_bytes + 1));
    CHECK(!keeps(member, UINT64_MAX));
  }
  for (const auto member :
       {&usage::used, &usage::peak_used, &usage::resident, &usage::committed, &usage::allocated,
        &usage::shared, &usage::purgeable, &usage::evicted, &usage::host_pool, &usage::budget}) {
    CHECK(keeps(member, most_bytes));
    CHECK(!keeps(member, most_bytes + 1));
  }
  for (const auto member : {&system_memory::total, &system_memory::available, &system_memory::limit,
                            &system_memory::limit_used}) {
    CHECK(keeps(member, most_bytes));
    CHECK(!keeps(member, most_bytes + 1));
  }
}

TEST_CASE("a host has RAM, and need have no swap") {
  CHECK(!keeps(&system_memory::total, 0, source::os));
  CHECK(keeps(&system_memory::available, 0, source::os));
  CHECK(keeps(&system_memory::swap_total, 0, source::os));
}

TEST_CASE("address space is at most 2^57 bytes") {
  constexpr std::uint64_t most = std::uint64_t{1} << 57;
  for (const auto member : {&system_memory::committed, &system_memory::commit_limit}) {
    CHECK(keeps(member, most));
    CHECK(!keeps(member, 2 * most));
  }
}

TEST_CASE("counters of traffic and time have no limit") {
  CHECK(keeps(&telemetry::pcie_rx_bytes, UINT64_MAX));
  CHECK(keeps(&telemetry::pcie_tx_bytes, UINT64_MAX));
  CHECK(keeps(&usage::busy_ns, UINT64_MAX));
  CHECK(keeps(&telemetry::window_ns, UINT64_MAX));
}

TEST_CASE("percentages are from 0 to 100") {
  for (const auto member : {&telemetry::gpu_busy_percent, &telemetry::memory_busy_percent,
                            &telemetry::encoder_busy_percent, &telemetry::decoder_busy_percent}) {
    CHECK(keeps(member, 0));
    CHECK(keeps(member, 100));
    CHECK(!keeps(member, 100.01));
    CHECK(!keeps(member, -0.01));
  }
  CHECK(keeps(&usage::busy_percent, 100));
  CHECK(!keeps(&usage::busy_percent, 101));
  CHECK(keeps(&system_memory::stall_percent, 100));
  CHECK(!keeps(&system_memory::stall_percent, 101));
}

TEST_CASE("fans exceed 100 % only where the driver documents it") {
  for (const source from : {source::nvml, source::nvidia_smi}) {
    CHECK(keeps(&telemetry::fan_percent, 104, from));
    CHECK(keeps(&telemetry::fan_percent, 1000, from));
    CHECK(!keeps(&telemetry::fan_percent, 1001, from));
    CHECK(keeps_metric(metric_id::fan_percent, 104, 1, from));
  }
  for (const source from : {source::amdgpu, source::amd_smi, source::rocm_smi, source::drm}) {
    CHECK(keeps(&telemetry::fan_percent, 100, from));
    CHECK(!keeps(&telemetry::fan_percent, 101, from));
    CHECK(!keeps_metric(metric_id::fan_percent, 101, 1, from));
  }
}

TEST_CASE("temperatures are from -100 to 250 C") {
  for (const auto member :
       {&telemetry::temperature_celsius, &telemetry::hotspot_celsius, &telemetry::memory_celsius}) {
    CHECK(keeps(member, -100));
    CHECK(keeps(member, 250));
    CHECK(!keeps(member, -101));
    CHECK(!keeps(member, 251));
  }
}

TEST_CASE("0 where a driver writes it for no value is none") {
  for (const source from : {source::nvml, source::nvidia_smi, source::amdgpu, source::amd_smi,
                            source::rocm_smi, source::i915, source::xe, source::macmon}) {
    CHECK(!keeps(&telemetry::temperature_celsius, 0, from));
    CHECK(!keeps(&telemetry::power_limit_watts, 0, from));
    CHECK(!keeps(&telemetry::memory_clock_mhz, 0, from));
    CHECK(!keeps_metric(metric_id::temperature_limit, 0, 1, from));
    CHECK(!keeps_metric(metric_id::clock_limit_mhz, 0, 1, from));
    CHECK(!keeps_metric(metric_id::voltage, 0, 1, from));
    CHECK(!keeps_metric(metric_id::power_limit_watts, 0, which::power_limit::max, from));
    CHECK(keeps_metric(metric_id::power_limit_watts, 0, which::power_limit::min, from));
  }
  for (const source from : {source::nvml, source::nvidia_smi}) {
    CHECK(!keeps(&telemetry::core_clock_mhz, 0, from));
  }
  for (const source from : {source::nvml, source::amdgpu, source::amd_smi, source::rocm_smi}) {
    CHECK(!keeps(&telemetry::power_watts, 0, from));
    CHECK(!keeps(&pool::total, 0, from));
  }
}

TEST_CASE("0 is a value where an idle device has it") {
  CHECK(keeps(&telemetry::core_clock_mhz, 0, source::amdgpu));
  CHECK(keeps(&telemetry::core_clock_mhz, 0, source::i915));
  CHECK(keeps(&telemetry::power_watts, 0, source::xe));
  CHECK(keeps(&telemetry::power_watts, 0, source::macmon));
  CHECK(keeps(&telemetry::fan_rpm, 0, source::nvml));
  CHECK(keeps(&telemetry::fan_percent, 0, source::amdgpu));
  CHECK(keeps(&telemetry::temperature_celsius, 0, source::simulated));
}

TEST_CASE("a total of 0 that stands for none leaves nothing of its pool") {
  pool p = pool_of(0);
  p.from = source::amdgpu;
  p.used = p.free = 0;
  CHECK(drops_of(p).fields == (pool_field::total | pool_field::used | pool_field::free));
  CHECK(present_bits(p) == 0);
}

TEST_CASE("power, energy, clocks and speeds are not negative and below a limit") {
  for (const auto member : {&telemetry::power_watts, &telemetry::power_limit_watts}) {
    CHECK(keeps(member, 10'000));
    CHECK(!keeps(member, 10'001));
    CHECK(!keeps(member, -1));
  }
  CHECK(keeps(&telemetry::energy_joules, 1e15));
  CHECK(!keeps(&telemetry::energy_joules, 1.2e15));
  CHECK(!keeps(&telemetry::energy_joules, -1));
  for (const auto member : {&telemetry::core_clock_mhz, &telemetry::memory_clock_mhz}) {
    CHECK(keeps(member, 50'000));
    CHECK(!keeps(member, UINT16_MAX));
    CHECK(!keeps(member, UINT32_MAX));
  }
  CHECK(keeps(&telemetry::fan_rpm, 30'000));
  CHECK(!keeps(&telemetry::fan_rpm, UINT16_MAX));
}

TEST_CASE("a PCIe link has a generation and one of the widths that exist") {
  for (const std::uint32_t lanes : {1, 2, 4, 8, 12, 16, 32}) {
    CHECK(keeps(&telemetry::pcie_width, lanes));
  }
  for (const std::uint32_t lanes : {0U, 3U, 17U, 63U, 255U, UINT32_MAX}) {
    CHECK(!keeps(&telemetry::pcie_width, lanes));
  }
  CHECK(keeps(&telemetry::pcie_generation, 1));
  CHECK(keeps(&telemetry::pcie_generation, 6));
  CHECK(!keeps(&telemetry::pcie_generation, 0));
  CHECK(!keeps(&telemetry::pcie_generation, 255));
}

TEST_CASE("counts of errors are below the maximum of their type") {
  for (const metric_id id :
       {metric_id::ecc_corrected, metric_id::ecc_uncorrected, metric_id::pcie_replays}) {
    CHECK(keeps_count(id, 0));
    CHECK(keeps_count(id, 4'000'000'000));
    CHECK(!keeps_count(id, UINT32_MAX));
    CHECK(!keeps_count(id, UINT64_MAX));
  }
  CHECK(keeps_count(metric_id::pcie_rx_bytes, UINT64_MAX));
}

TEST_CASE("of remapped rows two are numbers and two are flags") {
  const auto keeps = [](std::uint32_t instance, std::uint64_t value) {
    std::vector<metric> all{counted(source::nvml, metric_id::rows_remapped, instance, value)};
    drops d;
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
    pool p = pool_of(total);
    CHECK(drops_of(p).fields == pool_field::total);
    p = pool_of(total);
    p.from = source::simulated;
    CHECK(drops_of(p).fields == 0);
    system_memory m;
    m.from = source::os;
    m.total = total;
    CHECK(drops_of(m).fields == HMN_SYSTEM_MEMORY_HAS_TOTAL);
  }
  pool p = pool_of(mebibyte);
  CHECK(drops_of(p).fields == 0);
  p = pool_of(0);  // a device without memory of its own
  CHECK(drops_of(p).fields == 0);
}

TEST_CASE("a total is at most what a partition can have") {
  drops d;
  pool p = pool_of(10 * mebibyte);
  p.used = 1 * mebibyte;
  drop_implausible(p, d, 10 * mebibyte);
  CHECK(d.fields == 0);
  drop_implausible(p, d, 5 * mebibyte);
  CHECK(d.fields == (pool_field::total | pool_field::used));
  CHECK(!p.total);
  CHECK(!p.used);
}

TEST_CASE("shared and purgeable memory is at most what a process has, resident or not") {
  usage row;
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
  CHECK(!doubt_time(source::nvml, "a sample", 0, now));
  CHECK(!doubt_time(source::nvml, "a sample", now, now));
  CHECK(!doubt_time(source::nvml, "a sample", now + second, now));
  CHECK(doubt_time(source::nvml, "a sample", now + second + 1, now));
  const auto why = doubt_time(source::nvml, "a sample", UINT64_MAX, now);
  REQUIRE(why);
  CHECK(why->stated == reason::implausible);
}

TEST_CASE("an energy counter that jumps has no value until two readings agree") {
  using kept = std::vector<bool>;
  CHECK(energies_kept({1000, 1200, 1200, 9000}) == kept{true, true, true, true});
  CHECK(energies_kept({1000, 1e9, 1300}) == kept{true, false, true});
  CHECK(energies_kept({1000, 5, 300, 600}) == kept{true, false, true, true});
  CHECK(energies_kept({1000, 1e9, 5, 1e9, 1200}) == kept{true, false, false, false, true});
}

TEST_CASE("energy counters of a device are judged one by one") {
  energy_history seen{};
  constexpr std::uint64_t second = 1'000'000'000;
  for (const double joules : {1000.0, 1100.0}) {
    std::vector<metric> all{
        measured(source::xe, metric_id::energy_joules, which::power_reading::package, joules),
        measured(source::xe, metric_id::energy_joules, which::power_reading::board, 1e6 - joules)};
    drops d;
    drop_jumps(all, seen, joules == 1000 ? second : 2 * second, d);
    CHECK(all.size() == (joules == 1000 ? 2 : 1));
    CHECK(all[0].instance == which::power_reading::package);
  }
}

TEST_CASE("what is no number is no value") {
  CHECK(!keeps(&telemetry::temperature_celsius, infinite));
  CHECK(!keeps(&telemetry::temperature_celsius, -infinite));
  telemetry t;
  t.power_watts = std::nan("");
  CHECK(drops_of(t).fields == telemetry_field::power_watts);
  CHECK(!t.power_watts);
  CHECK(!keeps_metric(metric_id::voltage, std::nan("")));
  CHECK(!keeps_metric(metric_id::voltage, infinite));
}

TEST_CASE("parts of a pool are at most its total") {
  for (const auto member : {&pool::free, &pool::used, &pool::reserved, &pool::usable}) {
    CHECK(keeps_next_to(pool_of(8 * mebibyte), member, 8 * mebibyte));
    CHECK(!keeps_next_to(pool_of(8 * mebibyte), member, 8 * mebibyte + 1));
  }
  CHECK(keeps_next_to(pool_of(8 * mebibyte), &pool::budget, 9 * mebibyte));
  CHECK(keeps_next_to(pool_of(8 * mebibyte), &pool::unattributed, 9 * mebibyte));
  pool other_way;
  other_way.free = 12;
  CHECK(keeps_next_to(other_way, &pool::used, 12));
}

TEST_CASE("a total that cannot be makes its parts void, which came with it") {
  pool p = pool_of(std::uint64_t{1} << 60);
  p.free = 12;
  p.budget = 13;
  CHECK(drops_of(p).fields == (pool_field::total | pool_field::free));
  CHECK(!p.total);
  CHECK(!p.free);
  CHECK(p.budget == 13U);
  system_memory m;
  m.total = std::uint64_t{1} << 60;
  m.available = 12;
  m.swap_total = 8;
  m.swap_free = 4;
  CHECK(drops_of(m).fields == (HMN_SYSTEM_MEMORY_HAS_TOTAL | HMN_SYSTEM_MEMORY_HAS_AVAILABLE));
  CHECK(m.swap_free == 4U);
}

TEST_CASE("free and used are together at most the total, rounded to MiB") {
  pool p = pool_of(100 * mebibyte);
  p.free = 60 * mebibyte;
  CHECK(keeps_next_to(p, &pool::used, 40 * mebibyte));
  CHECK(keeps_next_to(p, &pool::used, 42 * mebibyte));
  p.used = 42 * mebibyte + 1;
  CHECK(drops_of(p).fields == (pool_field::used | pool_field::free));
  CHECK(!p.used);
  CHECK(!p.free);
  CHECK(p.total == 100 * mebibyte);
}

TEST_CASE("free memory that is not reported is missing for the same reason as used") {
  pool p = pool_of(8 * mebibyte);
  p.used = 9 * mebibyte;
  CHECK(drops_of(p).fields == (pool_field::used | pool_field::free));
}

TEST_CASE("a process uses at most what the device has") {
  usage row;
  row.used = row.allocated = 9;
  row.peak_used = 8;
  row.host_pool = 100;
  drops d;
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
  for (const source from : {source::amdgpu, source::kfd, source::pdh, source::metal}) {
    CAPTURE(from);
    usage row;
    row.from = from;
    row.used = row.resident = 9;
    row.accounting = accounting::resident;
    drops d;
    drop_implausible(row, 8, d);
    CHECK(row.used.has_value() == (from == source::metal));
    CHECK(row.resident.has_value() == (from == source::metal));
    row.used = 9;
    row.accounting = accounting::committed;
    drop_implausible(row, 8, d);
    CHECK(row.used.has_value() == (from != source::kfd));
  }
}

TEST_CASE("a load that cannot be takes its window with it") {
  usage row;
  row.busy_percent = 101;
  row.window_ns = 5;
  CHECK(drops_of(row).count == 1);
  CHECK(!row.busy_percent);
  CHECK(!row.window_ns);
}

TEST_CASE("available memory and free swap are at most their totals") {
  system_memory m;
  m.total = 8 * mebibyte;
  m.swap_total = 4;
  CHECK(keeps_next_to(m, &system_memory::available, 8 * mebibyte));
  CHECK(!keeps_next_to(m, &system_memory::available, 8 * mebibyte + 1));
  CHECK(keeps_next_to(m, &system_memory::swap_free, 4));
  CHECK(!keeps_next_to(m, &system_memory::swap_free, 5));
  system_memory no_swap_total;
  no_swap_total.total = 8 * mebibyte;
  CHECK(keeps_next_to(no_swap_total, &system_memory::swap_free, 9));
}

TEST_CASE("metrics have the limits of their unit") {
  CHECK(keeps_metric(metric_id::engine_percent, 100));
  CHECK(!keeps_metric(metric_id::engine_percent, 101));
  CHECK(keeps_metric(metric_id::temperature_shutdown, 250));
  CHECK(!keeps_metric(metric_id::temperature, -101));
  CHECK(!keeps_metric(metric_id::temperature_limit, 251));
  CHECK(!keeps_metric(metric_id::power_watts, -1));
  CHECK(!keeps_metric(metric_id::power_limit_watts, 10'001));
  CHECK(!keeps_metric(metric_id::energy_joules, -1));
  CHECK(!keeps_metric(metric_id::clock_mhz, 50'001));
  CHECK(!keeps_metric(metric_id::clock_limit_mhz, -1));
  CHECK(!keeps_metric(metric_id::fan_rpm, 30'001));
  CHECK(keeps_metric(metric_id::voltage, 1000));
  CHECK(!keeps_metric(metric_id::voltage, 1001));
  std::vector<metric> counts{counted(source::drm, metric_id::pcie_rx_bytes, 0, UINT64_MAX)};
  drops d;
  drop_implausible(counts, d);
  CHECK(counts.size() == 1);
}

TEST_CASE("the reason names the field, its value and the limit") {
  pool p = pool_of(8 * mebibyte);
  p.free = 12 * mebibyte;
  CHECK(drops_of(p).last.message.view() ==
        "the driver reported free_bytes 12582912, above the total of 8388608: implausible");
  telemetry t;
  t.gpu_busy_percent = 100.5;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported gpu_busy_percent 100.5, above 100: implausible");
  t.temperature_celsius = 0;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported temperature_celsius 0, which stands for no value: implausible");
  t.temperature_celsius = -273;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported temperature_celsius -273, below -100: implausible");
  std::vector<metric> all{measured(source::drm, metric_id::power_watts, 1, 2e5)};
  drops d;
  drop_implausible(all, d);
  CHECK(d.last.message.view() ==
        "the driver reported power_watts 200000, above 10000: implausible");
  t.pcie_width = 3;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported pcie_width 3, which no link has: implausible");
  energy_seen seen{{1000, 1}, {}};
  const auto back = seen.doubt(source::nvml, "energy_joules", 5, 1);
  REQUIRE(back);
  CHECK(back->message.view() ==
        "the driver reported energy_joules 5, below what follows the last reading, 1000: "
        "implausible");
  usage row;
  row.used = 9;
  drop_implausible(row, 8, d);
  CHECK(d.last.message.view() ==
        "the driver reported used_bytes 9, above the device's 8: implausible");
}
