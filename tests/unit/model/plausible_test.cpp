// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/plausible.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "model/record.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40;
constexpr std::uint64_t most_bytes = 256 * tebibyte;
constexpr std::uint64_t mebibyte = 1 << 20;

struct drops {
  void operator()(std::uint32_t field, const failure& why) {
    fields |= field;
    ++count;
    last = why;
  }
  std::uint32_t fields = 0;
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

// Whether a record with nothing but this value keeps it.
template <class Record, class T>
bool keeps(std::optional<T> Record::*member, std::type_identity_t<T> value) {
  Record r;
  r.from = source::drm;
  r.*member = value;
  const std::uint32_t bit = present_bits(r);
  const drops d = drops_of(r);
  const bool is_kept = (r.*member).has_value();
  CHECK(d.count == (is_kept ? 0 : 1));
  CHECK((d.fields & bit) == (is_kept ? 0 : bit));
  if (is_kept) CHECK(r.*member == value);
  if (!is_kept) CHECK(d.last.code == status::backend);
  if (!is_kept) CHECK(d.last.from == source::drm);
  return is_kept;
}

bool keeps_metric(metric_id id, double value) {
  std::vector<metric> all{measured(source::drm, id, 1, value)};
  drops d;
  drop_implausible(all, d);
  CHECK(d.fields == (all.empty() ? static_cast<std::uint32_t>(id) : 0));
  CHECK(d.last.from == (all.empty() ? source::drm : source::none));
  return !all.empty();
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
  const std::uint32_t before = present_bits(r);
  r.*member = value;
  const std::uint32_t bit = present_bits(r) & ~before;
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

TEST_CASE("address space is at most 2^57 bytes") {
  constexpr std::uint64_t most = std::uint64_t{1} << 57;
  for (const auto member : {&system_memory::committed, &system_memory::commit_limit}) {
    CHECK(keeps(member, most));
    CHECK(!keeps(member, 2 * most));
  }
}

TEST_CASE("counters have no limit") {
  CHECK(keeps(&telemetry::pcie_rx_bytes, UINT64_MAX));
  CHECK(keeps(&telemetry::pcie_tx_bytes, UINT64_MAX));
  CHECK(keeps(&usage::busy_ns, UINT64_MAX));
  CHECK(keeps(&telemetry::window_ns, UINT64_MAX));
}

TEST_CASE("percentages are from 0 to 100, and fans may exceed them") {
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
  CHECK(keeps(&telemetry::fan_percent, 104));
  CHECK(keeps(&telemetry::fan_percent, 1000));
  CHECK(!keeps(&telemetry::fan_percent, 1001));
}

TEST_CASE("temperatures are from -100 to 300 C") {
  for (const auto member :
       {&telemetry::temperature_celsius, &telemetry::hotspot_celsius, &telemetry::memory_celsius}) {
    CHECK(keeps(member, -100));
    CHECK(keeps(member, 300));
    CHECK(!keeps(member, -101));
    CHECK(!keeps(member, 301));
  }
}

TEST_CASE("power, energy, clocks and speeds are not negative and below a limit") {
  for (const auto member : {&telemetry::power_watts, &telemetry::power_limit_watts}) {
    CHECK(keeps(member, 0));
    CHECK(keeps(member, 100'000));
    CHECK(!keeps(member, 100'001));
    CHECK(!keeps(member, -1));
  }
  CHECK(keeps(&telemetry::energy_joules, 1e15));
  CHECK(!keeps(&telemetry::energy_joules, 1.1e15));
  CHECK(!keeps(&telemetry::energy_joules, -1));
  for (const auto member :
       {&telemetry::core_clock_mhz, &telemetry::memory_clock_mhz, &telemetry::fan_rpm}) {
    CHECK(keeps(member, 0));
    CHECK(keeps(member, 100'000));
    CHECK(!keeps(member, 100'001));
    CHECK(!keeps(member, UINT32_MAX));
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
    CHECK(keeps_next_to(pool_of(8), member, 8));
    CHECK(!keeps_next_to(pool_of(8), member, 9));
  }
  CHECK(keeps_next_to(pool_of(8), &pool::budget, 9));
  CHECK(keeps_next_to(pool_of(8), &pool::unattributed, 9));
  pool other_way;
  other_way.free = 12;
  CHECK(keeps_next_to(other_way, &pool::used, 12));
}

TEST_CASE("a total that cannot be bounds nothing") {
  pool p = pool_of(std::uint64_t{1} << 60);
  p.free = 12;
  CHECK(drops_of(p).fields == pool_field::total);
  CHECK(!p.total);
  CHECK(p.free == 12U);
}

TEST_CASE("free and used are together at most the total, rounded to MiB") {
  pool p = pool_of(100 * mebibyte);
  p.free = 60 * mebibyte;
  CHECK(keeps_next_to(p, &pool::used, 40 * mebibyte));
  CHECK(keeps_next_to(p, &pool::used, 42 * mebibyte));
  CHECK(!keeps_next_to(p, &pool::used, 42 * mebibyte + 1));
}

TEST_CASE("free memory that is not reported is missing for the same reason as used") {
  pool p = pool_of(8);
  p.used = 9;
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
  m.total = 8;
  m.swap_total = 4;
  CHECK(keeps_next_to(m, &system_memory::available, 8));
  CHECK(!keeps_next_to(m, &system_memory::available, 9));
  CHECK(keeps_next_to(m, &system_memory::swap_free, 4));
  CHECK(!keeps_next_to(m, &system_memory::swap_free, 5));
  system_memory no_swap_total;
  no_swap_total.total = 8;
  CHECK(keeps_next_to(no_swap_total, &system_memory::swap_free, 9));
}

TEST_CASE("metrics have the limits of their unit") {
  CHECK(keeps_metric(metric_id::engine_percent, 100));
  CHECK(!keeps_metric(metric_id::engine_percent, 101));
  CHECK(keeps_metric(metric_id::fan_percent, 1000));
  CHECK(!keeps_metric(metric_id::fan_percent, 1001));
  CHECK(keeps_metric(metric_id::temperature_shutdown, 300));
  CHECK(!keeps_metric(metric_id::temperature, -101));
  CHECK(!keeps_metric(metric_id::temperature_limit, 301));
  CHECK(!keeps_metric(metric_id::power_watts, -1));
  CHECK(!keeps_metric(metric_id::power_limit_watts, 100'001));
  CHECK(!keeps_metric(metric_id::energy_joules, -1));
  CHECK(!keeps_metric(metric_id::clock_mhz, 100'001));
  CHECK(!keeps_metric(metric_id::clock_limit_mhz, -1));
  CHECK(!keeps_metric(metric_id::fan_rpm, 100'001));
  CHECK(keeps_metric(metric_id::voltage, 1000));
  CHECK(!keeps_metric(metric_id::voltage, 1001));
  std::vector<metric> counts{counted(source::drm, metric_id::pcie_rx_bytes, 0, UINT64_MAX)};
  drops d;
  drop_implausible(counts, d);
  CHECK(counts.size() == 1);
}

TEST_CASE("the reason names the field, its value and the limit") {
  pool p = pool_of(8);
  p.free = 12;
  CHECK(drops_of(p).last.message.view() ==
        "the driver reported free_bytes 12, above the total of 8: implausible");
  telemetry t;
  t.gpu_busy_percent = 100.5;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported gpu_busy_percent 100.5, above 100: implausible");
  t.temperature_celsius = -273;
  CHECK(drops_of(t).last.message.view() ==
        "the driver reported temperature_celsius -273, below -100: implausible");
  std::vector<metric> all{measured(source::drm, metric_id::power_watts, 1, 2e5)};
  drops d;
  drop_implausible(all, d);
  CHECK(d.last.message.view() ==
        "the driver reported power_watts 200000, above 100000: implausible");
  usage row;
  row.used = 9;
  drop_implausible(row, 8, d);
  CHECK(d.last.message.view() ==
        "the driver reported used_bytes 9, above the device's 8: implausible");
}
