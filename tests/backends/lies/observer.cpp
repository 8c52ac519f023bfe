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

enum class ValueType { u32, u64, real };

struct ValueDescriptor {
  const char* key;
  hmn_flags subject;
  hmn_flags bit;
  std::size_t offset;
  ValueType type;
};

constexpr ValueDescriptor values[] = {
    {"total_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL, offsetof(hmn_pool, total_bytes),
     ValueType::u64},
    {"used_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_USED, offsetof(hmn_pool, used_bytes),
     ValueType::u64},
    {"free_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_FREE, offsetof(hmn_pool, free_bytes),
     ValueType::u64},
    {"reserved_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_RESERVED, offsetof(hmn_pool, reserved_bytes),
     ValueType::u64},
    {"unattributed_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_UNATTRIBUTED,
     offsetof(hmn_pool, unattributed_bytes), ValueType::u64},
    {"budget_bytes", HMN_COLLECT_POOLS, HMN_POOL_HAS_BUDGET, offsetof(hmn_pool, budget_bytes),
     ValueType::u64},
    {"self.used_bytes", HMN_COLLECT_SELF, HMN_USAGE_HAS_USED, offsetof(hmn_usage, used_bytes),
     ValueType::u64},
    {"self.host_pool_bytes", HMN_COLLECT_SELF, HMN_USAGE_HAS_HOST_POOL,
     offsetof(hmn_usage, host_pool_bytes), ValueType::u64},
    {"gpu_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_GPU_BUSY,
     offsetof(hmn_telemetry, gpu_busy_percent), ValueType::real},
    {"temperature_celsius", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE,
     offsetof(hmn_telemetry, temperature_celsius), ValueType::real},
    {"power_watts", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER,
     offsetof(hmn_telemetry, power_watts), ValueType::real},
    {"power_limit_watts", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER_LIMIT,
     offsetof(hmn_telemetry, power_limit_watts), ValueType::real},
    {"core_clock_mhz", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_CORE_CLOCK,
     offsetof(hmn_telemetry, core_clock_mhz), ValueType::u32},
    {"fan_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT,
     offsetof(hmn_telemetry, fan_percent), ValueType::u32},
    {"memory_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_BUSY,
     offsetof(hmn_telemetry, memory_busy_percent), ValueType::real},
    {"encoder_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENCODER_BUSY,
     offsetof(hmn_telemetry, encoder_busy_percent), ValueType::real},
    {"decoder_busy_percent", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_DECODER_BUSY,
     offsetof(hmn_telemetry, decoder_busy_percent), ValueType::real},
    {"hotspot_celsius", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_HOTSPOT,
     offsetof(hmn_telemetry, hotspot_celsius), ValueType::real},
    {"memory_celsius", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE,
     offsetof(hmn_telemetry, memory_celsius), ValueType::real},
    {"energy_joules", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY,
     offsetof(hmn_telemetry, energy_joules), ValueType::real},
    {"memory_clock_mhz", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
     offsetof(hmn_telemetry, memory_clock_mhz), ValueType::u32},
    {"fan_rpm", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_RPM, offsetof(hmn_telemetry, fan_rpm),
     ValueType::u32},
    {"pcie_generation", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_GENERATION,
     offsetof(hmn_telemetry, pcie_generation), ValueType::u32},
    {"pcie_width", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_WIDTH,
     offsetof(hmn_telemetry, pcie_width), ValueType::u32},
    {"throttle", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_THROTTLE,
     offsetof(hmn_telemetry, throttle), ValueType::u32},
    {"p_state", HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_P_STATE, offsetof(hmn_telemetry, p_state),
     ValueType::u32},
};

const ValueDescriptor& find(const std::string& key) {
  for (const ValueDescriptor& descriptor : values) {
    if (key == descriptor.key) return descriptor;
  }
  FAIL("unknown key " << key);
  return values[0];
}

// Kind of the pool that a key such as "host:used_bytes" begins with, and where its colon is.
std::pair<std::uint32_t, std::size_t> parse_pool_kind(const std::string& key) {
  const std::size_t colon = key.find(':');
  const std::string kind = key.substr(0, colon);
  if (kind == "host") return {HMN_POOL_HOST, colon};
  REQUIRE(kind == "vram_visible");
  return {HMN_POOL_VRAM_VISIBLE, colon};
}

