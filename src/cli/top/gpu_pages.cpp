// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/gpu_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/measure/gpu_status.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"
#include "cli/top/frame.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/top/screen.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::run_state;
using hypomnesis::throttle_reason;

constexpr int index_end = 4;
constexpr int load_width = 5;         // " 100%"
constexpr int temperature_width = 6;  // " 105°C"

// Places of the table's columns.
struct GpuColumns {
  int name = index_end + 1, name_width = 0;
  int load = 0, memory = 0, bar_width = 0;
  int memory_end = 0, temperature_end = 0, power_end = 0;
  int flags = 0, details = 0;
};

// Widths of the values that have no fixed one.
struct ValueWidths {
  int memory = 9;  // "30.0/80.0"
  int power = 8;   // "371/450W"
  int flags = 0;
};

// Columns for a width: the name has what the values leave.
GpuColumns columns_for(int width, const ValueWidths& needed) {
  constexpr int least_name = 6, space_for_flags = 2;
  GpuColumns at;
  at.bar_width = width < 72 ? 4 : width < 100 ? 8 : 12;
  const int wanted_name = width < 72 ? 11 : width < 100 ? 14 : width < wide_table ? 24 : 26;
  const int values = 1 + at.bar_width + load_width + 1 + at.bar_width + 1 + needed.memory +
                     temperature_width + 1 + needed.power;
  at.name_width = std::clamp(width - space_for_flags - at.name - values, least_name, wanted_name);
  at.load = at.name + at.name_width + 1;
  at.memory = at.load + at.bar_width + load_width + 1;
  at.memory_end = at.memory + at.bar_width + 1 + needed.memory;
  at.temperature_end = at.memory_end + temperature_width;
  at.power_end = at.temperature_end + 1 + needed.power;
  at.flags = at.power_end + 1;
  at.details = at.flags + (needed.flags > 0 ? needed.flags + 1 : 0) + 1;
  return at;
}

std::string_view ellipsis_of(const Frame& on) {
  return on.has_unicode() ? "…" : "...";
}

// Draws a bar without brackets.
void put_bar(Frame& on, int x, int y, int width, std::optional<double> fraction, Ramp with) {
  if (!fraction) {
    on.put(x, y, on.has_unicode() ? "·" : ".", Ink::faint);
    return;
  }
  auto bar = draw_bar(*fraction, static_cast<unsigned>(width), on.has_unicode());
  bar = bar.substr(1, bar.size() - 2);
  on.put(x, y, bar, ink_of(with, *fraction));
}

ValueText temperature_text(const GpuReading& of, const Frame& on) {
  if (!of.values || !of.values->temperature_celsius)
    return missing_text(of.lacks(HMN_TELEMETRY_HAS_TEMPERATURE));
  const auto celsius = *of.values->temperature_celsius;
  return {degrees_text(celsius, on.has_unicode()), ink_of(Ramp::heat, (celsius - 30) / 60)};
}

ValueText power_text(const GpuReading& of) {
  if (!of.values || !of.values->power_watts) return missing_text(of.lacks(HMN_TELEMETRY_HAS_POWER));
  const auto watts = *of.values->power_watts;
  const auto limit = of.values->power_limit_watts;
  if (!limit) return {fmt::format("{:.0f}W", watts)};
  return {fmt::format("{:.0f}/{:.0f}W", watts, *limit), ink_of(Ramp::power, watts / *limit)};
}

ValueText memory_text(const GpuReading& of) {
  const auto& pool = of.of.memory;
  const auto used = used_bytes_of(of.of);
  if (!used && (!pool || !pool->total_bytes)) return missing_text(of.has_no_used);
  return {amount_text(mark_of(pool->notes), used, pool->total_bytes, Spacing::compact,
                      sign_of_missing(of.has_no_used))};
}

// A state other than ready, with what is known of the memory, and the reason, which goes on in the
// second line if there is one.
void put_state(Frame& on, const GpuColumns& at, int y, const GpuReading& of, std::string_view state,
               bool has_second_line) {
  const bool is_fault = of.of.device.state != run_state::asleep;
  int x = on.put(at.load, y, state, is_fault ? Ink::bad : Ink::accent) + 2;
  if (of.of.memory && of.of.memory->total_bytes)
    x = on.put(x, y, "of " + gib_text(*of.of.memory->total_bytes) + " GiB") + 2;
  std::string why = escape_for_text(of.why_state, on.with().ascii_only);
  if (has_second_line) {
    const auto first = wrapped(why, on.width() - x).front();
    on.put(x, y++, first, Ink::faint);
    why.erase(0, first.size());
    x = at.name;
  }
  on.put(x, y,
         cut_to_width(why, static_cast<std::size_t>(std::max(on.width() - x, 0)), ellipsis_of(on)),
         Ink::faint);
}

