// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/macmon_source.hpp"

#include <utility>

#include "backends/shared/command_tool/command_source.hpp"
#include "platform/clock.hpp"

namespace hmn::macmon {
namespace {

namespace bit = telemetry_field;

constexpr Slot only = 0;
// macmon measures for at least so long.
constexpr std::uint64_t window_ns = 100 * platform::ns_per_ms;
constexpr const char* interval = "100";

constexpr std::string_view folders[] = {"/opt/homebrew/bin/", "/usr/local/bin/"};
constinit const command_tool::Description tool{
    .fail = {Source::macmon},
    .name = "macmon",
    .gpu = "an Apple GPU",
    .vendor = vendor::apple,
    .driver = "",
    .folders = folders,
    .absent = "macmon is neither in /opt/homebrew/bin nor in /usr/local/bin",
    .when_late = "; it measures over a tenth of a second, and takes as long again to start",
};

constexpr FailureOf fail{Source::macmon};

Failure why_absent(const FieldAmount& f) {
  if (f.why == Status::empty) return fail(Status::unsupported, "macmon prints no such value");
  return tool.fail(f.why, {"macmon's \"", f.key.view(), "\" is ", f.said.view(), f.flaw});
}

void diagnose(const Failure& why, std::uint32_t about, FieldSet fields, Reading& r) {
  Diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = only;
  r.diagnose(d);
}

// Option parsing (clap) fails with exit code 2.
bool is_option_refused(const platform::Outcome& o) {
  return o.exit_known && o.exit_code == 2 && o.output.find("--soc-info") != std::string::npos;
}

// The share of time is better; before 0.8 only the clock-weighted value exists, which is never
// larger.
const FieldAmount& busy_amount(const Sample& s) {
  const FieldAmount& active = s[Field::gpu_active];
  const FieldAmount& effective = s[Field::gpu_effective];
  return active.has_value() || effective.why == Status::empty ? active : effective;
}

Metric busy_of(const Sample& s) {
  Metric m = measured(Source::macmon, MetricId::engine_percent, which::engine::graphics,
                      busy_amount(s).number);
  m.window_ns = window_ns;
  if (!s[Field::gpu_active].has_value()) m.notes |= note::lower_bound;
  return m;
}

constexpr FieldSet reported_fields[] = {bit::gpu_busy_percent, bit::temperature_celsius,
                                        bit::power_watts, bit::core_clock_mhz};

const FieldAmount& amount_of(const Sample& s, FieldSet wanted) {
  switch (wanted) {
    case bit::gpu_busy_percent:
      return busy_amount(s);
    case bit::temperature_celsius:
      return s[Field::gpu_temperature];
    case bit::power_watts:
      return s[Field::gpu_power];
    default:
      return s[Field::gpu_clock];
  }
}

void put(Telemetry& out, FieldSet wanted, const FieldAmount& f) {
  switch (wanted) {
    case bit::gpu_busy_percent:
      out.gpu_busy_percent = f.number;
      out.window_ns = window_ns;
      break;
    case bit::temperature_celsius:
      out.temperature_celsius = f.number;
      break;
    case bit::power_watts:
      out.power_watts = f.number;
      break;
    default:
      out.core_clock_mhz = static_cast<std::uint32_t>(f.number + 0.5);
  }
}

bool has_any(const Telemetry& t) {
  return t.gpu_busy_percent || t.temperature_celsius || t.power_watts || t.core_clock_mhz;
}

struct MetricField {
  Field what;
  MetricId id;
  std::uint32_t instance;
};

constexpr MetricField metric_fields[] = {
    {Field::gpu_temperature, MetricId::temperature, which::sensor::core},
    {Field::gpu_power, MetricId::power_watts, which::power_reading::average},
    {Field::chip_power, MetricId::power_watts, which::power_reading::package},
    {Field::memory_power, MetricId::power_watts, which::power_reading::memory},
    {Field::board_power, MetricId::power_watts, which::power_reading::board},
    {Field::gpu_clock, MetricId::clock_mhz, which::clock::core},
};

}  // namespace

MacmonSource::MacmonSource(const std::string& path, bool is_root)
    : DeviceSource(Source::macmon, Calls::run_programs),
      program_(tool, path),
      may_be_planted_(is_root && path.empty()) {}

Result<void> MacmonSource::probe() {
  Result<void> here = program_.find();
  // Homebrew's folders belong to a user.
  if (here && may_be_planted_) {
    return fail(Status::permission,
                "macmon is not started as root, since users can write to its folder; give its path "
                "if that is meant");
  }
  return here;
}

Result<void> MacmonSource::prepare(Reading&) {
  loaded_.reset();
  now_.reset();
  return probe();
}

Result<void> MacmonSource::load(Reading& r) {
  if (!loaded_) {
    loaded_ = ask(r);
    settle(*loaded_);
  }
  return *loaded_;
}

Result<void> MacmonSource::ask(Reading& r) {
  if (program_.was_replaced()) is_plain_ = false;
  std::vector<std::string> words{"--interval", interval, "pipe", "--samples", "1"};
  if (!is_plain_) words.emplace_back("--soc-info");
  const platform::Outcome o = program_.run(std::move(words), true, r);
  const command_tool::Verdict v(tool, o);
  if (auto why = v.why_not_run(program_.path())) return *why;
  if (!is_plain_ && is_option_refused(o)) {
    is_plain_ = true;
    return ask(r);
  }
  Answer a = read_answer(o.output);
  if (!a.last) return v.of_exit("printed no sample", a.stray.view());
  now_ = std::move(a.last);
  if (!now_->chip.empty()) chip_ = now_->chip;
  if (o.exit_known && (o.signal != 0 || o.exit_code != 0)) {
    diagnose(v.of_exit("printed its sample", a.stray.view()), subject::devices, 0, r);
  }
  return {};
}

Result<const Sample*> MacmonSource::find(Slot number, Reading& r) {
  if (number != only) return fail(Status::no_device, "macmon reports one GPU only");
  if (Result<void> loaded = load(r); !loaded) return loaded.why();
  return &*now_;
}

Result<void> MacmonSource::devices(std::vector<Device>& out, Reading& r) {
  if (Result<void> loaded = load(r); !loaded) return loaded;
  Device who;
  who.number = only;
  who.from = Source::macmon;
  who.form = DeviceForm::integrated;
  who.memory_kind = MemoryKind::unified;
  who.vendor = vendor::apple;
  who.state = State::ready;
  who.driver_index = 0;
  who.name.assign(chip_.view());
  out.push_back(who);
  return {};
}

// The RAM usage that it prints is that of all programs, not of the GPU.
Result<void> MacmonSource::memory(Slot number, Pools& out, Reading& r) {
  const auto s = find(number, r);
  if (!s) return s.why();
  Pool p;
  p.kind = PoolKind::unified;
  p.from = Source::macmon;
  p.is_main = true;
  const FieldAmount& total = (**s)[Field::memory_total];
  if (total.has_value()) {
    p.total = total.whole;
  } else {
    diagnose(why_absent(total), subject::pools, pool_field::total, r);
  }
  diagnose(fail(Status::unsupported,
                "macmon reports the RAM that all programs use, not the part of the GPU"),
           subject::pools, pool_field::used | pool_field::free, r);
  out.add(p);
  return {};
}

Result<void> MacmonSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out,
                                     Reading& r) {
  const auto found = find(number, r);
  if (!found) return found.why();
  out = {};
  out.from = Source::macmon;
  out.sources = bit_of(Source::macmon);
  FieldSet left = fields;
  std::vector<command_tool::Missing> gaps;
  for (const FieldSet wanted : reported_fields) {
    if ((fields & wanted) == 0) continue;
    left &= ~wanted;
    const FieldAmount& f = amount_of(**found, wanted);
    if (f.has_value()) {
      put(out, wanted, f);
      continue;
    }
    const Failure why = why_absent(f);
    command_tool::add_missing(gaps, wanted, why.code, why.message);
  }
  if (out.window_ns) left &= ~bit::window_ns;
  const Failure why = why_absent({});
  if (left != 0) command_tool::add_missing(gaps, left, why.code, why.message);
  if (!has_any(out)) return fail(gaps.front().code, gaps.front().message);
  if (out.gpu_busy_percent) out.notes |= busy_of(**found).notes;
  for (const command_tool::Missing& m : gaps) {
    diagnose(fail(m.code, m.message), subject::telemetry, m.fields, r);
  }
  return {};
}

