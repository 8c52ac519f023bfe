// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/gpu_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/measure/by_device.hpp"
#include "cli/measure/freshness.hpp"
#include "cli/measure/gpu_cells.hpp"
#include "cli/measure/gpu_status.hpp"
#include "cli/text/bar.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/memory_line.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/width.hpp"
#include "cli/text/words.hpp"
#include "cli/top/value_text.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::run_state;
using hypomnesis::throttle_reason;

constexpr int index_end = 4;

// Places of the table's columns for one width.
struct gpu_columns {
  int name = index_end + 1, name_width;
  int load, memory, bar_width;
  int temperature_end, power_end, flags;
  bool has_details;  // clocks, fan and PCIe in the same line
  int details;
};

gpu_columns columns_for(int width) {
  gpu_columns at{};
  at.name = index_end + 1;
  at.has_details = width >= 140;
  at.bar_width = width < 72 ? 4 : width < 100 ? 8 : 12;
  at.name_width = width < 72 ? 11 : width < 100 ? 14 : width < 140 ? 24 : 26;
  at.load = at.name + at.name_width + 1;
  at.memory = at.load + at.bar_width + 6;
  at.temperature_end = at.memory + at.bar_width + 16;
  at.power_end = at.temperature_end + 9;
  at.flags = at.power_end + 1;
  at.details = at.flags;
  return at;
}

std::string_view ellipsis_of(const frame& on) {
  return on.has_unicode() ? "…" : "...";
}

// Draws a bar without brackets.
void put_bar(frame& on, int x, int y, int width, std::optional<double> fraction, ramp with) {
  if (!fraction) {
    on.put(x, y, on.has_unicode() ? "·" : ".", ink::faint);
    return;
  }
  auto bar = draw_bar(*fraction, static_cast<unsigned>(width), on.has_unicode());
  bar = bar.substr(1, bar.size() - 2);
  on.put(x, y, bar, ink_of(with, *fraction));
}

std::string degrees_text(double celsius, const frame& on) {
  return fmt::format("{:.0f}{}", celsius, on.has_unicode() ? "°C" : "C");
}

value_text temperature_text(const gpu_reading& of, const frame& on) {
  if (!of.values || !of.values->temperature_celsius) return unknown_value_text();
  const auto celsius = *of.values->temperature_celsius;
  return {degrees_text(celsius, on), ink_of(ramp::heat, (celsius - 30) / 60)};
}

value_text power_text(const gpu_reading& of) {
  if (!of.values || !of.values->power_watts) return unknown_value_text();
  const auto watts = *of.values->power_watts;
  const auto limit = of.values->power_limit_watts;
  if (!limit) return {fmt::format("{:.0f}W", watts)};
  return {fmt::format("{:.0f}/{:.0f}W", watts, *limit), ink_of(ramp::power, watts / *limit)};
}

value_text memory_text(const gpu_reading& of) {
  const auto& pool = of.of.memory;
  const auto used = used_bytes_of(of.of);
  if (!used && (!pool || !pool->total_bytes)) return unknown_value_text();
  return {amount_text(mark_of(pool->notes), used, pool->total_bytes, spacing::compact)};
}

// A state other than ready, with what is known of the memory, and the reason.
void put_state(frame& on, const gpu_columns& at, int y, const gpu_reading& of,
               std::string_view state) {
  const bool is_fault = of.of.device.state != run_state::asleep;
  int x = on.put(at.load, y, state, is_fault ? ink::bad : ink::accent) + 2;
  if (of.of.memory && of.of.memory->total_bytes)
    x = on.put(x, y, "of " + gib_text(*of.of.memory->total_bytes) + " GiB") + 2;
  const auto left = on.width() - x;
  if (left < 8) return;
  on.put(x, y,
         cut_to_width(escape_for_text(of.why_state, on.with().ascii_only),
                      static_cast<std::size_t>(left), ellipsis_of(on)),
         ink::faint);
}

void put_values(frame& on, const gpu_columns& at, int y, const gpu_reading& of) {
  const auto load = of.values ? of.values->gpu_busy_percent : std::nullopt;
  put_bar(on, at.load, y, at.bar_width, load ? std::optional(*load / 100) : std::nullopt,
          ramp::load);
  const auto shown = percent_text(load, ramp::load);
  on.put_right(at.load + at.bar_width + 5, y, shown.text, shown.with);
  put_bar(on, at.memory, y, at.bar_width, fraction_used(of.of), ramp::memory);
  const auto memory = memory_text(of);
  on.put_right(at.memory + at.bar_width + 10, y, memory.text, memory.with);
  const auto temperature = temperature_text(of, on);
  on.put_right(at.temperature_end, y, temperature.text, temperature.with);
  const auto power = power_text(of);
  on.put_right(at.power_end, y, power.text, power.with);
}

std::string clock_text(const std::optional<std::uint32_t>& mhz) {
  return mhz ? fmt::format("{}MHz", *mhz) : "?";
}

std::string fan_text(const hypomnesis::telemetry& of) {
  if (of.fan_percent) return fmt::format("{}%", *of.fan_percent);
  return of.fan_rpm ? fmt::format("{}RPM", *of.fan_rpm) : "?";
}

std::string link_text(const hypomnesis::telemetry& of) {
  if (!of.pcie_generation || !of.pcie_width) return {};
  return fmt::format("{}x{} ", *of.pcie_generation, *of.pcie_width);
}

