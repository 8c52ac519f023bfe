// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/text/axis.hpp"
#include "cli/top/gpu_charts.hpp"
#include "cli/top/page_text.hpp"
#include "cli/top/pages.hpp"
#include "cli/top/value_text.hpp"

namespace hmn::cli::top {
namespace {

using hypomnesis::part;

std::optional<std::string> bytes_or_none(const std::optional<std::uint64_t>& bytes) {
  return bytes ? std::optional(short_bytes(static_cast<double>(*bytes))) : std::nullopt;
}

std::optional<std::string> percent_or_none(const std::optional<double>& percent) {
  return percent ? std::optional(fmt::format("{:.1f}%", *percent)) : std::nullopt;
}

// Returns why a value of a process is missing: for it alone, or for all on the device.
std::string usage_reason(const machine_reading& in, const hypomnesis::usage& of,
                         std::uint32_t bit) {
  if (!in.processes_from) return {};
  const auto device = of.device_index;
  for (const auto& each : in.processes_from->diagnostics())
    if (each.subject == part::processes && each.pid == of.pid && each.device_index == device &&
        (each.field.value_or(bit) & bit) != 0)
      return each.message;
  const auto found = in.processes_from->reason(device, part::processes, bit);
  return found ? found->message : std::string();
}

entry of_text(const char* label, const std::optional<std::string>& value,
              const char* why = "not reported by the system") {
  return {label, value.value_or(""), why};
}

void add_use(const machine_reading& in, const process_reading& row, std::vector<entry>& to) {
  const auto& usage = row.usage;
  const auto device = usage.device_index;
  const auto on = fmt::format("GPU {}: ", device);
  const auto add = [&](const char* label, const std::optional<std::string>& value,
                       std::uint32_t bit) {
    to.push_back({on + label, value.value_or(""), value ? "" : usage_reason(in, usage, bit)});
  };
  add("VRAM", bytes_or_none(usage.used_bytes), HMN_USAGE_HAS_USED);
  add("load", percent_or_none(usage.busy_percent), HMN_USAGE_HAS_BUSY_PERCENT);
  if (usage.peak_used_bytes) add("peak", bytes_or_none(usage.peak_used_bytes), 0);
  if (usage.shared_bytes) add("shared", bytes_or_none(usage.shared_bytes), 0);
  if (usage.evicted_bytes) add("evicted", bytes_or_none(usage.evicted_bytes), 0);
  if (usage.host_pool_bytes) add("in host memory", bytes_or_none(usage.host_pool_bytes), 0);
}

std::vector<entry> entries_of_process(const state& in, const process_reading& row) {
  const auto& now = *in.now;
  const auto& usage = row.usage;
  std::vector<entry> out;
  out.push_back({"pid", fmt::to_string(usage.pid), {}});
  out.push_back(of_text("name", usage.process_name));
  out.push_back(of_text("command", usage.process_command));
  out.push_back(of_text("user", row.user));
  out.push_back({"container", usage.process_container.value_or("none"), {}});
  out.push_back({"running for", text_of(column::elapsed, row, now.unix_ns, false).text, {}});
  if (!usage.start_unix_ns) out.back() = of_text("running for", std::nullopt);
  out.push_back(of_text("RAM", bytes_or_none(usage.host_resident_bytes)));
  out.push_back({"CPU", percent_or_none(row.cpu_percent).value_or(""), now.why_no_cpu});
  for (const auto& each : *now.processes)
    if (each.usage.pid == usage.pid && each.usage.process_key == usage.process_key)
      add_use(now, each, out);
  return out;
}

chart chart_of(const char* title, const history& of, ramp with, double least, std::string value,
               const time_window& in, bool is_bytes) {
  const auto highest = of.highest(in);
  const auto top = std::max(least, static_cast<double>(highest.value_or(0)));
  std::string scale;
  if (highest || !is_bytes)
    scale = "max " + (is_bytes ? short_bytes(top) : fmt::format("{:.0f}%", top));
  return {title, std::move(value), std::move(scale), {&of, top, with}, {}};
}

std::vector<chart> charts_of_process(const state& of, const process_reading& row) {
  const auto* const past = of.curves.of_process(row.identity());
  if (past == nullptr) return {};
  const auto window = of.window();
  const auto text = [&](const std::optional<std::string>& value, std::uint32_t field) {
    return value.value_or(missing_text(row.lacks(field)).text);
  };
  return {chart_of("load", past->load, ramp::load, 100,
                   text(percent_or_none(row.usage.busy_percent), HMN_USAGE_HAS_BUSY_PERCENT),
                   window, false),
          chart_of("VRAM", past->vram, ramp::memory, 1,
                   text(bytes_or_none(row.usage.used_bytes), HMN_USAGE_HAS_USED), window, true),
          chart_of("CPU", past->cpu, ramp::power, 100, text(percent_or_none(row.cpu_percent), 0),
                   window, false),
          chart_of("RAM", past->ram, ramp::heat, 1,
                   text(bytes_or_none(row.usage.host_resident_bytes), 0), window, true)};
}

}  // namespace

void draw_process_page(frame& on, area where, state& of) {
  const auto* const row = of.process();
  if (row == nullptr) {
    on.put(where.x + 1, where.y + 1, "the process has ended, or no longer uses a GPU",
           ink::warning);
    return;
  }
  const auto all = charts_of_process(of, *row);
  int charts = where.height >= 20 ? std::clamp(where.height * 2 / 5, 8, 16) : 4;
  if (all.empty()) charts = 1;
  if (all.empty())
    on.put(where.x + 1, where.y,
           fmt::format("no curves: they are kept for {} processes", histories::most_processes),
           ink::faint);
  draw_charts(on, {where.x, where.y, where.width, charts}, all, of.window());
  draw_entries(on, {where.x, where.y + charts, where.width, where.height - charts},
               entries_of_process(of, *row), of.text);
}

}  // namespace hmn::cli::top
