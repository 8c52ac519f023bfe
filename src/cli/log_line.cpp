// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/log_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "cli/escape.hpp"
#include "cli/units.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

// A figure of a sample: where it is from, and its digits.
struct log_column {
  const char* key;
  hmn_flags subject;  // HMN_COLLECT_*
  hmn_flags bit;      // of `present`
  std::string (*digits)(const log_sample& of);
};

#define HMN_OF_POOL(key, bit)                                                \
  {                                                                          \
#key, HMN_COLLECT_POOLS, HMN_POOL_HAS_##bit,                             \
        [](const log_sample& s) { return fmt::to_string(s.of.memory->key); } \
  }
#define HMN_OF_TELEMETRY(key, bit)                                           \
  {                                                                          \
#key, HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_##bit,                    \
        [](const log_sample& s) { return fmt::to_string(s.telemetry->key); } \
  }
constexpr log_column log_columns[] = {
    HMN_OF_POOL(total_bytes, TOTAL),
    HMN_OF_POOL(free_bytes, FREE),
    HMN_OF_POOL(used_bytes, USED),
    HMN_OF_TELEMETRY(gpu_busy_percent, GPU_BUSY),
    HMN_OF_TELEMETRY(memory_busy_percent, MEMORY_BUSY),
    HMN_OF_TELEMETRY(temperature_celsius, TEMPERATURE),
    HMN_OF_TELEMETRY(power_watts, POWER),
    HMN_OF_TELEMETRY(power_limit_watts, POWER_LIMIT),
    HMN_OF_TELEMETRY(core_clock_mhz, CORE_CLOCK),
    HMN_OF_TELEMETRY(memory_clock_mhz, MEMORY_CLOCK),
    HMN_OF_TELEMETRY(fan_percent, FAN_PERCENT),
};
#undef HMN_OF_POOL
#undef HMN_OF_TELEMETRY

const log_column& named(std::string_view key) {
  return *std::find_if(std::begin(log_columns), std::end(log_columns),
                       [&](const log_column& each) { return key == each.key; });
}

bool is_known(const log_sample& s, const log_column& of) {
  if (of.subject == HMN_COLLECT_POOLS) return s.of.memory && has(*s.of.memory, of.bit);
  return s.telemetry && has(*s.telemetry, of.bit);
}

bool explains(const hmn_diagnostic& each, const log_sample& s, const log_column& of) {
  return !is_trace(each) && has(each, HMN_DIAGNOSTIC_HAS_DEVICE) &&
         each.device_index == s.of.device.index && each.subject == of.subject &&
         (!has(each, HMN_DIAGNOSTIC_HAS_FIELD) || (each.field & of.bit) != 0);
}

// The driver as a whole.
bool explains_all(const hmn_diagnostic& each) {
  return matters(each) && !has(each, HMN_DIAGNOSTIC_HAS_DEVICE) && hides_devices(each);
}

std::string reason(const log_sample& s, const log_column& of) {
  for (const auto& each : *s.diagnostics)
    if (explains(each, s, of)) return escape_for_text(each.message);
  if (s.of.device.state != HMN_STATE_READY)
    if (const auto state = state_word(s.of.device.state))
      return fmt::format("the device is {}", *state);
  for (const auto& each : *s.diagnostics)
    if (explains_all(each)) return escape_for_text(each.message);
  return "no source tells it";
}

std::string time_text(std::uint64_t unix_time_ns) {
  using namespace std::chrono;
  const auto ms = milliseconds(unix_time_ns / ns_per_ms);
  const auto day = floor<days>(sys_time<milliseconds>(ms));
  const year_month_day date(day);
  const hh_mm_ss<milliseconds> time(ms - day.time_since_epoch());
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

hmn_flags notes_of(const log_sample& s) {
  return s.of.device.notes | (s.of.memory ? s.of.memory->notes : 0u) |
         (s.telemetry ? s.telemetry->notes : 0u);
}

std::optional<std::uint64_t> age_of(const log_sample& s) {
  if (!s.of.memory && !s.telemetry) return std::nullopt;
  return std::max(s.of.memory ? s.of.memory->age_ns : 0, s.telemetry ? s.telemetry->age_ns : 0);
}

std::string quoted_json(std::string_view text) {
  return fmt::format("\"{}\"", escape_for_json(text));
}

std::string json_or_null(const std::optional<std::string>& text) {
  return text ? quoted_json(*text) : "null";
}

// RFC 4180: quoted where it must be.
std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out += '"';
}

