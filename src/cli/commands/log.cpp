// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/json.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::part;

// Values of one device in a snapshot.
struct LogSample {
  std::uint64_t unix_time_ns = 0;
  std::uint64_t monotonic_ns = 0;
  Gpu of;
  std::optional<hypomnesis::telemetry> telemetry;
  const hypomnesis::snapshot* from = nullptr;
};

// Value of a sample: its source and its digits.
struct LoggedValue {
  const char* key;
  part subject;
  std::uint32_t bit;  // of `present`
  std::string (*digits)(const LogSample& of);
};

template <auto Member>
std::string of_pool(const LogSample& s) {
  return s.of.memory ? digits_of((*s.of.memory).*Member) : std::string();
}
template <auto Member>
std::string of_telemetry(const LogSample& s) {
  return s.telemetry ? digits_of((*s.telemetry).*Member) : std::string();
}

using hypomnesis::pool;
using hypomnesis::telemetry;
constexpr LoggedValue logged_values[] = {
    {"total_bytes", part::pools, HMN_POOL_HAS_TOTAL, of_pool<&pool::total_bytes>},
    {"free_bytes", part::pools, HMN_POOL_HAS_FREE, of_pool<&pool::free_bytes>},
    {"used_bytes", part::pools, HMN_POOL_HAS_USED, of_pool<&pool::used_bytes>},
    {"gpu_busy_percent", part::telemetry, HMN_TELEMETRY_HAS_GPU_BUSY,
     of_telemetry<&telemetry::gpu_busy_percent>},
    {"memory_busy_percent", part::telemetry, HMN_TELEMETRY_HAS_MEMORY_BUSY,
     of_telemetry<&telemetry::memory_busy_percent>},
    {"temperature_celsius", part::telemetry, HMN_TELEMETRY_HAS_TEMPERATURE,
     of_telemetry<&telemetry::temperature_celsius>},
    {"power_watts", part::telemetry, HMN_TELEMETRY_HAS_POWER,
     of_telemetry<&telemetry::power_watts>},
    {"power_limit_watts", part::telemetry, HMN_TELEMETRY_HAS_POWER_LIMIT,
     of_telemetry<&telemetry::power_limit_watts>},
    {"core_clock_mhz", part::telemetry, HMN_TELEMETRY_HAS_CORE_CLOCK,
     of_telemetry<&telemetry::core_clock_mhz>},
    {"memory_clock_mhz", part::telemetry, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
     of_telemetry<&telemetry::memory_clock_mhz>},
    {"fan_percent", part::telemetry, HMN_TELEMETRY_HAS_FAN_PERCENT,
     of_telemetry<&telemetry::fan_percent>},
};

const LoggedValue& named(std::string_view key) {
  return *std::find_if(std::begin(logged_values), std::end(logged_values),
                       [&](const LoggedValue& each) { return key == each.key; });
}