// Number of the metric that a key such as "clock_mhz/sm" begins with.
std::uint32_t find_metric_id(const std::string& key) {
  const std::string name = key.substr(0, key.find('/'));
  for (std::uint32_t id = 1; id < 100; ++id) {
    if (name == hmn_metric_name(id)) return id;
  }
  FAIL("unknown metric " << name);
  return 0;
}

std::string format_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

template <class T>
double read_member(const void* record, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return static_cast<double>(value);
}

double read_number(const void* record, const ValueDescriptor& descriptor) {
  if (descriptor.type == ValueType::u32)
    return read_member<std::uint32_t>(record, descriptor.offset);
  if (descriptor.type == ValueType::u64)
    return read_member<std::uint64_t>(record, descriptor.offset);
  return read_member<double>(record, descriptor.offset);
}

bool is_main_pool(const json& pool) {
  return pool.at("device_index") == 0 && pool.at("is_main") == true;
}

// The value in the document; null if it is absent.
json find_in_json(const json& document, const ValueDescriptor& descriptor) {
  const json& device = document.at("devices").at(0);
  if (descriptor.subject != HMN_COLLECT_POOLS) {
    const bool is_self = descriptor.subject == HMN_COLLECT_SELF;
    const json& record = device.at(is_self ? "self" : "telemetry");
    return record.is_null() ? record : record.at(is_self ? descriptor.key + 5 : descriptor.key);
  }
  for (const json& pool : document.at("pools")) {
    if (is_main_pool(pool)) return pool.at(descriptor.key);
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

void Observer::set_path(std::uint32_t kind, const std::string& path) const {
  REQUIRE(hmn_context_set_path(context_, kind, path.c_str(), nullptr) == HMN_OK);
}

void Observer::take_snapshot(hmn_flags extra) {
  hmn_snapshot_destroy(snapshot_);
  snapshot_ = nullptr;
  document_.reset();
  auto options = sized<hmn_snapshot_options>();
  options.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY |
                    HMN_COLLECT_METRICS | HMN_COLLECT_PROCESSES | extra;
  REQUIRE(hmn_snapshot_take(context_, &options, &snapshot_, nullptr) == HMN_OK);
}

std::uint32_t Observer::count_devices() const {
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

std::string Observer::read_process(std::uint32_t pid) const {
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.usage_count; ++i) {
    auto usage = sized<hmn_usage>();
    REQUIRE(hmn_snapshot_usage_at(snapshot_, i, &usage, nullptr) == HMN_OK);
    if (usage.pid != pid) continue;
    const bool is_known = (usage.present & HMN_USAGE_HAS_USED) != 0;
    const json& row = document().at("usages").at(i);
    CHECK(row.at("used_bytes").is_null() != is_known);
    const bool is_lower_bound = (usage.notes & HMN_NOTE_LOWER_BOUND) != 0;
    const json& notes = row.at("notes");
    CHECK((std::find(notes.begin(), notes.end(), "lower_bound") != notes.end()) == is_lower_bound);
    if (is_known)
      return (is_lower_bound ? ">=" : "") + format_number(static_cast<double>(usage.used_bytes));
    auto diagnostic = sized<hmn_diagnostic>();
    for (std::uint32_t index = 0; index < info.diagnostic_count; ++index) {
      REQUIRE(hmn_snapshot_diagnostic_at(snapshot_, index, &diagnostic, nullptr) == HMN_OK);
      const bool is_own =
          (diagnostic.present & HMN_DIAGNOSTIC_HAS_PID) != 0 && diagnostic.pid == pid;
      if (is_own) return hmn_reason_name(diagnostic.reason);
    }
    return "silent";
  }
  return "unlisted";
}

// The record of the first device that has the value, and its presence bits.
std::pair<const void*, hmn_flags> Observer::find_record(hmn_flags subject) const {
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

// Returns the number of a metric's instance; 0 if no instance has the name.
std::uint32_t find_instance(std::uint32_t id, const std::string& name) {
  for (std::uint32_t instance = 0; instance < 64; ++instance) {
    if (name == hmn_metric_instance_name(id, instance)) return instance;
  }
  return 0;
}

std::string Observer::read_metric_value(const std::string& key, hmn_diagnostic& diagnostic) const {
  const std::uint32_t id = find_metric_id(key);
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.metric_count; ++i) {
    auto metric = sized<hmn_metric>();
    REQUIRE(hmn_snapshot_metric_at(snapshot_, i, &metric, nullptr) == HMN_OK);
    const bool is_match =
        metric.device_index == 0 && metric.id == id &&
        key.substr(key.find('/') + 1) == hmn_metric_instance_name(id, metric.instance);
    const bool is_count = (metric.present & HMN_METRIC_HAS_COUNT) != 0;
    if (is_match) return format_number(is_count ? static_cast<double>(metric.count) : metric.value);
  }
  const std::uint32_t instance = find_instance(id, key.substr(key.find('/') + 1));
  REQUIRE(read_metric_reason(snapshot_, 0, id, instance, &diagnostic) == HMN_OK);
  return hmn_reason_name(diagnostic.reason);
}

std::string Observer::read_pool_value(const std::string& key, hmn_diagnostic& diagnostic) const {
  const auto [kind, colon] = parse_pool_kind(key);
  const std::string field = key.substr(colon + 1);
  const ValueDescriptor& descriptor = find(field);
  auto info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot_, &info, nullptr) == HMN_OK);
  for (std::uint32_t i = 0; i < info.pool_count; ++i) {
    auto pool = sized<hmn_pool>();
    REQUIRE(hmn_snapshot_pool_at(snapshot_, i, &pool, nullptr) == HMN_OK);
    const bool is_match = pool.device_index == 0 && pool.kind == kind;
    if (is_match && (pool.present & descriptor.bit) != 0)
      return format_number(read_number(&pool, descriptor));
  }
  auto request = sized<hmn_reason_key>();
  request.subject = HMN_COLLECT_POOLS;
  request.pool = kind;
  request.field = descriptor.bit;
  REQUIRE(hmn_snapshot_reason(snapshot_, &request, &diagnostic, nullptr) == HMN_OK);
  return hmn_reason_name(diagnostic.reason);
}