// Shows an earlier value faintly.
template <class Record>
Ink ink_by_age(const std::optional<Record>& of, Ink with) {
  return of && !is_fresh(*of) ? Ink::faint : with;
}

void put_values(Frame& on, const GpuColumns& at, int y, const GpuReading& of) {
  const auto load = of.values ? of.values->gpu_busy_percent : std::nullopt;
  put_bar(on, at.load, y, at.bar_width, load ? std::optional(*load / 100) : std::nullopt,
          Ramp::load);
  const auto shown = percent_text(load, Ramp::load, of.lacks(HMN_TELEMETRY_HAS_GPU_BUSY));
  on.put_right(at.load + at.bar_width + load_width, y, shown.text,
               ink_by_age(of.values, shown.with));
  put_bar(on, at.memory, y, at.bar_width, fraction_used(of.of), Ramp::memory);
  const auto memory = memory_text(of);
  on.put_right(at.memory_end, y, memory.text, ink_by_age(of.of.memory, memory.with));
  const auto temperature = temperature_text(of, on);
  on.put_right(at.temperature_end, y, temperature.text, ink_by_age(of.values, temperature.with));
  const auto power = power_text(of);
  on.put_right(at.power_end, y, power.text, ink_by_age(of.values, power.with));
}

std::string clock_text(const std::optional<std::uint32_t>& mhz, bool is_unsupported) {
  return mhz ? fmt::format("{}MHz", *mhz) : missing_text(is_unsupported).text;
}

std::string fan_text(const hypomnesis::telemetry& of, bool is_unsupported) {
  if (of.fan_percent) return fmt::format("{}%", *of.fan_percent);
  return of.fan_rpm ? fmt::format("{}RPM", *of.fan_rpm) : missing_text(is_unsupported).text;
}

std::string pcie_text(const GpuReading& of, const hypomnesis::telemetry& values, bool arrows) {
  std::string text;
  if (values.pcie_generation && values.pcie_width)
    text = fmt::format("{}x{} ", *values.pcie_generation, *values.pcie_width);
  const auto received = rate_text(of.received_rate, of.lacks(HMN_TELEMETRY_HAS_PCIE_RX)).text;
  const auto sent = rate_text(of.sent_rate, of.lacks(HMN_TELEMETRY_HAS_PCIE_TX)).text;
  return text + (arrows ? "↓" : "rx ") + received + (arrows ? " ↑" : " tx ") + sent;
}

struct Detail {
  std::string_view label;
  std::string value;
  int rank;  // the highest is left out first
};

std::vector<Detail> details_of(const GpuReading& of, bool arrows) {
  const hypomnesis::telemetry none;
  const auto& values = of.values ? *of.values : none;
  return {{"core", clock_text(values.core_clock_mhz, of.lacks(HMN_TELEMETRY_HAS_CORE_CLOCK)), 1},
          {"mem", clock_text(values.memory_clock_mhz, of.lacks(HMN_TELEMETRY_HAS_MEMORY_CLOCK)), 3},
          {"fan",
           fan_text(values,
                    of.lacks(HMN_TELEMETRY_HAS_FAN_PERCENT) && of.lacks(HMN_TELEMETRY_HAS_FAN_RPM)),
           2},
          {"PCIe", pcie_text(of, values, arrows), 0}};
}

int width_of(const ValueText& of) {
  return static_cast<int>(display_width(of.text));
}

int width_of(const Detail& of) {
  return static_cast<int>(display_width(of.label) + 1 + display_width(of.value)) + 2;
}

// Clocks, fan, PCIe: as many as there is space for, none in part.
void put_details(Frame& on, int x, int y, const GpuReading& of) {
  auto all = details_of(of, on.has_unicode());
  const auto total = [&] {
    int width = -2;
    for (const auto& each : all) width += width_of(each);
    return width;
  };
  while (!all.empty() && x + total() > on.width())
    all.erase(std::max_element(all.begin(), all.end(),
                               [](const auto& a, const auto& b) { return a.rank < b.rank; }));
  for (const auto& each : all) {
    const int value = on.put(x, y, std::string(each.label) + " ", Ink::faint);
    on.put(value, y, each.value, each.value.size() == 1 ? Ink::faint : Ink::plain);
    x += width_of(each);
  }
}