Result<void> MacmonSource::metrics(Slot number, bool, std::vector<Metric>& out, Reading& r) {
  const auto found = find(number, r);
  if (!found) return found.why();
  const Sample& s = **found;
  // A key that is not printed is no failure: versions differ.
  const auto has = [&r](const FieldAmount& f, FieldSet metric) {
    if (!f.has_value() && f.why != Status::empty) {
      diagnose(why_absent(f), subject::metrics, metric, r);
    }
    return f.has_value();
  };
  const Metric busy = busy_of(s);
  if (has(busy_amount(s), missing_metric(busy.id, busy.instance))) out.push_back(busy);
  for (const MetricField& m : metric_fields) {
    if (!has(s[m.what], missing_metric(m.id, m.instance))) continue;
    out.push_back(measured(Source::macmon, m.id, m.instance, s[m.what].number));
    if (m.id == MetricId::power_watts) out.back().window_ns = window_ns;
  }
  for (std::size_t i = 0; i < s.fans.size(); ++i) {
    const auto instance = static_cast<std::uint32_t>(i) + 1;
    if (!has(s.fans[i], missing_metric(MetricId::fan_rpm, instance))) continue;
    out.push_back(measured(Source::macmon, MetricId::fan_rpm, instance, s.fans[i].number));
  }
  return {};
}

}  // namespace hmn::macmon
