// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recordings of macmon, one of each schema, yield the values of their index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <span>

#include "machine.hpp"

using namespace hmn;
using namespace hmn::macmon;
using macmon_test::Machine;
using macmon_test::PlainReading;
using Json = nlohmann::json;
using recorded::Entry;

namespace {

// The documentation's examples have comments and commas that the program does not print.
std::string strip_annotations(const Entry& entry) {
  std::string plain;
  bool is_comment = false;
  const std::string text = entry.text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    is_comment = text[i] != '\n' && (is_comment || text.compare(i, 2, "//") == 0);
    if (!is_comment) plain += text[i];
  }
  if (entry.category != "annotated") return text;
  std::string strict;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::size_t next = plain.find_first_not_of(" \n", i + 1);
    const bool is_last =
        plain[i] == ',' && next != plain.npos && (plain[next] == '}' || plain[next] == ']');
    if (!is_last) strict += plain[i];
  }
  return strict;
}

void check(const Json& expected, const char* key, const FieldAmount& amount) {
  CAPTURE(key);
  if (!expected.contains(key)) return;
  REQUIRE(amount.has_value());
  CHECK(std::fabs(amount.number - expected.at(key).get<double>()) < 1e-6);
}

void check_sample(const Json& expected, const Sample& sample) {
  check(expected, "gpu_freq_mhz", sample[Field::gpu_clock]);
  check(expected, "gpu_util_pct", sample[Field::gpu_effective]);
  check(expected, "gpu_active_pct", sample[Field::gpu_active]);
  check(expected, "gpu_power_w", sample[Field::gpu_power]);
  check(expected, "sys_power_w", sample[Field::board_power]);
  check(expected, "gpu_temp_c", sample[Field::gpu_temperature]);
  CHECK(sample[Field::memory_total].whole == expected.at("ram_total_bytes").get<std::uint64_t>());
}

// Keys as JSON pointers, and the metric that each becomes.
struct KnownKey {
  const char* pointer;
  MetricId id;
  std::uint32_t instance;
};
constexpr KnownKey known_keys[] = {
    {"/gpu_active_ratio", MetricId::engine_percent, metric_instance::engine::graphics},
    {"/gpu_usage_ratio", MetricId::engine_percent, metric_instance::engine::graphics},
    {"/gpu_scaled_ratio", MetricId::engine_percent, metric_instance::engine::graphics},
    {"/gpu_usage/1", MetricId::engine_percent, metric_instance::engine::graphics},
    {"/gpu_usage/0", MetricId::clock_mhz, metric_instance::clock::core},
    {"/gpu_freq_mhz", MetricId::clock_mhz, metric_instance::clock::core},
    {"/gpu_power", MetricId::power_watts, metric_instance::power_reading::average},
    {"/all_power", MetricId::power_watts, metric_instance::power_reading::package},
    {"/sys_power", MetricId::power_watts, metric_instance::power_reading::board},
    {"/ram_power", MetricId::power_watts, metric_instance::power_reading::memory},
    {"/temp/gpu_temp_avg", MetricId::temperature, metric_instance::sensor::core},
    {"/fans/0/rpm", MetricId::fan_rpm, 1},
    {"/fans/1/rpm", MetricId::fan_rpm, 2},
};

// Checks that the metrics have the key's value, or a diagnostic with its reason.
void check_key(const KnownKey& key, std::span<const Metric> all, const PlainReading& reading) {
  CAPTURE(key.pointer);
  for (const Metric& metric : all) {
    if (metric.id == key.id && metric.instance == key.instance) return;
  }
  bool has_reason = false;
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    const bool is_own = diagnostic.subject == subject::metrics &&
                        missing_metric_id(diagnostic.field) == static_cast<std::uint32_t>(key.id);
    has_reason = has_reason ||
                 (is_own && diagnostic.failure.message.view().find(" is ") != std::string::npos);
  }
  CHECK(has_reason);
}

// Returns the number of keys that the sample has.
int check_keys(const Json& printed) {
  Machine machine;
  machine.print(printed.dump());
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  std::vector<Metric> all;
  REQUIRE(machine.source().metrics(0, true, all, reading));
  int count = 0;
  for (const KnownKey& key : known_keys) {
    if (!printed.contains(Json::json_pointer(key.pointer))) continue;
    check_key(key, all, reading);
    ++count;
  }
  PoolList memory;
  REQUIRE(machine.source().memory(0, memory, reading));
  const bool has_total = memory.find(PoolKind::unified)->total.has_value();
  CHECK((has_total || reading.find("\"ram_total\" is") != nullptr));
  return count;
}

Json last_sample(const Entry& entry) {
  std::string text = strip_annotations(entry);
  if (entry.expected.contains("samples")) {
    text.resize(text.find_last_not_of('\n') + 1);
    text = text.substr(text.rfind('\n') + 1);
  }
  return Json::parse(text);
}

}  // namespace

TEST_CASE("every recorded key yields a value or a reason, even if its value is unusable") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("macmon-json/")) {
    CAPTURE(entry.file);
    const Json printed = last_sample(entry);
    count += check_keys(printed);
    for (const Json& useless : {Json(nullptr), Json(-1), Json(1e12), Json("much")}) {
      CAPTURE(useless.dump());
      Json lie = printed;
      for (const KnownKey& key : known_keys) {
        const Json::json_pointer pointer(key.pointer);
        if (lie.contains(pointer)) lie[pointer] = useless;
      }
      if (useless.is_string() || useless.is_null()) lie["memory"]["ram_total"] = useless;
      check_keys(lie);
    }
  }
  CHECK(count > 35);
}

TEST_CASE("recorded samples of macmon 0.5 to 0.8 yield the values of their index") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("macmon-json/")) {
    CAPTURE(entry.file);
    const Answer answer = read_answer(strip_annotations(entry));
    REQUIRE(answer.last);
    CHECK(answer.stray.empty());
    check_sample(
        entry.expected.contains("samples") ? entry.expected.at("samples").back() : entry.expected,
        *answer.last);
    ++count;
  }
  CHECK(count == 7);
}

TEST_CASE("the first sample of a recording with several is read") {
  const Entry entry = recorded::find_one("macmon-json/idx-24gb-pipe-two-samples-v0.5.jsonl");
  const std::string text = entry.text();
  const std::string first = text.substr(0, text.find('\n'));
  const Answer answer = read_answer(first);
  REQUIRE(answer.last);
  check_sample(entry.expected.at("samples").front(), *answer.last);
}

TEST_CASE("a recording of an M1 Max from macmon 0.8 is read completely") {
  const Entry entry = recorded::find_one("macmon-json/idx-m1max-v0.8.0.jsonl");
  Machine machine;
  machine.print(entry.text());
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(std::fabs(*telemetry.gpu_busy_percent - entry.expected.at("gpu_active_pct").get<double>()) <
        1e-6);
  CHECK(telemetry.power_watts == entry.expected.at("gpu_power_w").get<double>());
  CHECK(telemetry.core_clock_mhz == entry.expected.at("gpu_freq_mhz").get<std::uint32_t>());
  PoolList all;
  REQUIRE(machine.source().memory(0, all, reading));
  CHECK(all.find(PoolKind::unified)->total ==
        entry.expected.at("ram_total_bytes").get<std::uint64_t>());
  std::vector<Metric> metrics;
  REQUIRE(machine.source().metrics(0, true, metrics, reading));
  int fans = 0;
  for (const Metric& metric : metrics) fans += metric.id == MetricId::fan_rpm ? 1 : 0;
  CHECK(fans == 2);
}