void put_flags(Frame& on, int x, int y, const GpuReading& of) {
  for (const auto& each : flags_of(of)) {
    if (x + width_of(each) > on.width()) {
      on.put(on.width() - 1, y, U'!', each.with);
      break;
    }
    x = on.put(x, y, each.text, each.with) + 1;
  }
}

ValueWidths widths_of(const std::vector<GpuReading>& all) {
  ValueWidths out;
  for (const auto& each : all) {
    if (state_of(each.of)) continue;
    out.memory = std::max(out.memory, width_of(memory_text(each)));
    out.power = std::max(out.power, width_of(power_text(each)));
    int flags = 0;
    for (const auto& flag : flags_of(each)) flags += width_of(flag) + 1;
    out.flags = std::max(out.flags, flags - 1);
  }
  return out;
}

void put_titles(Frame& on, const GpuColumns& at, int y, bool is_focused) {
  on.put_right(index_end, y, "GPU", is_focused ? Ink::accent : Ink::strong);
  on.put(at.name, y, "NAME", Ink::strong);
  on.put(at.load, y, "LOAD", Ink::strong);
  on.put(at.memory, y, "MEMORY", Ink::strong);
  on.put_right(at.memory_end, y, "GiB", Ink::strong);
  on.put_right(at.temperature_end, y, "TEMP", Ink::strong);
  on.put_right(at.power_end, y, "POWER", Ink::strong);
}

// Returns the GPU that a partition belongs to, which stands before it.
const GpuReading* parent_of(std::size_t position, const std::vector<GpuReading>& all) {
  const auto parent = all[position].of.device.parent_index;
  if (!parent) return nullptr;
  while (position-- > 0)
    if (all[position].of.device.index == *parent) return &all[position];
  return nullptr;
}

// Name in its column: of a partition with a branch, and without "MIG" where it is too long.
std::string name_text(const Frame& on, const GpuColumns& at, std::size_t position,
                      const std::vector<GpuReading>& all) {
  const auto& of = all[position];
  const auto width = static_cast<std::size_t>(at.name_width);
  auto name = gpu_name(of, parent_of(position, all), on.with().ascii_only);
  const auto parent = of.of.device.parent_index;
  if (parent) {
    constexpr std::string_view needless = "MIG ";
    const bool is_last =
        position + 1 == all.size() || all[position + 1].of.device.parent_index != parent;
    if (display_width(name) + 2 > width && name.starts_with(needless))
      name.erase(0, needless.size());
    name.insert(0, !on.has_unicode() ? "- " : is_last ? "└ " : "├ ");
  }
  return cut_middle(name, width, ellipsis_of(on));
}

void put_gpu(Frame& on, const GpuColumns& at, int y, std::size_t position,
             const std::vector<GpuReading>& all, bool has_second_line) {
  const auto& of = all[position];
  on.put_right(index_end, y, fmt::to_string(of.of.device.index), Ink::strong);
  on.put(at.name, y, name_text(on, at, position, all), of.is_fresh() ? Ink::plain : Ink::faint);
  if (const auto state = state_of(of.of)) return put_state(on, at, y, of, *state, has_second_line);
  put_values(on, at, y, of);
  put_flags(on, at.flags, y, of);
  if (has_second_line)
    put_details(on, at.name, y + 1, of);
  else if (on.width() >= wide_table)
    put_details(on, at.details, y, of);
}

}  // namespace

std::string gpu_name(const GpuReading& of, const GpuReading* parent, bool ascii_only) {
  return escape_for_text(short_name(of.of, parent != nullptr ? &parent->of : nullptr), ascii_only);
}

std::vector<ValueText> flags_of(const GpuReading& of) {
  std::vector<ValueText> out;
  if (of.is_spilling.value_or(false)) out.push_back({"SPILL", Ink::bad});
  if (of.values && of.values->throttle) {
    const auto why = *of.values->throttle;
    if (has(why, throttle_reason::thermal)) out.push_back({"thermal", Ink::bad});
    if (has(why, throttle_reason::hardware)) out.push_back({"hw-slow", Ink::bad});
    if (has(why, throttle_reason::power)) out.push_back({"power", Ink::warning});
  }
  if (!of.is_spilling.value_or(false) && of.has_spilled) out.push_back({"spilled", Ink::warning});
  const auto age =
      std::max(of.values ? of.values->age_ns : 0, of.of.memory ? of.of.memory->age_ns : 0);
  if (!of.is_fresh()) out.push_back({"stale " + elapsed_text(age), Ink::warning});
  return out;
}