// Labels and values: clocks, fan, PCIe.
int put_details(frame& on, int x, int y, const gpu_reading& of) {
  const hypomnesis::telemetry none;
  const auto& values = of.values ? *of.values : none;
  const auto add = [&](std::string_view label, const std::string& value) {
    x = on.put(x, y, std::string(label) + " ", ink::faint);
    x = on.put(x, y, value, value == "?" ? ink::faint : ink::plain) + 2;
  };
  add("core", clock_text(values.core_clock_mhz));
  add("mem", clock_text(values.memory_clock_mhz));
  add("fan", fan_text(values));
  const bool arrows = on.has_unicode();
  add("PCIe", link_text(values) + (arrows ? "↓" : "rx ") + rate_text(of.received_rate).text +
                  (arrows ? " ↑" : " tx ") + rate_text(of.sent_rate).text);
  return x;
}

int put_flags(frame& on, int x, int y, const gpu_reading& of) {
  for (const auto& each : flags_of(of)) {
    const auto width = static_cast<int>(display_width(each.text));
    if (x + width > on.width()) {
      on.put(on.width() - 1, y, U'!', each.with);
      break;
    }
    x = on.put(x, y, each.text, each.with) + 1;
  }
  return x;
}

void put_titles(frame& on, const gpu_columns& at, int y, bool is_focused) {
  on.put_right(index_end, y, "GPU", is_focused ? ink::accent : ink::strong);
  on.put(at.name, y, "NAME", ink::strong);
  on.put(at.load, y, "LOAD", ink::strong);
  on.put(at.memory, y, "MEMORY", ink::strong);
  on.put_right(at.memory + at.bar_width + 10, y, "GiB", ink::strong);
  on.put_right(at.temperature_end, y, "TEMP", ink::strong);
  on.put_right(at.power_end, y, "POWER", ink::strong);
}

// Returns the GPU that a partition belongs to.
const gpu_reading* parent_of(const gpu_reading& of, const machine_reading& in) {
  const auto parent = of.of.device.parent_index;
  if (!parent) return nullptr;
  return find_device_in(in.gpus, *parent,
                        [](const gpu_reading& each) { return each.of.device.index; });
}

void put_gpu(frame& on, const gpu_columns& at, int y, const gpu_reading& of,
             const gpu_reading* parent) {
  on.put_right(index_end, y, fmt::to_string(of.of.device.index), ink::strong);
  const bool is_part = of.of.device.parent_index.has_value();
  const auto prefix = !is_part ? "" : on.has_unicode() ? "└ " : "- ";
  on.put(at.name, y,
         cut_middle(prefix + gpu_name(of, parent, on.with().ascii_only),
                    static_cast<std::size_t>(at.name_width), ellipsis_of(on)),
         of.is_fresh() ? ink::plain : ink::faint);
  if (const auto state = state_of(of.of)) return put_state(on, at, y, of, *state);
  put_values(on, at, y, of);
  auto x = at.flags;
  if (at.has_details) x = put_details(on, x + 1, y, of);
  put_flags(on, x, y, of);
}

}  // namespace

std::string gpu_name(const gpu_reading& of, const gpu_reading* parent, bool ascii_only) {
  return escape_for_text(short_name(of.of, parent != nullptr ? &parent->of : nullptr), ascii_only);
}

std::vector<flag> flags_of(const gpu_reading& of) {
  std::vector<flag> out;
  if (of.is_spilling.value_or(false)) out.push_back({"SPILL", ink::bad});
  if (of.values && of.values->throttle) {
    const auto why = *of.values->throttle;
    if (has(why, throttle_reason::thermal)) out.push_back({"thermal", ink::bad});
    if (has(why, throttle_reason::hardware)) out.push_back({"hw-slow", ink::bad});
    if (has(why, throttle_reason::power)) out.push_back({"power", ink::warning});
  }
  if (!of.is_spilling.value_or(false) && of.has_spilled) out.push_back({"spilled", ink::warning});
  const auto age =
      std::max(of.values ? of.values->age_ns : 0, of.of.memory ? of.of.memory->age_ns : 0);
  if (!of.is_fresh()) out.push_back({"stale " + elapsed_text(age), ink::warning});
  return out;
}

void draw_gpu_table(frame& on, const layout& in, const state& of) {
  const auto at = columns_for(on.width());
  put_titles(on, at, in.gpus.y, of.on == focus::gpus);
  if (!of.now) {
    on.put(1, in.gpus.y + 1, "looking for GPUs", ink::faint);
    return;
  }
  if (!of.now->why_no_gpu.empty())
    on.put(1, in.gpus.y + 1, escape_for_text(of.now->why_no_gpu, on.with().ascii_only),
           ink::warning);
  int y = in.gpus.y + 1;
  for (std::size_t i = of.gpus.top; i < of.gpus.top + in.gpu_rows() && i < of.now->gpus.size();
       ++i) {
    const auto& each = of.now->gpus[i];
    put_gpu(on, at, y, each, parent_of(each, *of.now));
    if (i == of.gpus.at) {
      on.put(0, y, on.has_unicode() ? U'▌' : U'>', ink::accent);
      if (of.on == focus::gpus) on.select(0, y, on.width());
    }
    ++y;
    if (in.has_gpu_details && !at.has_details && !state_of(each.of))
      put_details(on, at.name, y, each);
    if (in.has_gpu_details) ++y;
  }
}

}  // namespace hmn::cli::top
