// SPDX-License-Identifier: MIT OR Apache-2.0
#include "observer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "abi/support/keys.h"

namespace lies_test {
namespace {

using nlohmann::json;

enum class type { u32, u64, real };

struct ValueOf {
  const char* key;
  hmn_flags subject;
  hmn_flags bit;
  std::size_t offset;
  type is;
};

constexpr ValueOf values[] = {
    {"total_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL, offsetof(hmn_pool, total_bytes),
     type::u64},
    {"used_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_USED, offsetof(hmn_pool, used_bytes), type::u64},
    {"free_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_FREE, offsetof(hmn_pool, free_bytes), type::u64},
    {"reserved_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_RESERVED, offsetof(hmn_pool, reserved_bytes),
     type::u64},
    {"unattributed_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_UNATTRIBUTED,
     offsetof(hmn_pool, unattributed_bytes), type::u64},
    {"budget_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_BUDGET, offsetof(hmn_pool, budget_bytes),
     type::u64},
    {"self.used_bytes", HMN_COLLECT_SELF, HMN_USAGE_HAS_USED, offsetof(hmn_usage, used_bytes),
     type::u64},
    {"self.host_pool_bytes", HMN_COLLECT_SELF, HMN_USAGE_HAS_HOST_POOL,
     offsetof(hmn_usage, host_pool_bytes), type::u64},
    {"gpu_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_GPU_BUSY,
     offsetof(hmn_telemetry, gpu_busy_percent), type::real},
    {"temperature_celsius", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE,
     offsetof(hmn_telemetry, temperature_celsius), type::real},
    {"power_watts", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER,
     offsetof(hmn_telemetry, power_watts), type::real},
    {"power_limit_watts", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER_LIMIT,
     offsetof(hmn_telemetry, power_limit_watts), type::real},
    {"core_clock_mhz", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_CORE_CLOCK,
     offsetof(hmn_telemetry, core_clock_mhz), type::u32},
    {"fan_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT,
     offsetof(hmn_telemetry, fan_percent), type::u32},
    {"memory_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_BUSY,
     offsetof(hmn_telemetry, memory_busy_percent), type::real},
    {"encoder_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENCODER_BUSY,
     offsetof(hmn_telemetry, encoder_busy_percent), type::real},
    {"decoder_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_DECODER_BUSY,
     offsetof(hmn_telemetry, decoder_busy_percent), type::real},
    {"hotspot_celsius", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_HOTSPOT,
     offsetof(hmn_telemetry, hotspot_celsius), type::real},
    {"memory_celsius", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE,
     offsetof(hmn_telemetry, memory_celsius), type::real},
    {"energy_joules", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY,
     offsetof(hmn_telemetry, energy_joules), type::real},
    {"memory_clock_mhz", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
     offsetof(hmn_telemetry, memory_clock_mhz), type::u32},
    {"fan_rpm", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_RPM, offsetof(hmn_telemetry, fan_rpm),
     type::u32},
    {"pcie_generation", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_GENERATION,
     offsetof(hmn_telemetry, pcie_generation), type::u32},
    {"pcie_width", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_WIDTH,
     offsetof(hmn_telemetry, pcie_width), type::u32},
    {"throttle", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_THROTTLE,
     offsetof(hmn_telemetry, throttle), type::u32},
    {"p_state", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_P_STATE, offsetof(hmn_telemetry, p_state),
     type::u32},
};

const ValueOf& find(const std::string& key) {
  for (const ValueOf& v : values) {
    if (key == v.key) return v;
  }
  FAIL("unknown key " << key);
  return values[0];
}

// Kind of the pool that a key such as "host:used_bytes" begins with, and where its colon is.
std::pair<std::uint32_t, std::size_t> pool_kind_of(const std::string& key) {
  const std::size_t colon = key.find(':');
  const std::string kind = key.substr(0, colon);
  if (kind == "host") return {HMN_POOL_HOST, colon};
  REQUIRE(kind == "vram_visible");
  return {HMN_POOL_VRAM_VISIBLE, colon};
}

// Number of the metric that a key such as "clock_mhz/sm" begins with.
std::uint32_t id_of(const std::string& key) {
  const std::string name = key.substr(0, key.find('/'));
  for (std::uint32_t id = 1; id < 100; ++id) {
    if (name == hmn_metric_name(id)) return id;
  }
  FAIL("unknown metric " << name);
  return 0;
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

template <class T>
double member(const void* record, std::size_t offset) {
  T v;
  std::memcpy(&v, static_cast<const char*>(record) + offset, sizeof v);
  return static_cast<double>(v);
}

double number_at(const void* record, const ValueOf& v) {
  if (v.is == type::u32) return member<std::uint32_t>(record, v.offset);
  if (v.is == type::u64) return member<std::uint64_t>(record, v.offset);
  return member<double>(record, v.offset);
}

bool is_main_pool(const json& p) {
  return p.at("device_index") == 0 && p.at("is_main") == true;
}

// The value in the document; null if it is absent.
json in_json(const json& document, const ValueOf& v) {
  const json& device = document.at("devices").at(0);
  if (v.subject != HMN_COLLECT_POOLS) {
    const bool is_self = v.subject == HMN_COLLECT_SELF;
    const json& record = device.at(is_self ? "self" : "telemetry");
    return record.is_null() ? record : record.at(is_self ? v.key + 5 : v.key);
  }
  for (const json& p : document.at("pools")) {
    if (is_main_pool(p)) return p.at(v.key);
  }
  return nullptr;
}

}  // namespace

Observer::Observer(std::uint64_t backends_off, std::uint32_t deadline_ms) {
  auto options = sized<hmn_context_options>();
  options.deadline_ns = HMN_MILLISECONDS(deadline_ms);
  options.stale_ns = HMN_NS_IMMEDIATE;
  options.backends_off = backends_off;
  REQUIRE(hmn_context_create(&options, &context_, nullptr) == HMN_OK);
}

const json& Observer::document() const {
  if (document_) return *document_;
  std::uint32_t needed = 0;
  REQUIRE(hmn_format_json(snapshot_, 0, nullptr, 0, &needed, nullptr) == HMN_OK);
  std::string text(needed, '\0');
  REQUIRE(hmn_format_json(snapshot_, 0, text.data(), needed, &needed, nullptr) == HMN_OK);
  document_ = std::make_unique<json>(json::parse(text.c_str()));
  return *document_;
}

Observer::~Observer() {
  hmn_snapshot_destroy(snapshot_);
  hmn_context_destroy(context_);
}

void Observer::set(std::uint32_t which, const std::string& path) const {
  REQUIRE(hmn_context_set_path(context_, which, path.c_str(), nullptr) == HMN_OK);
}

void Observer::take(hmn_flags more) {
  hmn_snapshot_destroy(snapshot_);
  snapshot_ = nullptr;
  document_.reset();
  auto options = sized<hmn_snapshot_options>();
  options.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY |
                    HMN_COLLECT_METRICS | HMN_COLLECT_PROCESSES | more;
  REQUIRE(hmn_snapshot_take(context_, &options, &snapshot_, nullptr) == HMN_OK);
}

std::uint32_t Observer::devices() const {
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  CHECK(document().at("devices").size() == info.device_count);
  return info.device_count;
}

bool Observer::is_partial() const {
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  return (info.notes & HMN_NOTE_PARTIAL) != 0;
}

std::string Observer::of_process(std::uint32_t pid) const {
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.usage_count; ++i) {
    auto u = sized<hmn_usage>();
    REQUIRE(hmn_snapshot_usage_at(snapshot_, i, &u, nullptr) == HMN_OK);
    if (u.pid != pid) continue;
    const bool is_known = (u.present & HMN_USAGE_HAS_USED) != 0;
    const json& row = document().at("usages").at(i);
    CHECK(row.at("used_bytes").is_null() != is_known);
    const bool is_least = (u.notes & HMN_NOTE_LOWER_BOUND) != 0;
    const json& notes = row.at("notes");
    CHECK((std::find(notes.begin(), notes.end(), "lower_bound") != notes.end()) == is_least);
    if (is_known) return (is_least ? ">=" : "") + text_of(static_cast<double>(u.used_bytes));
    auto why = sized<hmn_diagnostic>();
    for (std::uint32_t d = 0; d < info.diagnostic_count; ++d) {
      REQUIRE(hmn_snapshot_diagnostic_at(snapshot_, d, &why, nullptr) == HMN_OK);
      const bool is_its = (why.present & HMN_DIAGNOSTIC_HAS_PID) != 0 && why.pid == pid;
      if (is_its) return hmn_reason_name(why.reason);
    }
    return "silent";
  }
  return "unlisted";
}

// The record of the first device that has the value, and its presence bits.
std::pair<const void*, hmn_flags> Observer::record_of(hmn_flags subject) const {
  if (subject == HMN_COLLECT_TELEMETRY) {
    telemetry_ = sized<hmn_telemetry>();
    (void)hmn_snapshot_find_telemetry(snapshot_, 0, &telemetry_, nullptr);
    return {&telemetry_, telemetry_.present};
  }
  if (subject == HMN_COLLECT_SELF) {
    self_ = sized<hmn_usage>();
    (void)hmn_snapshot_find_self(snapshot_, 0, &self_, nullptr);
    return {&self_, self_.present};
  }
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.pool_count; ++i) {
    pool_ = sized<hmn_pool>();
    REQUIRE(hmn_snapshot_pool_at(snapshot_, i, &pool_, nullptr) == HMN_OK);
    if (pool_.device_index == 0 && pool_.is_main != 0) return {&pool_, pool_.present};
  }
  return {nullptr, 0};
}

// Returns the number of a metric's instance; 0 where it has no such name.
std::uint32_t instance_of(std::uint32_t id, const std::string& name) {
  for (std::uint32_t instance = 0; instance < 64; ++instance) {
    if (name == hmn_metric_instance_name(id, instance)) return instance;
  }
  return 0;
}

std::string Observer::of_metric(const std::string& key, hmn_diagnostic& why) const {
  const std::uint32_t id = id_of(key);
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.metric_count; ++i) {
    auto m = sized<hmn_metric>();
    REQUIRE(hmn_snapshot_metric_at(snapshot_, i, &m, nullptr) == HMN_OK);
    const bool is_it = m.device_index == 0 && m.id == id &&
                       key.substr(key.find('/') + 1) == hmn_metric_instance_name(id, m.instance);
    const bool is_count = (m.present & HMN_METRIC_HAS_COUNT) != 0;
    if (is_it) return text_of(is_count ? static_cast<double>(m.count) : m.value);
  }
  const std::uint32_t instance = instance_of(id, key.substr(key.find('/') + 1));
  REQUIRE(read_metric_reason(snapshot_, 0, id, instance, &why) == HMN_OK);
  return hmn_reason_name(why.reason);
}

std::string Observer::of_pool(const std::string& key, hmn_diagnostic& why) const {
  const auto [kind, colon] = pool_kind_of(key);
  const std::string field = key.substr(colon + 1);
  const ValueOf& v = find(field);
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.pool_count; ++i) {
    auto p = sized<hmn_pool>();
    REQUIRE(hmn_snapshot_pool_at(snapshot_, i, &p, nullptr) == HMN_OK);
    const bool is_it = p.device_index == 0 && p.kind == kind;
    if (is_it && (p.present & v.bit) != 0) return text_of(number_at(&p, v));
  }
  auto asked = sized<hmn_reason_key>();
  asked.subject = HMN_COLLECT_POOLS;
  asked.pool = kind;
  asked.field = v.bit;
  REQUIRE(hmn_snapshot_reason(snapshot_, &asked, &why, nullptr) == HMN_OK);
  return hmn_reason_name(why.reason);
}