void draw_gpu_table(Frame& on, const Layout& in, const State& of) {
  const auto none = std::vector<GpuReading>();
  const auto& all = of.now ? of.now->gpus : none;
  const auto at = columns_for(on.width(), widths_of(all));
  put_titles(on, at, in.gpus.y, of.on == Focus::gpus);
  if (!of.now) {
    on.put(1, in.gpus.y + 1, "looking for GPUs", Ink::faint);
    return;
  }
  if (!of.now->why_no_gpu.empty())
    on.put(1, in.gpus.y + 1, escape_for_text(of.now->why_no_gpu, on.with().ascii_only),
           Ink::warning);
  put_hidden(on, at.power_end, in.gpus.y, of.gpus.top, in.gpu_rows(), all.size());
  int y = in.gpus.y + 1;
  for (std::size_t i = of.gpus.top; i < of.gpus.top + in.gpu_rows() && i < all.size(); ++i) {
    put_gpu(on, at, y, i, all, in.has_gpu_details);
    if (i == of.gpus.at) {
      on.put(0, y, on.has_unicode() ? U'▌' : U'>', Ink::accent);
      if (of.on == Focus::gpus) on.select(0, y, on.width());
    }
    y += in.has_gpu_details ? 2 : 1;
  }
}

namespace {

using hypomnesis::part;
using hypomnesis::pool;
using hypomnesis::telemetry;

// Collects the entries of one GPU, with the reasons that its snapshot has.
class GpuEntries {
 public:
  GpuEntries(const State& of, const GpuReading& gpu) : of_(of), gpu_(gpu) {}

  void add(std::string label, const std::optional<std::string>& text) {
    if (text) all_.push_back({std::move(label), *text, {}});
  }
  void add_or(std::string label, const std::optional<std::string>& value, part subject,
              std::uint32_t bit) {
    all_.push_back({std::move(label), value.value_or(""), value ? "" : reason(subject, bit)});
  }
  void add_or(std::string label, std::optional<std::string> value, std::string reason) {
    all_.push_back({std::move(label), value.value_or(""), std::move(reason)});
  }
  template <class Value>
  void add_number(const char* label, std::optional<Value> telemetry::*which, std::uint32_t bit,
                  const char* format) {
    const auto value = gpu_.values ? (*gpu_.values).*which : std::nullopt;
    add_or(label, value ? std::optional(fmt::format(fmt::runtime(format), *value)) : std::nullopt,
           part::telemetry, bit);
  }
  void add_bytes(const char* label, std::optional<std::uint64_t> pool::*which, std::uint32_t bit) {
    const auto value = gpu_.of.memory ? (*gpu_.of.memory).*which : std::nullopt;
    add_or(label, value ? std::optional(short_bytes(static_cast<double>(*value))) : std::nullopt,
           part::pools, bit);
  }
  std::vector<Entry> all() { return std::move(all_); }

 private:
  std::string reason(part subject, std::uint32_t bit) const {
    if (!of_.now->from) return {};
    const auto found = of_.now->from->reason(gpu_.of.device.index, subject, bit);
    return found ? found->message : std::string();
  }

