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
  Gpu gpu;
  std::optional<hypomnesis::telemetry> telemetry;
  const hypomnesis::snapshot* snapshot = nullptr;
};

// Field of a sample: the part of the snapshot that has it, and its formatter.
struct LogField {
  const char* key;
  part subject;
  std::uint32_t bit;  // of `present`
  std::string (*digits)(const LogSample& sample);
};

template <auto Member>
std::string pool_digits(const LogSample& sample) {
  return sample.gpu.memory ? format_digits((*sample.gpu.memory).*Member) : std::string();
}
template <auto Member>
std::string telemetry_digits(const LogSample& sample) {
  return sample.telemetry ? format_digits((*sample.telemetry).*Member) : std::string();
}

using hypomnesis::pool;
using hypomnesis::telemetry;
constexpr LogField log_fields[] = {
    {"total_bytes", part::pools, HMN_POOL_HAS_TOTAL, pool_digits<&pool::total_bytes>},
    {"free_bytes", part::pools, HMN_POOL_HAS_FREE, pool_digits<&pool::free_bytes>},
    {"used_bytes", part::pools, HMN_POOL_HAS_USED, pool_digits<&pool::used_bytes>},
    {"gpu_busy_percent", part::telemetry, HMN_TELEMETRY_HAS_GPU_BUSY,
     telemetry_digits<&telemetry::gpu_busy_percent>},
    {"memory_busy_percent", part::telemetry, HMN_TELEMETRY_HAS_MEMORY_BUSY,
     telemetry_digits<&telemetry::memory_busy_percent>},
    {"temperature_celsius", part::telemetry, HMN_TELEMETRY_HAS_TEMPERATURE,
     telemetry_digits<&telemetry::temperature_celsius>},
    {"power_watts", part::telemetry, HMN_TELEMETRY_HAS_POWER,
     telemetry_digits<&telemetry::power_watts>},
    {"power_limit_watts", part::telemetry, HMN_TELEMETRY_HAS_POWER_LIMIT,
     telemetry_digits<&telemetry::power_limit_watts>},
    {"core_clock_mhz", part::telemetry, HMN_TELEMETRY_HAS_CORE_CLOCK,
     telemetry_digits<&telemetry::core_clock_mhz>},
    {"memory_clock_mhz", part::telemetry, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
     telemetry_digits<&telemetry::memory_clock_mhz>},
    {"fan_percent", part::telemetry, HMN_TELEMETRY_HAS_FAN_PERCENT,
     telemetry_digits<&telemetry::fan_percent>},
};

const LogField& find_log_field(std::string_view key) {
  return *std::find_if(std::begin(log_fields), std::end(log_fields),
                       [&](const LogField& field) { return key == field.key; });
}

std::string format_reason(const LogSample& sample, const LogField& field) {
  return escape_for_text(
      sample.snapshot->reason(sample.gpu.device.index, field.subject, field.bit)->message);
}