std::string reason(const LogSample& s, const LoggedValue& of) {
  return escape_for_text(s.from->reason(s.of.device.index, of.subject, of.bit)->message);
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

hypomnesis::note notes_of(const LogSample& s) {
  auto notes = s.of.device.notes;
  if (s.of.memory) notes |= s.of.memory->notes;
  if (s.telemetry) notes |= s.telemetry->notes;
  return notes;
}

std::optional<std::uint64_t> age_of(const LogSample& s) {
  if (!s.of.memory && !s.telemetry) return std::nullopt;
  return std::max(s.of.memory ? s.of.memory->age_ns : 0, s.telemetry ? s.telemetry->age_ns : 0);
}

std::string percent_text(const LogSample& s) {
  return fmt::format("{:.0f} %", *s.telemetry->gpu_busy_percent);
}
std::string celsius_text(const LogSample& s) {
  return fmt::format("{:.0f} C", *s.telemetry->temperature_celsius);
}
std::string watts_text(const LogSample& s) {
  return fmt::format("{:.1f} W", *s.telemetry->power_watts);
}
std::string used_text(const LogSample& s) {
  const auto& pool = *s.of.memory;
  return fmt::format("{}{} MiB", mark_of(pool.notes), *pool.used_bytes / mib);
}
std::string total_text(const LogSample& s) {
  return fmt::format("{} MiB", *s.of.memory->total_bytes / mib);
}

// Reasons on the lines of one device: each appears once for as long as it persists.
class GivenReasons {
 public:
  void begin_line() { before_ = std::exchange(now_, {}); }
  // Returns " (why)", or nothing where this line or the one before has it.
  std::string text(const std::string& why) {
    const bool is_new = !contains(now_, why);
    if (is_new) now_.push_back(why);
    return is_new && !contains(before_, why) ? fmt::format(" ({})", why) : "";
  }

 private:
  static bool contains(const std::vector<std::string>& all, const std::string& why) {
    return std::find(all.begin(), all.end(), why) != all.end();
  }
  std::vector<std::string> before_;
  std::vector<std::string> now_;
};
using ReasonsOfDevices = std::map<std::uint32_t, GivenReasons>;  // by index

std::string value_text(const LogSample& s, const char* key, std::string (*known)(const LogSample&),
                       GivenReasons& given) {
  const auto& value = named(key);
  if (!value.digits(s).empty()) return known(s);
  return "unknown" + given.text(reason(s, value));
}

// Returns the state and its reason in place of the values of a device that reports none.
std::string state_text(const LogSample& s, GivenReasons& given) {
  using hypomnesis::run_state;
  const auto state = s.of.device.state;
  const auto word = state_word(state);
  if (!word || state == run_state::ready) return {};
  for (const char* key : {"used_bytes", "gpu_busy_percent", "temperature_celsius", "power_watts"})
    if (!named(key).digits(s).empty()) return {};
  const auto total = s.of.memory && s.of.memory->total_bytes ? ", of " + total_text(s) : "";
  if (state == run_state::asleep) return std::string(*word) + total;
  return std::string(*word) + total + given.text(reason(s, named("used_bytes")));
}

std::string values_text(const LogSample& s, GivenReasons& given) {
  const auto text = [&](const char* key, std::string (*known)(const LogSample&)) {
    return value_text(s, key, known, given);
  };
  auto used = text("used_bytes", used_text);
  auto total = text("total_bytes", total_text);
  auto load = text("gpu_busy_percent", percent_text);
  auto temperature = text("temperature_celsius", celsius_text);
  auto power = text("power_watts", watts_text);
  return fmt::format("used {} of {}, load {}, temperature {}, power {}", used, total, load,
                     temperature, power);
}

std::string log_text(const LogSample& s, bool ascii_only, GivenReasons& given) {
  given.begin_line();
  const auto state = state_text(s, given);
  return fmt::format(
      "{}  {}: {}{}\n", time_text(s.unix_time_ns), escape_for_text(label_of(s.of), ascii_only),
      state.empty() ? values_text(s, given) : state, staleness(notes_of(s), age_of(s).value_or(0)));
}

std::string log_json(const LogSample& s) {
  const auto& device = s.of.device;
  JsonObject out;
  out.add("unix_time_ns", s.unix_time_ns)
      .add("monotonic_ns", s.monotonic_ns)
      .add("index", device.index)
      .add("name", device.name)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("state", or_unknown(state_word(device.state)));
  JsonObject reasons;
  for (const auto& each : logged_values) {
    const auto digits = each.digits(s);
    out.add_digits(each.key, digits);
    if (digits.empty()) reasons.add(each.key, reason(s, each));
  }
  out.add("age_ns", age_of(s)).add("notes", note_words(notes_of(s))).add("reasons", reasons);
  return out.text() + "\n";
}

std::string log_csv_header() {
  std::string line = "time,index,name";
  for (const auto& each : logged_values) line += fmt::format(",{}", each.key);
  return line + ",age_ns,notes,reasons\n";
}

// Returns "used_bytes free_bytes: why; power_watts: another reason".
std::string reasons_text(const LogSample& s) {
  std::vector<std::pair<std::string, std::string>> all;  // reason, keys
  for (const auto& each : logged_values) {
    if (!each.digits(s).empty()) continue;
    const auto why = reason(s, each);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == why; });
    if (found == all.end())
      all.emplace_back(why, each.key);
    else
      found->second.append(" ").append(each.key);
  }
  std::string text;
  for (const auto& [why, keys] : all)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", keys, why);
  return text;
}

std::string log_csv(const LogSample& s) {
  auto line = fmt::format("{},{},{}", time_text(s.unix_time_ns), s.of.device.index,
                          csv_cell(escape_for_text(s.of.device.name.value_or(""))));
  for (const auto& each : logged_values) line += "," + each.digits(s);
  const auto age = age_of(s);
  return line + fmt::format(",{},{},{}\n", age ? fmt::to_string(*age) : "",
                            fmt::join(note_words(notes_of(s)), " "), csv_cell(reasons_text(s)));
}

// Bounds a reading so that a hanging driver costs values of a sample but does not delay the next.
std::uint32_t sample_deadline(const Options& asked) {
  return std::min(asked.timeout_ms, std::max(asked.log.interval_ms, default_deadline_ms));
}

Expected<hypomnesis::snapshot_options> values_to_log(const Session& in, const Options& asked) {
  if (auto none = check_for_gpus(in, "no GPU to log: ")) return *std::move(none);
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::pools | part::telemetry;
  what.deadline = std::chrono::milliseconds(sample_deadline(asked));
  return of_one_device(in, asked.device, what);
}

std::string lines_of(const Session& in, const hypomnesis::snapshot& snapshot, LogForm form,
                     const Style& as, ReasonsOfDevices& given) {
  const auto info = snapshot.info();
  std::string lines;
  for (auto& each : gpus_of(in, snapshot)) {
    auto telemetry = snapshot.telemetry(each.device.index);
    const LogSample sample{info.unix_time_ns, info.monotonic_ns, std::move(each),
                           std::move(telemetry), &snapshot};
    if (form == LogForm::json)
      lines += log_json(sample);
    else if (form == LogForm::csv)
      lines += log_csv(sample);
    else
      lines += log_text(sample, as.ascii_only, given[sample.of.device.index]);
  }
  return lines;
}

