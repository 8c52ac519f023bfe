// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/macmon_source.hpp"

#include <utility>

#include "backends/shared/command_tool/command_source.hpp"
#include "platform/clock.hpp"

namespace hmn::macmon {
namespace {

namespace bit = telemetry_field;

constexpr Slot only_slot = 0;
// macmon measures for at least so long.
constexpr std::uint64_t window_ns = 100 * platform::ns_per_ms;
constexpr const char* interval_ms = "100";

constexpr std::string_view folders[] = {"/opt/homebrew/bin/", "/usr/local/bin/"};
constinit const command_tool::ToolDescription tool{
    .fail = {Source::macmon},
    .name = "macmon",
    .gpu = "an Apple GPU",
    .vendor = vendor::apple,
    .driver = "",
    .folders = folders,
    .absent_message = "macmon is neither in /opt/homebrew/bin nor in /usr/local/bin",
    .timeout_advice = "; it measures over a tenth of a second, and takes as long again to start",
};

constexpr FailureFactory fail{Source::macmon};

Failure make_absent_failure(const FieldAmount& amount) {
  if (amount.status == Status::empty)
    return fail(Status::unsupported, "macmon prints no such value");
  return tool.fail(amount.status,
                   {"macmon's \"", amount.key.view(), "\" is ", amount.text.view(), amount.flaw});
}

void diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields, Reading& reading) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject;
  diagnostic.field = fields;
  diagnostic.device = only_slot;
  reading.diagnose(diagnostic);
}

// Option parsing (clap) fails with exit code 2.
bool is_option_refused(const platform::Outcome& outcome) {
  return outcome.has_exit_status && outcome.exit_code == 2 &&
         outcome.output.find("--soc-info") != std::string::npos;
}

// The share of time is better; before 0.8 only the clock-weighted value exists, which is never
// larger.
const FieldAmount& select_busy_amount(const Sample& sample) {
  const FieldAmount& active = sample[Field::gpu_active];
  const FieldAmount& effective = sample[Field::gpu_effective];
  return active.has_value() || effective.status == Status::empty ? active : effective;
}

Metric make_busy_metric(const Sample& sample) {
  Metric metric =
      make_value_metric(Source::macmon, MetricId::engine_percent, metric_instance::engine::graphics,
                        select_busy_amount(sample).number);
  metric.window_ns = window_ns;
  if (!sample[Field::gpu_active].has_value()) metric.notes |= note::lower_bound;
  return metric;
}

constexpr FieldSet reported_fields[] = {bit::gpu_busy_percent, bit::temperature_celsius,
                                        bit::power_watts, bit::core_clock_mhz};

const FieldAmount& select_amount(const Sample& sample, FieldSet field_bit) {
  switch (field_bit) {
    case bit::gpu_busy_percent:
      return select_busy_amount(sample);
    case bit::temperature_celsius:
      return sample[Field::gpu_temperature];
    case bit::power_watts:
      return sample[Field::gpu_power];
    default:
      return sample[Field::gpu_clock];
  }
}

void set_field(Telemetry& telemetry, FieldSet field_bit, const FieldAmount& amount) {
  switch (field_bit) {
    case bit::gpu_busy_percent:
      telemetry.gpu_busy_percent = amount.number;
      telemetry.window_ns = window_ns;
      break;
    case bit::temperature_celsius:
      telemetry.temperature_celsius = amount.number;
      break;
    case bit::power_watts:
      telemetry.power_watts = amount.number;
      break;
    default:
      telemetry.core_clock_mhz = static_cast<std::uint32_t>(amount.number + 0.5);
  }
}

bool has_any(const Telemetry& telemetry) {
  return telemetry.gpu_busy_percent || telemetry.temperature_celsius || telemetry.power_watts ||
         telemetry.core_clock_mhz;
}

struct MetricField {
  Field field;
  MetricId id;
  std::uint32_t instance;
};

constexpr MetricField metric_fields[] = {
    {Field::gpu_temperature, MetricId::temperature, metric_instance::sensor::core},
    {Field::gpu_power, MetricId::power_watts, metric_instance::power_reading::average},
    {Field::chip_power, MetricId::power_watts, metric_instance::power_reading::package},
    {Field::memory_power, MetricId::power_watts, metric_instance::power_reading::memory},
    {Field::board_power, MetricId::power_watts, metric_instance::power_reading::board},
    {Field::gpu_clock, MetricId::clock_mhz, metric_instance::clock::core},
};

}  // namespace

MacmonSource::MacmonSource(const std::string& path, bool is_root)
    : DeviceSource(Source::macmon, CallBehavior::run_programs),
      program_(tool, path),
      may_be_planted_(is_root && path.empty()) {}

Result<void> MacmonSource::probe() {
  Result<void> result = program_.find();
  // Homebrew's folders belong to a user.
  if (result && may_be_planted_) {
    return fail(Status::permission,
                "macmon is not started as root, since users can write to its folder; give its path "
                "if that is meant");
  }
  return result;
}

Result<void> MacmonSource::prepare(Reading&) {
  load_result_.reset();
  sample_.reset();
  return probe();
}

Result<void> MacmonSource::load(Reading& reading) {
  if (!load_result_) {
    load_result_ = run(reading);
    store_result(*load_result_);
  }
  return *load_result_;
}