std::string percent_text(const log_sample& s) {
  return fmt::format("{:.0f} %", s.telemetry->gpu_busy_percent);
}
std::string celsius_text(const log_sample& s) {
  return fmt::format("{:.0f} C", s.telemetry->temperature_celsius);
}
std::string watts_text(const log_sample& s) {
  return fmt::format("{:.1f} W", s.telemetry->power_watts);
}
std::string used_text(const log_sample& s) {
  return fmt::format("{} MiB", s.of.memory->used_bytes / mib);
}
std::string total_text(const log_sample& s) {
  return fmt::format("{} MiB", s.of.memory->total_bytes / mib);
}

std::string known_or_why(const log_sample& s, const char* key,
                         std::string (*text)(const log_sample&)) {
  const auto& of = named(key);
  return is_known(s, of) ? text(s) : fmt::format("unknown ({})", reason(s, of));
}

}  // namespace

std::string log_text(const log_sample& s, bool ascii_only) {
  return fmt::format(
      "{}  {}: used {} of {}, load {}, temperature {}, power {}{}\n", time_text(s.unix_time_ns),
      escape_for_text(label_of(s.of), ascii_only), known_or_why(s, "used_bytes", used_text),
      known_or_why(s, "total_bytes", total_text), known_or_why(s, "gpu_busy_percent", percent_text),
      known_or_why(s, "temperature_celsius", celsius_text),
      known_or_why(s, "power_watts", watts_text), staleness(notes_of(s), age_of(s).value_or(0)));
}

std::string log_json(const log_sample& s) {
  const auto& device = s.of.device;
  auto line = fmt::format("{{\"unix_time_ns\":{},\"monotonic_ns\":{},\"index\":{}", s.unix_time_ns,
                          s.monotonic_ns, device.index);
  line += fmt::format(",\"name\":{},\"uuid\":{},\"pci_bus_id\":{},\"state\":{}",
                      json_or_null(name_of(device)), json_or_null(uuid_of(device)),
                      json_or_null(pci_bus_id_of(device)),
                      quoted_json(or_unknown(state_word(device.state))));
  std::string reasons;
  for (const auto& each : log_columns) {
    const bool known = is_known(s, each);
    line += fmt::format(",\"{}\":{}", each.key, known ? each.digits(s) : "null");
    if (known) continue;
    reasons += fmt::format("{}\"{}\":{}", reasons.empty() ? "" : ",", each.key,
                           quoted_json(reason(s, each)));
  }
  const auto age = age_of(s);
  line += fmt::format(",\"age_ns\":{},\"notes\":[", age ? fmt::to_string(*age) : "null");
  const auto notes = note_words(notes_of(s));
  for (std::size_t i = 0; i < notes.size(); ++i)
    line += fmt::format("{}\"{}\"", i == 0 ? "" : ",", notes[i]);
  return line + fmt::format("],\"reasons\":{{{}}}}}\n", reasons);
}

std::string log_csv_header() {
  std::string line = "time,index,name";
  for (const auto& each : log_columns) line += fmt::format(",{}", each.key);
  return line + ",age_ns,notes,reasons\n";
}

std::string log_csv(const log_sample& s) {
  auto line = fmt::format("{},{},{}", time_text(s.unix_time_ns), s.of.device.index,
                          csv_cell(escape_for_text(name_of(s.of.device).value_or(""))));
  std::string reasons;
  for (const auto& each : log_columns) {
    const bool known = is_known(s, each);
    line += fmt::format(",{}", known ? each.digits(s) : "");
    if (!known)
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", each.key, reason(s, each));
  }
  const auto age = age_of(s);
  return line + fmt::format(",{},{},{}\n", age ? fmt::to_string(*age) : "",
                            fmt::join(note_words(notes_of(s)), " "), csv_cell(reasons));
}

}  // namespace hmn::cli