  const State& of_;
  const GpuReading& gpu_;
  std::vector<Entry> all_;
};

std::optional<std::string> rate_or_none(const std::optional<double>& rate) {
  return rate ? std::optional(rate_text(rate).text) : std::nullopt;
}

std::optional<std::string> throttle_text(const GpuReading& of) {
  if (!of.values || !of.values->throttle) return std::nullopt;
  constexpr std::pair<throttle_reason, const char*> names[] = {
      {throttle_reason::idle, "idle"},         {throttle_reason::power, "power"},
      {throttle_reason::thermal, "thermal"},   {throttle_reason::hardware, "hardware"},
      {throttle_reason::setting, "a setting"}, {throttle_reason::other, "other"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if (has(*of.values->throttle, bit)) text.append(text.empty() ? "" : ", ").append(name);
  return text.empty() ? "no" : text;
}

std::optional<std::string> spill_text(const GpuReading& of) {
  if (!of.is_spilling) return std::nullopt;
  if (*of.is_spilling) return "now: memory of the GPU is in host memory";
  return of.has_spilled ? "earlier, not now" : "no";
}

void add_identity(GpuEntries& to, const GpuReading& of) {
  const auto& device = of.of.device;
  to.add("name", shown_name(of.of));
  to.add("UUID", device.uuid);
  to.add("PCI address", device.pci_bus_id);
  to.add("driver", device.driver_version);
  if (device.parent_index) to.add("part of", fmt::format("GPU {}", *device.parent_index));
  const auto state = state_word(device.state).value_or("unknown");
  to.add("state",
         of.why_state.empty() ? std::string(state) : fmt::format("{}: {}", state, of.why_state));
  if (of.values && !is_fresh(*of.values)) to.add("values", stale_text(of.values->age_ns));
}

std::vector<Entry> entries_of(const State& in, const GpuReading& of, bool unicode) {
  GpuEntries to(in, of);
  add_identity(to, of);
  to.add_number("load", &telemetry::gpu_busy_percent, HMN_TELEMETRY_HAS_GPU_BUSY, "{:.0f}%");
  to.add_number("memory load", &telemetry::memory_busy_percent, HMN_TELEMETRY_HAS_MEMORY_BUSY,
                "{:.0f}%");
  to.add_number("encoder", &telemetry::encoder_busy_percent, HMN_TELEMETRY_HAS_ENCODER_BUSY,
                "{:.0f}%");
  to.add_number("decoder", &telemetry::decoder_busy_percent, HMN_TELEMETRY_HAS_DECODER_BUSY,
                "{:.0f}%");
  to.add_bytes("memory used", &pool::used_bytes, HMN_POOL_HAS_USED);
  to.add_bytes("memory free", &pool::free_bytes, HMN_POOL_HAS_FREE);
  to.add_bytes("memory reserved", &pool::reserved_bytes, HMN_POOL_HAS_RESERVED);
  to.add_bytes("memory total", &pool::total_bytes, HMN_POOL_HAS_TOTAL);
  to.add_bytes("unattributed", &pool::unattributed_bytes, HMN_POOL_HAS_UNATTRIBUTED);
  const char* const degrees = unicode ? "{:.0f}\u00b0C" : "{:.0f}C";
  to.add_number("temperature", &telemetry::temperature_celsius, HMN_TELEMETRY_HAS_TEMPERATURE,
                degrees);
  to.add_number("hotspot", &telemetry::hotspot_celsius, HMN_TELEMETRY_HAS_HOTSPOT, degrees);
  to.add_number("memory temperature", &telemetry::memory_celsius,
                HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, degrees);
  to.add_number("power", &telemetry::power_watts, HMN_TELEMETRY_HAS_POWER, "{:.1f} W");
  to.add_number("power limit", &telemetry::power_limit_watts, HMN_TELEMETRY_HAS_POWER_LIMIT,
                "{:.0f} W");
  to.add_number("core clock", &telemetry::core_clock_mhz, HMN_TELEMETRY_HAS_CORE_CLOCK, "{} MHz");
  to.add_number("memory clock", &telemetry::memory_clock_mhz, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
                "{} MHz");
  to.add_number("fan", &telemetry::fan_percent, HMN_TELEMETRY_HAS_FAN_PERCENT, "{}%");
  to.add_number("fan speed", &telemetry::fan_rpm, HMN_TELEMETRY_HAS_FAN_RPM, "{} RPM");
  to.add_number("PCIe generation", &telemetry::pcie_generation, HMN_TELEMETRY_HAS_PCIE_GENERATION,
                "{}");
  to.add_number("PCIe lanes", &telemetry::pcie_width, HMN_TELEMETRY_HAS_PCIE_WIDTH, "{}");
  to.add_or("PCIe received", rate_or_none(of.received_rate), of.why_no_rate);
  to.add_or("PCIe sent", rate_or_none(of.sent_rate), of.why_no_rate);
  to.add_number("P-state", &telemetry::p_state, HMN_TELEMETRY_HAS_P_STATE, "P{}");
  to.add_or("throttled", throttle_text(of), part::telemetry, HMN_TELEMETRY_HAS_THROTTLE);
  to.add_or("spill", spill_text(of), of.why_no_spill);
  return to.all();
}

}  // namespace

void draw_gpu_page(Frame& on, Area where, State& of) {
  const auto* const gpu = of.gpu();
  if (gpu == nullptr) return;
  auto all = charts_of(of, *gpu, on.has_unicode());
  const int charts = std::clamp(where.height / 3, least_chart_height, 12);
  all.resize(std::min<std::size_t>(all.size(), where.width >= 150                  ? 5
                                               : where.width >= 100 || charts >= 8 ? 4
                                                                                   : 2));
  draw_charts(on, {where.x, where.y, where.width, charts}, all, of.window());
  draw_entries(on, {where.x, where.y + charts, where.width, where.height - charts},
               entries_of(of, *gpu, on.has_unicode()), of.text);
}

}  // namespace hmn::cli::top