Result<void> MacmonSource::run(Reading& reading) {
  if (program_.was_replaced()) is_plain_ = false;
  std::vector<std::string> arguments{"--interval", interval_ms, "pipe", "--samples", "1"};
  if (!is_plain_) arguments.emplace_back("--soc-info");
  const platform::Outcome outcome = program_.run(std::move(arguments), true, reading);
  const command_tool::RunFailures verdict(tool, outcome);
  if (auto failure = verdict.find_start_failure(program_.path())) return *failure;
  if (!is_plain_ && is_option_refused(outcome)) {
    is_plain_ = true;
    return run(reading);
  }
  Answer answer = read_answer(outcome.output);
  if (!answer.last) return verdict.make_exit_failure("printed no sample", answer.stray.view());
  sample_ = std::move(answer.last);
  if (!sample_->chip.empty()) chip_ = sample_->chip;
  if (outcome.has_exit_status && (outcome.signal != 0 || outcome.exit_code != 0)) {
    diagnose(verdict.make_exit_failure("printed its sample", answer.stray.view()), subject::devices,
             0, reading);
  }
  return {};
}

Result<const Sample*> MacmonSource::find(Slot slot, Reading& reading) {
  if (slot != only_slot) return fail(Status::no_device, "macmon reports one GPU only");
  if (Result<void> result = load(reading); !result) return result.failure();
  return &*sample_;
}

Result<void> MacmonSource::devices(std::vector<Device>& out, Reading& reading) {
  if (Result<void> result = load(reading); !result) return result;
  Device device;
  device.slot = only_slot;
  device.source = Source::macmon;
  device.form = DeviceForm::integrated;
  device.memory_kind = MemoryKind::unified;
  device.vendor = vendor::apple;
  device.state = State::ready;
  device.driver_index = 0;
  device.name.assign(chip_.view());
  out.push_back(device);
  return {};
}

// The RAM usage that it prints is that of all programs, not of the GPU.
Result<void> MacmonSource::memory(Slot slot, PoolList& out, Reading& reading) {
  const auto sample = find(slot, reading);
  if (!sample) return sample.failure();
  Pool pool;
  pool.kind = PoolKind::unified;
  pool.source = Source::macmon;
  pool.is_main = true;
  const FieldAmount& total = (**sample)[Field::memory_total];
  if (total.has_value()) {
    pool.total = total.whole;
  } else {
    diagnose(make_absent_failure(total), subject::pools, pool_field::total, reading);
  }
  diagnose(fail(Status::unsupported,
                "macmon reports the RAM that all programs use, not the part of the GPU"),
           subject::pools, pool_field::used | pool_field::free, reading);
  out.add(pool);
  return {};
}

Result<void> MacmonSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                     Reading& reading) {
  const auto sample = find(slot, reading);
  if (!sample) return sample.failure();
  out = {};
  out.source = Source::macmon;
  out.sources = source_bit(Source::macmon);
  FieldSet left = fields;
  std::vector<command_tool::MissingFields> gaps;
  for (const FieldSet field_bit : reported_fields) {
    if ((fields & field_bit) == 0) continue;
    left &= ~field_bit;
    const FieldAmount& amount = select_amount(**sample, field_bit);
    if (amount.has_value()) {
      set_field(out, field_bit, amount);
      continue;
    }
    const Failure failure = make_absent_failure(amount);
    command_tool::add_missing(gaps, field_bit, failure.code, failure.message);
  }
  if (out.window_ns) left &= ~bit::window_ns;
  const Failure failure = make_absent_failure({});
  if (left != 0) command_tool::add_missing(gaps, left, failure.code, failure.message);
  if (!has_any(out)) return fail(gaps.front().code, gaps.front().message);
  if (out.gpu_busy_percent) out.notes |= make_busy_metric(**sample).notes;
  for (const command_tool::MissingFields& gap : gaps) {
    diagnose(fail(gap.code, gap.message), subject::telemetry, gap.fields, reading);
  }
  return {};
}

Result<void> MacmonSource::metrics(Slot slot, bool, std::vector<Metric>& out, Reading& reading) {
  const auto result = find(slot, reading);
  if (!result) return result.failure();
  const Sample& sample = **result;
  // A key that is not printed is no failure: versions differ.
  const auto check_value = [&reading](const FieldAmount& amount, FieldSet metric) {
    if (!amount.has_value() && amount.status != Status::empty) {
      diagnose(make_absent_failure(amount), subject::metrics, metric, reading);
    }
    return amount.has_value();
  };
  const Metric busy_metric = make_busy_metric(sample);
  if (check_value(select_busy_amount(sample), missing_metric(busy_metric.id, busy_metric.instance)))
    out.push_back(busy_metric);
  for (const MetricField& row : metric_fields) {
    if (!check_value(sample[row.field], missing_metric(row.id, row.instance))) continue;
    out.push_back(
        make_value_metric(Source::macmon, row.id, row.instance, sample[row.field].number));
    if (row.id == MetricId::power_watts) out.back().window_ns = window_ns;
  }
  for (std::size_t i = 0; i < sample.fans.size(); ++i) {
    const auto instance = static_cast<std::uint32_t>(i) + 1;
    if (!check_value(sample.fans[i], missing_metric(MetricId::fan_rpm, instance))) continue;
    out.push_back(
        make_value_metric(Source::macmon, MetricId::fan_rpm, instance, sample.fans[i].number));
  }
  return {};
}

}  // namespace hmn::macmon