std::string Observer::read_native(const std::string& key, hmn_diagnostic& diagnostic) const {
  if (key.find('/') != std::string::npos) return read_metric_value(key, diagnostic);
  if (key.find(':') != std::string::npos) return read_pool_value(key, diagnostic);
  const ValueDescriptor& descriptor = find(key);
  const auto [record, present] = find_record(descriptor.subject);
  if ((present & descriptor.bit) != 0) return format_number(read_number(record, descriptor));
  REQUIRE(read_reason(snapshot_, 0, descriptor.subject, descriptor.bit, &diagnostic) == HMN_OK);
  return hmn_reason_name(diagnostic.reason);
}

// A diagnostic of the whole subject: the list is unknown.
std::string Observer::read_list() const {
  std::string result = "listed";
  for (const json& diagnostic : document().at("diagnostics")) {
    const bool is_whole = diagnostic.at("subject") == "processes" &&
                          diagnostic.at("device_index") == 0 && diagnostic.at("pid").is_null() &&
                          diagnostic.at("fields").empty();
    if (is_whole) result = diagnostic.at("reason");
  }
  return result;
}

std::string Observer::read(const std::string& key) const {
  if (key.starts_with("pid:"))
    return read_process(static_cast<std::uint32_t>(std::stoul(key.substr(4))));
  if (count_devices() == 0) return "none";
  if (key == "processes") return read_list();
  auto diagnostic = sized<hmn_diagnostic>();
  const std::string value = read_native(key, diagnostic);
  if (key.find_first_of("/:") != std::string::npos) return value;
  const json json_value = find_in_json(document(), find(key));
  if (json_value.is_number()) CHECK(format_number(json_value.get<double>()) == value);
  if (json_value.is_null()) CHECK(value.find_first_of("0123456789") == std::string::npos);
  return value;
}

std::string Observer::explain(const std::string& key) const {
  auto diagnostic = sized<hmn_diagnostic>();
  (void)read_native(key, diagnostic);
  return diagnostic.message;
}

std::string Observer::find_reason(const std::string& words) const {
  for (const json& diagnostic : document().at("diagnostics")) {
    if (diagnostic.at("message").get<std::string>().find(words) != std::string::npos)
      return diagnostic.at("reason");
  }
  return "none";
}

void Observer::check(const std::vector<Expectation>& all) const {
  for (const Expectation& expectation : all) {
    CAPTURE(expectation.key);
    CHECK(read(expectation.key) == expectation.value);
  }
}

void check_lie(const Observer& observer, const Lie& lie) {
  INFO(std::string(lie.name));
  observer.check(lie.expectations);
  if (lie.words == nullptr) return;
  INFO(std::string(lie.words));
  CHECK(observer.find_reason(lie.words) == std::string(lie.reason));
}

}  // namespace lies_test