// End condition of the log.
class EndOfLog {
 public:
  explicit EndOfLog(const LogOptions& asked) : asked_(asked) {}

  // Returns the time limit of the next sample.
  std::chrono::nanoseconds patience() const {
    if (!asked_.duration_ms || begun_ns_ == 0) return hypomnesis::unlimited;
    const auto left = *asked_.duration_ms - std::min(*asked_.duration_ms, spent_ms_);
    return std::chrono::milliseconds(std::min(left, longest_time_ms));
  }
  // Returns whether the sample still belongs to the log.
  bool takes(const hypomnesis::snapshot_info& sample) {
    if (begun_ns_ == 0) begun_ns_ = sample.monotonic_ns;
    spent_ms_ = (sample.monotonic_ns - begun_ns_) / ns_per_ms;
    ++taken_;
    if (!asked_.duration_ms) return true;
    // Counts the intervals that begin in the duration, even if the first one was late.
    const auto most = (*asked_.duration_ms - 1) / asked_.interval_ms + 1;
    return spent_ms_ < *asked_.duration_ms && taken_ <= most;
  }
  bool is_enough() const { return asked_.count && taken_ >= *asked_.count; }

 private:
  LogOptions asked_;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t spent_ms_ = 0;
  std::uint64_t taken_ = 0;
};

void report_losses(const hypomnesis::sampler_info& of) {
  if (of.dropped_count > 0)
    write_notice(
        fmt::format("{} samples were dropped: they were not read fast enough", of.dropped_count));
  if (of.late_count > 0)
    write_notice(fmt::format("{} samples were skipped: earlier ones took too long", of.late_count));
}

// Returns none once stopped or after the time limit.
std::optional<hypomnesis::snapshot> next_of(hypomnesis::sampler& from,
                                            std::chrono::nanoseconds timeout) {
  try {
    return from.next(timeout);
  } catch (const hypomnesis::error&) {
    return std::nullopt;
  }
}

WriteResult write_lines(const Session& in, hypomnesis::sampler& from, const Options& asked,
                        const Style& as) {
  EndOfLog end(asked.log);
  ReasonsOfDevices given;
  auto last = asked.log.form == LogForm::csv ? write_part(log_csv_header()) : WriteResult{};
  while (last == WriteResult::written && !end.is_enough()) {
    const auto snapshot = next_of(from, end.patience());
    if (!snapshot || !end.takes(snapshot->info())) break;
    if (asked.trace) print_trace(*snapshot);
    last = write_part(lines_of(in, *snapshot, asked.log.form, as, given));
  }
  return last;
}

Expected<ExitCode> run_log(const Session& in, const Options& asked, const Style& as) {
  const auto what = values_to_log(in, asked);
  if (!what) return what.why();
  hypomnesis::sampler_options how;
  how.interval = std::chrono::milliseconds(asked.log.interval_ms);
  auto source = in.library().sample(how, *what);
  source.start();
  const Interruption stops([&source] { source.stop(); });
  const auto last = write_lines(in, source, asked, as);
  report_losses(source.info());
  return last == WriteResult::failed ? ExitCode::failed : ExitCode::done;
}

constexpr Option options_of_log[] = {
    interval_option("Time between samples [1s]", "100ms 1s 10s 1m"),
    {"--count", 'n', "N", "Exit after N samples of each device"},
    duration_option,
    json_option("Print a JSON object on each line"),
    csv_option,
    device_option(),
};

constexpr std::string_view examples_of_log =
    "Examples:\n"
    "  hmn log -i 500ms --duration 1m\n"
    "  hmn log --csv > gpus.csv             until Ctrl-C\n"
    "  hmn log -jn1 | jq .power_watts       one sample of each device\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed, no GPU or no such device, 2 wrong\n"
    "usage. See hmn-log(1).";

std::optional<Failure> read_log(const Arguments& from, Options& to) {
  if (auto twice = only_one_of(from, "--json", "--csv")) return twice;
  if (auto twice = only_one_of(from, "--count", "--duration")) return twice;
  if (from.has("--json")) to.log.form = LogForm::json;
  if (from.has("--csv")) to.log.form = LogForm::csv;
  if (auto wrong = read_interval(from, to.log.interval_ms)) return wrong;
  if (auto wrong = read_count(from, "--count", to.log.count)) return wrong;
  return read_time(from, "--duration", to.log.duration_ms);
}

}  // namespace

const CommandEntry log_command = {
    .id = Command::log,
    .name = "log",
    .purpose = "Print GPU measurements at an interval",
    .takes = options_of_log,
    .examples = examples_of_log,
    .read = read_log,
    .run = run_log,
};

}  // namespace hmn::cli
