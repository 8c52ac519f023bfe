// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recordings of macmon, one of each of its schemas, yield what is in their index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <span>

#include "machine.hpp"

using namespace hmn;
using namespace hmn::macmon;
using macmon_test::Machine;
using macmon_test::PlainReading;
using Record = nlohmann::json;
using recorded::Entry;

namespace {

// The documentation's examples have comments and commas that the program does not print.
std::string as_printed(const Entry& e) {
  std::string plain;
  bool is_comment = false;
  const std::string text = e.text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    is_comment = text[i] != '\n' && (is_comment || text.compare(i, 2, "//") == 0);
    if (!is_comment) plain += text[i];
  }
  if (e.category != "annotated") return text;
  std::string strict;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t next = plain.find_first_not_of(" \n", i + 1);
    const bool is_last =
        plain[i] == ',' && next != plain.npos && (plain[next] == '}' || plain[next] == ']');
    if (!is_last) strict += plain[i];
  }
  return strict;
}

void check(const Record& wanted, const char* key, const FieldAmount& f) {
  CAPTURE(key);
  if (!wanted.contains(key)) return;
  REQUIRE(f.has_value());
  CHECK(std::fabs(f.number - wanted.at(key).get<double>()) < 1e-6);
}

void check_sample(const Record& wanted, const Sample& s) {
  check(wanted, "gpu_freq_mhz", s[Field::gpu_clock]);
  check(wanted, "gpu_util_pct", s[Field::gpu_effective]);
  check(wanted, "gpu_active_pct", s[Field::gpu_active]);
  check(wanted, "gpu_power_w", s[Field::gpu_power]);
  check(wanted, "sys_power_w", s[Field::board_power]);
  check(wanted, "gpu_temp_c", s[Field::gpu_temperature]);
  CHECK(s[Field::memory_total].whole == wanted.at("ram_total_bytes").get<std::uint64_t>());
}

// Keys as JSON pointers, and what becomes of them.
struct KnownKey {
  const char* at;
  MetricId is;
  std::uint32_t instance;
};
constexpr KnownKey known_keys[] = {
    {"/gpu_active_ratio", MetricId::engine_percent, which::engine::graphics},
    {"/gpu_usage_ratio", MetricId::engine_percent, which::engine::graphics},
    {"/gpu_scaled_ratio", MetricId::engine_percent, which::engine::graphics},
    {"/gpu_usage/1", MetricId::engine_percent, which::engine::graphics},
    {"/gpu_usage/0", MetricId::clock_mhz, which::clock::core},
    {"/gpu_freq_mhz", MetricId::clock_mhz, which::clock::core},
    {"/gpu_power", MetricId::power_watts, which::power_reading::average},
    {"/all_power", MetricId::power_watts, which::power_reading::package},
    {"/sys_power", MetricId::power_watts, which::power_reading::board},
    {"/ram_power", MetricId::power_watts, which::power_reading::memory},
    {"/temp/gpu_temp_avg", MetricId::temperature, which::sensor::core},
    {"/fans/0/rpm", MetricId::fan_rpm, 1},
    {"/fans/1/rpm", MetricId::fan_rpm, 2},
};

// The value, or the failed reason of the key, in metrics.
void check_key(const KnownKey& k, std::span<const Metric> all, const PlainReading& r) {
  CAPTURE(k.at);
  for (const Metric& m : all) {
    if (m.id == k.is && m.instance == k.instance) return;
  }
  bool has_reason = false;
  for (const Diagnostic& d : r.diagnostics) {
    const bool is_its =
        d.about == subject::metrics && id_of_missing(d.field) == static_cast<std::uint32_t>(k.is);
    has_reason = has_reason || (is_its && d.why.message.view().find(" is ") != std::string::npos);
  }
  CHECK(has_reason);
}

// Returns the number of keys that the sample has.
int check_keys(const Record& printed) {
  Machine m;
  m.print(printed.dump());
  PlainReading r;
  REQUIRE(m.devices(r));
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, true, all, r));
  int count = 0;
  for (const KnownKey& k : known_keys) {
    if (!printed.contains(Record::json_pointer(k.at))) continue;
    check_key(k, all, r);
    ++count;
  }
  Pools memory;
  REQUIRE(m.source().memory(0, memory, r));
  const bool has_total = memory.find(PoolKind::unified)->total.has_value();
  CHECK((has_total || r.find("\"ram_total\" is") != nullptr));
  return count;
}

Record last_sample(const Entry& e) {
  std::string text = as_printed(e);
  if (e.expected.contains("samples")) {
    text.resize(text.find_last_not_of('\n') + 1);
    text = text.substr(text.rfind('\n') + 1);
  }
  return Record::parse(text);
}

}  // namespace

TEST_CASE("each recorded key ends in a value or in a reason, also where it is of no use") {
  int count = 0;
  for (const Entry& e : recorded::all("macmon-json/")) {
    CAPTURE(e.file);
    const Record printed = last_sample(e);
    count += check_keys(printed);
    for (const Record& useless : {Record(nullptr), Record(-1), Record(1e12), Record("much")}) {
      CAPTURE(useless.dump());
      Record lie = printed;
      for (const KnownKey& k : known_keys) {
        const Record::json_pointer at(k.at);
        if (lie.contains(at)) lie[at] = useless;
      }
      if (useless.is_string() || useless.is_null()) lie["memory"]["ram_total"] = useless;
      check_keys(lie);
    }
  }
  CHECK(count > 35);
}

TEST_CASE("recorded samples of macmon, from 0.5 to 0.8") {
  int count = 0;
  for (const Entry& e : recorded::all("macmon-json/")) {
    CAPTURE(e.file);
    const Answer a = read_answer(as_printed(e));
    REQUIRE(a.last);
    CHECK(a.stray.empty());
    check_sample(e.expected.contains("samples") ? e.expected.at("samples").back() : e.expected,
                 *a.last);
    ++count;
  }
  CHECK(count == 7);
}

TEST_CASE("each sample of a recording that has several") {
  const Entry e = recorded::one("macmon-json/idx-24gb-pipe-two-samples-v0.5.jsonl");
  const std::string text = e.text();
  const std::string first = text.substr(0, text.find('\n'));
  const Answer a = read_answer(first);
  REQUIRE(a.last);
  check_sample(e.expected.at("samples").front(), *a.last);
}

TEST_CASE("an M1 Max through macmon 0.8") {
  const Entry e = recorded::one("macmon-json/idx-m1max-v0.8.0.jsonl");
  Machine m;
  m.print(e.text());
  PlainReading r;
  REQUIRE(m.devices(r));
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(std::fabs(*t.gpu_busy_percent - e.expected.at("gpu_active_pct").get<double>()) < 1e-6);
  CHECK(t.power_watts == e.expected.at("gpu_power_w").get<double>());
  CHECK(t.core_clock_mhz == e.expected.at("gpu_freq_mhz").get<std::uint32_t>());
  Pools all;
  REQUIRE(m.source().memory(0, all, r));
  CHECK(all.find(PoolKind::unified)->total ==
        e.expected.at("ram_total_bytes").get<std::uint64_t>());
  std::vector<Metric> metrics;
  REQUIRE(m.source().metrics(0, true, metrics, r));
  int fans = 0;
  for (const Metric& one : metrics) fans += one.id == MetricId::fan_rpm ? 1 : 0;
  CHECK(fans == 2);
}
