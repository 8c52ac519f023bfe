// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/macmon/macmon_source.hpp"

#include <utility>

#include "backends/shared/command_tool/command_source.hpp"
#include "platform/clock.hpp"

namespace hmn::macmon {
namespace {

namespace bit = telemetry_field;

constexpr slot only = 0;
// macmon measures for at least so long.
constexpr std::uint64_t window_ns = 100 * platform::ns_per_ms;
constexpr const char* interval = "100";

constexpr std::string_view folders[] = {"/opt/homebrew/bin/", "/usr/local/bin/"};
constinit const command_tool::description tool{
    .fail = {source::macmon},
    .name = "macmon",
    .gpu = "an Apple GPU",
    .vendor = vendor::apple,
    .driver = "",
    .folders = folders,
    .absent = "macmon is neither in /opt/homebrew/bin nor in /usr/local/bin",
    .when_late = "; it measures over a tenth of a second, and takes as long again to start",
};

constexpr failure_of fail{source::macmon};

failure why_absent(const field_amount& f) {
  if (f.why == status::empty) return fail(status::unsupported, "macmon prints no such value");
  return tool.fail(f.why, {"macmon's \"", f.key.view(), "\" is ", f.said.view(), f.flaw});
}

void diagnose(const failure& why, std::uint32_t about, FieldSet fields, reading& r) {
  diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = only;
  r.diagnose(d);
}

// Option parsing (clap) fails with exit code 2.
bool is_option_refused(const platform::outcome& o) {
  return o.exit_known && o.exit_code == 2 && o.output.find("--soc-info") != std::string::npos;
}

// The share of time is better; before 0.8 only the clock-weighted value exists, which is never
// larger.
const field_amount& busy_amount(const sample& s) {
  const field_amount& active = s[field::gpu_active];
  const field_amount& effective = s[field::gpu_effective];
  return active.has_value() || effective.why == status::empty ? active : effective;
}

metric busy_of(const sample& s) {
  metric m = measured(source::macmon, metric_id::engine_percent, which::engine::graphics,
                      busy_amount(s).number);
  m.window_ns = window_ns;
  if (!s[field::gpu_active].has_value()) m.notes |= note::lower_bound;
  return m;
}

constexpr FieldSet reported_fields[] = {bit::gpu_busy_percent, bit::temperature_celsius,
                                        bit::power_watts, bit::core_clock_mhz};

const field_amount& amount_of(const sample& s, FieldSet wanted) {
  switch (wanted) {
    case bit::gpu_busy_percent:
      return busy_amount(s);
    case bit::temperature_celsius:
      return s[field::gpu_temperature];
    case bit::power_watts:
      return s[field::gpu_power];
    default:
      return s[field::gpu_clock];
  }
}

void put(telemetry& out, FieldSet wanted, const field_amount& f) {
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

bool has_any(const telemetry& t) {
  return t.gpu_busy_percent || t.temperature_celsius || t.power_watts || t.core_clock_mhz;
}

struct metric_field {
  field what;
  metric_id id;
  std::uint32_t instance;
};

constexpr metric_field metric_fields[] = {
    {field::gpu_temperature, metric_id::temperature, which::sensor::core},
    {field::gpu_power, metric_id::power_watts, which::power_reading::average},
    {field::chip_power, metric_id::power_watts, which::power_reading::package},
    {field::memory_power, metric_id::power_watts, which::power_reading::memory},
    {field::board_power, metric_id::power_watts, which::power_reading::board},
    {field::gpu_clock, metric_id::clock_mhz, which::clock::core},
};

}  // namespace

macmon_source::macmon_source(const std::string& path, bool is_root)
    : device_source(source::macmon, calls::run_programs),
      program_(tool, path),
      may_be_planted_(is_root && path.empty()) {}

result<void> macmon_source::probe() {
  result<void> here = program_.find();
  // Homebrew's folders belong to a user.
  if (here && may_be_planted_) {
    return fail(status::permission,
                "macmon is not started as root, since users can write to its folder; give its path "
                "if that is meant");
  }
  return here;
}

result<void> macmon_source::prepare(reading&) {
  loaded_.reset();
  now_.reset();
  return probe();
}

result<void> macmon_source::load(reading& r) {
  if (!loaded_) {
    loaded_ = ask(r);
    settle(*loaded_);
  }
  return *loaded_;
}

result<void> macmon_source::ask(reading& r) {
  if (program_.was_replaced()) is_plain_ = false;
  std::vector<std::string> words{"--interval", interval, "pipe", "--samples", "1"};
  if (!is_plain_) words.emplace_back("--soc-info");
  const platform::outcome o = program_.run(std::move(words), true, r);
  const command_tool::verdict v(tool, o);
  if (auto why = v.why_not_run(program_.path())) return *why;
  if (!is_plain_ && is_option_refused(o)) {
    is_plain_ = true;
    return ask(r);
  }
  answer a = read_answer(o.output);
  if (!a.last) return v.of_exit("printed no sample", a.stray.view());
  now_ = std::move(a.last);
  if (!now_->chip.empty()) chip_ = now_->chip;
  if (o.exit_known && (o.signal != 0 || o.exit_code != 0)) {
    diagnose(v.of_exit("printed its sample", a.stray.view()), subject::devices, 0, r);
  }
  return {};
}

result<const sample*> macmon_source::find(slot number, reading& r) {
  if (number != only) return fail(status::no_device, "macmon reports one GPU only");
  if (result<void> loaded = load(r); !loaded) return loaded.why();
  return &*now_;
}

result<void> macmon_source::devices(std::vector<device>& out, reading& r) {
  if (result<void> loaded = load(r); !loaded) return loaded;
  device who;
  who.number = only;
  who.from = source::macmon;
  who.form = device_form::integrated;
  who.memory_kind = memory_kind::unified;
  who.vendor = vendor::apple;
  who.state = state::ready;
  who.driver_index = 0;
  who.name.assign(chip_.view());
  out.push_back(who);
  return {};
}

// The RAM usage that it prints is that of all programs, not of the GPU.
result<void> macmon_source::memory(slot number, pools& out, reading& r) {
  const auto s = find(number, r);
  if (!s) return s.why();
  pool p;
  p.kind = pool_kind::unified;
  p.from = source::macmon;
  p.is_main = true;
  const field_amount& total = (**s)[field::memory_total];
  if (total.has_value()) {
    p.total = total.whole;
  } else {
    diagnose(why_absent(total), subject::pools, pool_field::total, r);
  }
  diagnose(fail(status::unsupported,
                "macmon reports the RAM that all programs use, not the part of the GPU"),
           subject::pools, pool_field::used | pool_field::free, r);
  out.add(p);
  return {};
}

result<void> macmon_source::telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                                      reading& r) {
  const auto found = find(number, r);
  if (!found) return found.why();
  out = {};
  out.from = source::macmon;
  out.sources = bit_of(source::macmon);
  FieldSet left = fields;
  std::vector<command_tool::missing> gaps;
  for (const FieldSet wanted : reported_fields) {
    if ((fields & wanted) == 0) continue;
    left &= ~wanted;
    const field_amount& f = amount_of(**found, wanted);
    if (f.has_value()) {
      put(out, wanted, f);
      continue;
    }
    const failure why = why_absent(f);
    command_tool::add_missing(gaps, wanted, why.code, why.message);
  }
  if (out.window_ns) left &= ~bit::window_ns;
  const failure why = why_absent({});
  if (left != 0) command_tool::add_missing(gaps, left, why.code, why.message);
  if (!has_any(out)) return fail(gaps.front().code, gaps.front().message);
  if (out.gpu_busy_percent) out.notes |= busy_of(**found).notes;
  for (const command_tool::missing& m : gaps) {
    diagnose(fail(m.code, m.message), subject::telemetry, m.fields, r);
  }
  return {};
}

result<void> macmon_source::metrics(slot number, bool, std::vector<metric>& out, reading& r) {
  const auto found = find(number, r);
  if (!found) return found.why();
  const sample& s = **found;
  // A key that is not printed is no failure: versions differ.
  const auto has = [&r](const field_amount& f, FieldSet metric) {
    if (!f.has_value() && f.why != status::empty) {
      diagnose(why_absent(f), subject::metrics, metric, r);
    }
    return f.has_value();
  };
  const metric busy = busy_of(s);
  if (has(busy_amount(s), missing_metric(busy.id, busy.instance))) out.push_back(busy);
  for (const metric_field& m : metric_fields) {
    if (!has(s[m.what], missing_metric(m.id, m.instance))) continue;
    out.push_back(measured(source::macmon, m.id, m.instance, s[m.what].number));
    if (m.id == metric_id::power_watts) out.back().window_ns = window_ns;
  }
  for (std::size_t i = 0; i < s.fans.size(); ++i) {
    const auto instance = static_cast<std::uint32_t>(i) + 1;
    if (!has(s.fans[i], missing_metric(metric_id::fan_rpm, instance))) continue;
    out.push_back(measured(source::macmon, metric_id::fan_rpm, instance, s.fans[i].number));
  }
  return {};
}

}  // namespace hmn::macmon