std::string Observer::through_c(const std::string& key, hmn_diagnostic& why) const {
  if (key.find('/') != std::string::npos) return of_metric(key, why);
  if (key.find(':') != std::string::npos) return of_pool(key, why);
  const ValueOf& v = find(key);
  const auto [record, present] = record_of(v.subject);
  if ((present & v.bit) != 0) return text_of(number_at(record, v));
  REQUIRE(read_reason(snapshot_, 0, v.subject, v.bit, &why) == HMN_OK);
  return hmn_reason_name(why.reason);
}

// A diagnostic of the whole subject: the list is unknown.
std::string Observer::of_list() const {
  std::string seen = "listed";
  for (const json& d : document().at("diagnostics")) {
    const bool is_whole = d.at("subject") == "processes" && d.at("device_index") == 0 &&
                          d.at("pid").is_null() && d.at("fields").empty();
    if (is_whole) seen = d.at("reason");
  }
  return seen;
}

std::string Observer::see(const std::string& key) const {
  if (key.starts_with("pid:"))
    return of_process(static_cast<std::uint32_t>(std::stoul(key.substr(4))));
  if (devices() == 0) return "none";
  if (key == "processes") return of_list();
  auto why = sized<hmn_diagnostic>();
  const std::string seen = through_c(key, why);
  if (key.find_first_of("/:") != std::string::npos) return seen;
  const json written = in_json(document(), find(key));
  if (written.is_number()) CHECK(text_of(written.get<double>()) == seen);
  if (written.is_null()) CHECK(seen.find_first_of("0123456789") == std::string::npos);
  return seen;
}

std::string Observer::why(const std::string& key) const {
  auto why = sized<hmn_diagnostic>();
  (void)through_c(key, why);
  return why.message;
}

std::string Observer::diagnosed(const std::string& words) const {
  for (const json& d : document().at("diagnostics")) {
    if (d.at("message").get<std::string>().find(words) != std::string::npos) return d.at("reason");
  }
  return "none";
}

void Observer::check(const std::vector<Expectation>& all) const {
  for (const Expectation& e : all) {
    CAPTURE(e.key);
    CHECK(see(e.key) == e.is);
  }
}

void check_lie(const Observer& w, const Lie& l) {
  INFO(std::string(l.name));
  w.check(l.sees);
  if (l.words == nullptr) return;
  INFO(std::string(l.words));
  CHECK(w.diagnosed(l.words) == std::string(l.reason));
}

}  // namespace lies_test
