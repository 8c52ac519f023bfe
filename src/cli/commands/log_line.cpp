// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/log_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "cli/text/diagnostics.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/json.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::part;
using hypomnesis::run_state;

constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t mib = 1ull << 20;

// A figure of a sample: where it is from, and its digits.
struct figure {
  const char* key;
  part subject;
  std::uint32_t bit;  // of `present`
  std::string (*digits)(const log_sample& of);
};

#define HMN_OF_POOL(key, bit)                                                           \
  {                                                                                     \
#key, part::pools, HMN_POOL_HAS_##bit,                                              \
        [](const log_sample&                                                            \
               s) { return s.of.memory ? digits_of(s.of.memory->key) : std::string(); } \
  }
#define HMN_OF_TELEMETRY(key, bit)                                                      \
  {                                                                                     \
#key, part::telemetry, HMN_TELEMETRY_HAS_##bit,                                     \
        [](const log_sample&                                                            \
               s) { return s.telemetry ? digits_of(s.telemetry->key) : std::string(); } \
  }
constexpr figure figures[] = {
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

const figure& named(std::string_view key) {
  return *std::find_if(std::begin(figures), std::end(figures),
                       [&](const figure& each) { return key == each.key; });
}

bool explains(const hypomnesis::diagnostic& each, const log_sample& s, const figure& of) {
  return !is_trace(each) && each.device_index == s.of.device.index && each.subject == of.subject &&
         (!each.field || (*each.field & of.bit) != 0);
}

// The driver as a whole.
bool explains_all(const hypomnesis::diagnostic& each) {
  return !each.device_index && hides_devices(each);
}

std::string reason(const log_sample& s, const figure& of) {
  for (const auto& each : *s.diagnostics)
    if (explains(each, s, of)) return escape_for_text(each.message);
  if (s.of.device.state != run_state::ready)
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

hypomnesis::note notes_of(const log_sample& s) {
  auto notes = s.of.device.notes;
  if (s.of.memory) notes |= s.of.memory->notes;
  if (s.telemetry) notes |= s.telemetry->notes;
  return notes;
}

std::optional<std::uint64_t> age_of(const log_sample& s) {
  if (!s.of.memory && !s.telemetry) return std::nullopt;
  return std::max(s.of.memory ? s.of.memory->age_ns : 0, s.telemetry ? s.telemetry->age_ns : 0);
}

// RFC 4180: quoted where it must be.
std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out += '"';
}

std::string percent_text(const log_sample& s) {
  return fmt::format("{:.0f} %", *s.telemetry->gpu_busy_percent);
}
std::string celsius_text(const log_sample& s) {
  return fmt::format("{:.0f} C", *s.telemetry->temperature_celsius);
}
std::string watts_text(const log_sample& s) {
  return fmt::format("{:.1f} W", *s.telemetry->power_watts);
}
std::string used_text(const log_sample& s) {
  return fmt::format("{} MiB", *s.of.memory->used_bytes / mib);
}
std::string total_text(const log_sample& s) {
  return fmt::format("{} MiB", *s.of.memory->total_bytes / mib);
}

std::string known_or_why(const log_sample& s, const char* key,
                         std::string (*text)(const log_sample&)) {
  const auto& of = named(key);
  return !of.digits(s).empty() ? text(s) : fmt::format("unknown ({})", reason(s, of));
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
  json_object out;
  out.add("unix_time_ns", s.unix_time_ns)
      .add("monotonic_ns", s.monotonic_ns)
      .add("index", device.index)
      .add("name", device.name)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("state", or_unknown(state_word(device.state)));
  json_object reasons;
  for (const auto& each : figures) {
    const auto digits = each.digits(s);
    out.add_digits(each.key, digits);
    if (digits.empty()) reasons.add(each.key, reason(s, each));
  }
  out.add("age_ns", age_of(s)).add("notes", note_words(notes_of(s))).add("reasons", reasons);
  return out.text() + "\n";
}

std::string log_csv_header() {
  std::string line = "time,index,name";
  for (const auto& each : figures) line += fmt::format(",{}", each.key);
  return line + ",age_ns,notes,reasons\n";
}

std::string log_csv(const log_sample& s) {
  auto line = fmt::format("{},{},{}", time_text(s.unix_time_ns), s.of.device.index,
                          csv_cell(escape_for_text(s.of.device.name.value_or(""))));
  std::string reasons;
  for (const auto& each : figures) {
    const auto digits = each.digits(s);
    line += "," + digits;
    if (digits.empty())
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", each.key, reason(s, each));
  }
  const auto age = age_of(s);
  return line + fmt::format(",{},{},{}\n", age ? fmt::to_string(*age) : "",
                            fmt::join(note_words(notes_of(s)), " "), csv_cell(reasons));
}

}  // namespace hmn::cli