std::string format_time(std::uint64_t unix_time_ns) {
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

hypomnesis::note combine_notes(const LogSample& sample) {
  auto notes = sample.gpu.device.notes;
  if (sample.gpu.memory) notes |= sample.gpu.memory->notes;
  if (sample.telemetry) notes |= sample.telemetry->notes;
  return notes;
}

std::optional<std::uint64_t> find_max_age(const LogSample& sample) {
  if (!sample.gpu.memory && !sample.telemetry) return std::nullopt;
  return std::max(sample.gpu.memory ? sample.gpu.memory->age_ns : 0,
                  sample.telemetry ? sample.telemetry->age_ns : 0);
}

std::string format_percent(const LogSample& sample) {
  return fmt::format("{:.0f} %", *sample.telemetry->gpu_busy_percent);
}
std::string format_celsius(const LogSample& sample) {
  return fmt::format("{:.0f} C", *sample.telemetry->temperature_celsius);
}
std::string format_watts(const LogSample& sample) {
  return fmt::format("{:.1f} W", *sample.telemetry->power_watts);
}
std::string format_used(const LogSample& sample) {
  const auto& pool = *sample.gpu.memory;
  return fmt::format("{}{} MiB", accuracy_mark(pool.notes), *pool.used_bytes / mib);
}
std::string format_total(const LogSample& sample) {
  return fmt::format("{} MiB", *sample.gpu.memory->total_bytes / mib);
}

// Reasons printed for one device: each is printed once while it persists.
class ReasonHistory {
 public:
  void begin_line() { previous_line_ = std::exchange(current_line_, {}); }
  // Returns " (reason)", or nothing if this line or the previous one has it.
  std::string format_if_new(const std::string& reason) {
    const bool is_new = !contains(current_line_, reason);
    if (is_new) current_line_.push_back(reason);
    return is_new && !contains(previous_line_, reason) ? fmt::format(" ({})", reason) : "";
  }

 private:
  static bool contains(const std::vector<std::string>& reasons, const std::string& reason) {
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
  }
  std::vector<std::string> previous_line_;
  std::vector<std::string> current_line_;
};
using ReasonsByDevice = std::map<std::uint32_t, ReasonHistory>;  // by index

std::string format_value(const LogSample& sample, const char* key,
                         std::string (*formatter)(const LogSample&), ReasonHistory& reasons) {
  const auto& field = find_log_field(key);
  if (!field.digits(sample).empty()) return formatter(sample);
  return "unknown" + reasons.format_if_new(format_reason(sample, field));
}

// Returns the state and its reason in place of the values of a device that reports none.
std::string format_state(const LogSample& sample, ReasonHistory& reasons) {
  using hypomnesis::run_state;
  const auto state = sample.gpu.device.state;
  const auto word = state_word(state);
  if (!word || state == run_state::ready) return {};
  for (const char* key : {"used_bytes", "gpu_busy_percent", "temperature_celsius", "power_watts"})
    if (!find_log_field(key).digits(sample).empty()) return {};
  const auto total =
      sample.gpu.memory && sample.gpu.memory->total_bytes ? ", of " + format_total(sample) : "";
  if (state == run_state::asleep) return std::string(*word) + total;
  return std::string(*word) + total +
         reasons.format_if_new(format_reason(sample, find_log_field("used_bytes")));
}

std::string format_values(const LogSample& sample, ReasonHistory& reasons) {
  const auto format_field = [&](const char* key, std::string (*formatter)(const LogSample&)) {
    return format_value(sample, key, formatter, reasons);
  };
  auto used = format_field("used_bytes", format_used);
  auto total = format_field("total_bytes", format_total);
  auto load = format_field("gpu_busy_percent", format_percent);
  auto temperature = format_field("temperature_celsius", format_celsius);
  auto power = format_field("power_watts", format_watts);
  return fmt::format("used {} of {}, load {}, temperature {}, power {}", used, total, load,
                     temperature, power);
}

std::string format_log_text(const LogSample& sample, bool ascii_only, ReasonHistory& reasons) {
  reasons.begin_line();
  const auto state = format_state(sample, reasons);
  return fmt::format("{}  {}: {}{}\n", format_time(sample.unix_time_ns),
                     escape_for_text(format_gpu_label(sample.gpu), ascii_only),
                     state.empty() ? format_values(sample, reasons) : state,
                     format_stale_suffix(combine_notes(sample), find_max_age(sample).value_or(0)));
}

std::string format_log_json(const LogSample& sample) {
  const auto& device = sample.gpu.device;
  JsonObject object;
  object.add("unix_time_ns", sample.unix_time_ns)
      .add("monotonic_ns", sample.monotonic_ns)
      .add("index", device.index)
      .add("name", device.name)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("state", or_unknown(state_word(device.state)));
  JsonObject reasons;
  for (const auto& field : log_fields) {
    const auto digits = field.digits(sample);
    object.add_raw(field.key, digits);
    if (digits.empty()) reasons.add(field.key, format_reason(sample, field));
  }
  object.add("age_ns", find_max_age(sample))
      .add("notes", note_words(combine_notes(sample)))
      .add("reasons", reasons);
  return object.text() + "\n";
}

std::string format_csv_header() {
  std::string line = "time,index,name";
  for (const auto& field : log_fields) line += fmt::format(",{}", field.key);
  return line + ",age_ns,notes,reasons\n";
}

// Returns "used_bytes free_bytes: reason; power_watts: another reason".
std::string format_reasons(const LogSample& sample) {
  std::vector<std::pair<std::string, std::string>> keys_by_reason;  // reason, keys
  for (const auto& field : log_fields) {
    if (!field.digits(sample).empty()) continue;
    const auto reason = format_reason(sample, field);
    const auto it = std::find_if(keys_by_reason.begin(), keys_by_reason.end(),
                                 [&](const auto& entry) { return entry.first == reason; });
    if (it == keys_by_reason.end())
      keys_by_reason.emplace_back(reason, field.key);
    else
      it->second.append(" ").append(field.key);
  }
  std::string text;
  for (const auto& [reason, keys] : keys_by_reason)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", keys, reason);
  return text;
}

std::string format_log_csv(const LogSample& sample) {
  auto line = fmt::format("{},{},{}", format_time(sample.unix_time_ns), sample.gpu.device.index,
                          format_csv_cell(escape_for_text(sample.gpu.device.name.value_or(""))));
  for (const auto& field : log_fields) line += "," + field.digits(sample);
  const auto age = find_max_age(sample);
  return line + fmt::format(",{},{},{}\n", age ? fmt::to_string(*age) : "",
                            fmt::join(note_words(combine_notes(sample)), " "),
                            format_csv_cell(format_reasons(sample)));
}

// Returns the deadline of a reading, so that a hanging driver costs values of one sample but does
// not delay the next.
std::uint32_t choose_sample_deadline(const Options& options) {
  return std::min(options.timeout_ms, std::max(options.log.interval_ms, default_deadline_ms));
}

Expected<hypomnesis::snapshot_options> make_log_snapshot_options(const Session& session,
                                                                 const Options& options) {
  if (auto failure = check_for_gpus(session, "no GPU to log: ")) return *std::move(failure);
  hypomnesis::snapshot_options request;
  request.collect = part::devices | part::pools | part::telemetry;
  request.deadline = std::chrono::milliseconds(choose_sample_deadline(options));
  return limit_to_device(session, options.device, request);
}

std::string format_lines(const Session& session, const hypomnesis::snapshot& snapshot, LogForm form,
                         const Style& style, ReasonsByDevice& reasons) {
  const auto info = snapshot.info();
  std::string lines;
  for (auto& gpu : list_gpus(session, snapshot)) {
    auto telemetry = snapshot.telemetry(gpu.device.index);
    const LogSample sample{info.unix_time_ns, info.monotonic_ns, std::move(gpu),
                           std::move(telemetry), &snapshot};
    if (form == LogForm::json)
      lines += format_log_json(sample);
    else if (form == LogForm::csv)
      lines += format_log_csv(sample);
    else
      lines += format_log_text(sample, style.ascii_only, reasons[sample.gpu.device.index]);
  }
  return lines;
}

// End condition of the log.
class EndCondition {
 public:
  explicit EndCondition(const LogOptions& options) : options_(options) {}

  // Returns the time limit of the next sample.
  std::chrono::nanoseconds time_left() const {
    if (!options_.duration_ms || start_ns_ == 0) return hypomnesis::unlimited;
    const auto remaining_ms = *options_.duration_ms - std::min(*options_.duration_ms, elapsed_ms_);
    return std::chrono::milliseconds(std::min(remaining_ms, max_time_ms));
  }
  // Counts the sample; returns whether it still belongs to the log.
  bool accept(const hypomnesis::snapshot_info& sample) {
    if (start_ns_ == 0) start_ns_ = sample.monotonic_ns;
    elapsed_ms_ = (sample.monotonic_ns - start_ns_) / ns_per_ms;
    ++sample_count_;
    if (!options_.duration_ms) return true;
    // Counts the intervals that begin in the duration, even if the first one was late.
    const auto max_samples = (*options_.duration_ms - 1) / options_.interval_ms + 1;
    return elapsed_ms_ < *options_.duration_ms && sample_count_ <= max_samples;
  }
  bool is_complete() const { return options_.count && sample_count_ >= *options_.count; }

 private:
  LogOptions options_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t elapsed_ms_ = 0;
  std::uint64_t sample_count_ = 0;
};

void report_losses(const hypomnesis::sampler_info& info) {
  if (info.dropped_count > 0)
    write_notice(
        fmt::format("{} samples were dropped: they were not read fast enough", info.dropped_count));
  if (info.late_count > 0)
    write_notice(
        fmt::format("{} samples were skipped: earlier ones took too long", info.late_count));
}

// Returns none once stopped or after the time limit.
std::optional<hypomnesis::snapshot> read_next(hypomnesis::sampler& sampler,
                                              std::chrono::nanoseconds timeout) {
  try {
    return sampler.next(timeout);
  } catch (const hypomnesis::error&) {
    return std::nullopt;
  }
}

WriteResult write_lines(const Session& session, hypomnesis::sampler& sampler,
                        const Options& options, const Style& style) {
  EndCondition end_condition(options.log);
  ReasonsByDevice reasons;
  auto result = options.log.form == LogForm::csv ? write_chunk(format_csv_header()) : WriteResult{};
  while (result == WriteResult::written && !end_condition.is_complete()) {
    const auto snapshot = read_next(sampler, end_condition.time_left());
    if (!snapshot || !end_condition.accept(snapshot->info())) break;
    if (options.trace) print_trace(*snapshot);
    result = write_chunk(format_lines(session, *snapshot, options.log.form, style, reasons));
  }
  return result;
}

Expected<ExitCode> run_log(const Session& session, const Options& options, const Style& style) {
  const auto request = make_log_snapshot_options(session, options);
  if (!request) return request.error();
  hypomnesis::sampler_options sampler_options;
  sampler_options.interval = std::chrono::milliseconds(options.log.interval_ms);
  auto sampler = session.library().sample(sampler_options, *request);
  sampler.start();
  const InterruptHandler interruption([&sampler] { sampler.stop(); });
  const auto result = write_lines(session, sampler, options, style);
  report_losses(sampler.info());
  return result == WriteResult::failed ? ExitCode::failed : ExitCode::done;
}

constexpr Option log_options[] = {
    interval_option("Time between samples [1s]", "100ms 1s 10s 1m"),
    {"--count", 'n', "N", "Exit after N samples of each device"},
    duration_option,
    json_option("Print a JSON object on each line"),
    csv_option,
    device_option(),
};

constexpr std::string_view log_examples =
    "Examples:\n"
    "  hmn log -i 500ms --duration 1m\n"
    "  hmn log --csv > gpus.csv             until Ctrl-C\n"
    "  hmn log -jn1 | jq .power_watts       one sample of each device\n"
    "\n"
    "Exit status: 0 done or interrupted, 1 failed, no GPU or no such device, 2 wrong\n"
    "usage. See hmn-log(1).";

std::optional<Failure> read_log(const Arguments& arguments, Options& options) {
  if (auto failure = check_exclusive(arguments, "--json", "--csv")) return failure;
  if (auto failure = check_exclusive(arguments, "--count", "--duration")) return failure;
  if (arguments.has("--json")) options.log.form = LogForm::json;
  if (arguments.has("--csv")) options.log.form = LogForm::csv;
  if (auto failure = read_interval(arguments, options.log.interval_ms)) return failure;
  if (auto failure = read_count(arguments, "--count", options.log.count)) return failure;
  return read_duration(arguments, "--duration", options.log.duration_ms);
}

}  // namespace

const Command log_command = {
    .id = CommandId::log,
    .name = "log",
    .purpose = "Print GPU measurements at an interval",
    .options = log_options,
    .examples = log_examples,
    .read = read_log,
    .run = run_log,
};

}  // namespace hmn::cli
