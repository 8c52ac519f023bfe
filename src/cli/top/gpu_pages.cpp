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

// Positions of the table's columns.
struct GpuColumns {
  int name = index_end + 1, name_width = 0;
  int load = 0, memory = 0, bar_width = 0;
  int memory_end = 0, temperature_end = 0, power_end = 0;
  int flags = 0, details = 0;
};

// Widths of the values of variable width.
struct ValueWidths {
  int memory = 9;  // "30.0/80.0"
  int power = 8;   // "371/450W"
  int flags = 0;
};

// Places the columns: the name gets the width that the values leave.
GpuColumns choose_columns(int width, const ValueWidths& widths) {
  constexpr int min_name_width = 6, flag_space = 2;
  GpuColumns columns;
  columns.bar_width = width < 72 ? 4 : width < 100 ? 8 : 12;
  const int max_name_width = width < 72                 ? 11
                             : width < 100              ? 14
                             : width < wide_table_width ? 24
                                                        : 26;
  const int values_width = 1 + columns.bar_width + load_width + 1 + columns.bar_width + 1 +
                           widths.memory + temperature_width + 1 + widths.power;
  columns.name_width =
      std::clamp(width - flag_space - columns.name - values_width, min_name_width, max_name_width);
  columns.load = columns.name + columns.name_width + 1;
  columns.memory = columns.load + columns.bar_width + load_width + 1;
  columns.memory_end = columns.memory + columns.bar_width + 1 + widths.memory;
  columns.temperature_end = columns.memory_end + temperature_width;
  columns.power_end = columns.temperature_end + 1 + widths.power;
  columns.flags = columns.power_end + 1;
  columns.details = columns.flags + (widths.flags > 0 ? widths.flags + 1 : 0) + 1;
  return columns;
}

std::string_view choose_ellipsis(const Frame& frame) {
  return frame.has_unicode() ? "…" : "...";
}

// Draws a bar without brackets.
void put_bar(Frame& frame, int x, int y, int width, std::optional<double> fraction,
             ColourScale scale) {
  if (!fraction) {
    frame.put(x, y, frame.has_unicode() ? "·" : ".", CellStyle::faint);
    return;
  }
  auto bar = draw_bar(*fraction, static_cast<unsigned>(width), frame.has_unicode());
  bar = bar.substr(1, bar.size() - 2);
  frame.put(x, y, bar, scale_style(scale, *fraction));
}

StyledText format_temperature(const GpuReading& reading, const Frame& frame) {
  if (!reading.values || !reading.values->temperature_celsius)
    return format_missing(reading.lacks(HMN_TELEMETRY_HAS_TEMPERATURE));
  const auto celsius = *reading.values->temperature_celsius;
  return {format_degrees(celsius, frame.has_unicode()),
          scale_style(ColourScale::heat, (celsius - 30) / 60)};
}

StyledText format_power(const GpuReading& reading) {
  if (!reading.values || !reading.values->power_watts)
    return format_missing(reading.lacks(HMN_TELEMETRY_HAS_POWER));
  const auto watts = *reading.values->power_watts;
  const auto limit = reading.values->power_limit_watts;
  if (!limit) return {fmt::format("{:.0f}W", watts)};
  return {fmt::format("{:.0f}/{:.0f}W", watts, *limit),
          scale_style(ColourScale::power, watts / *limit)};
}

StyledText format_memory(const GpuReading& reading) {
  const auto& pool = reading.gpu.memory;
  const auto used = get_used_bytes(reading.gpu);
  if (!used && (!pool || !pool->total_bytes)) return format_missing(reading.is_used_unsupported);
  return {format_amount(accuracy_mark(pool->notes), used, pool->total_bytes, Spacing::compact,
                        missing_sign(reading.is_used_unsupported))};
}

// Puts a state other than ready, the memory's size if known, and the reason, which continues in the
// second line if there is one.
void put_state(Frame& frame, const GpuColumns& columns, int y, const GpuReading& reading,
               std::string_view state, bool has_second_line) {
  const bool is_fault = reading.gpu.device.state != run_state::asleep;
  int x = frame.put(columns.load, y, state, is_fault ? CellStyle::bad : CellStyle::accent) + 2;
  if (reading.gpu.memory && reading.gpu.memory->total_bytes)
    x = frame.put(x, y, "of " + format_gib(*reading.gpu.memory->total_bytes) + " GiB") + 2;
  std::string reason = escape_for_text(reading.state_reason, frame.glyphs().ascii_only);
  if (has_second_line) {
    const auto first = wrap_text(reason, frame.width() - x).front();
    frame.put(x, y++, first, CellStyle::faint);
    reason.erase(0, first.size());
    x = columns.name;
  }
  frame.put(x, y,
            cut_to_width(reason, static_cast<std::size_t>(std::max(frame.width() - x, 0)),
                         choose_ellipsis(frame)),
            CellStyle::faint);
}

// Returns faint for a stale value.
template <class Record>
CellStyle age_style(const std::optional<Record>& record, CellStyle style) {
  return record && !is_fresh(*record) ? CellStyle::faint : style;
}

void put_values(Frame& frame, const GpuColumns& columns, int y, const GpuReading& reading) {
  const auto load = reading.values ? reading.values->gpu_busy_percent : std::nullopt;
  put_bar(frame, columns.load, y, columns.bar_width,
          load ? std::optional(*load / 100) : std::nullopt, ColourScale::load);
  const auto load_text =
      format_percent(load, ColourScale::load, reading.lacks(HMN_TELEMETRY_HAS_GPU_BUSY));
  frame.put_right(columns.load + columns.bar_width + load_width, y, load_text.text,
                  age_style(reading.values, load_text.style));
  put_bar(frame, columns.memory, y, columns.bar_width, compute_used_fraction(reading.gpu),
          ColourScale::memory);
  const auto memory = format_memory(reading);
  frame.put_right(columns.memory_end, y, memory.text, age_style(reading.gpu.memory, memory.style));
  const auto temperature = format_temperature(reading, frame);
  frame.put_right(columns.temperature_end, y, temperature.text,
                  age_style(reading.values, temperature.style));
  const auto power = format_power(reading);
  frame.put_right(columns.power_end, y, power.text, age_style(reading.values, power.style));
}

std::string format_clock(const std::optional<std::uint32_t>& mhz, bool is_unsupported) {
  return mhz ? fmt::format("{}MHz", *mhz) : format_missing(is_unsupported).text;
}

std::string format_fan(const hypomnesis::telemetry& values, bool is_unsupported) {
  if (values.fan_percent) return fmt::format("{}%", *values.fan_percent);
  return values.fan_rpm ? fmt::format("{}RPM", *values.fan_rpm)
                        : format_missing(is_unsupported).text;
}

std::string format_pcie(const GpuReading& reading, const hypomnesis::telemetry& values,
                        bool arrows) {
  std::string text;
  if (values.pcie_generation && values.pcie_width)
    text = fmt::format("{}x{} ", *values.pcie_generation, *values.pcie_width);
  const auto received =
      format_rate(reading.received_rate, reading.lacks(HMN_TELEMETRY_HAS_PCIE_RX)).text;
  const auto sent = format_rate(reading.sent_rate, reading.lacks(HMN_TELEMETRY_HAS_PCIE_TX)).text;
  return text + (arrows ? "↓" : "rx ") + received + (arrows ? " ↑" : " tx ") + sent;
}

struct Detail {
  std::string_view label;
  std::string value;
  int rank;  // the highest is dropped first
};

std::vector<Detail> make_details(const GpuReading& reading, bool arrows) {
  const hypomnesis::telemetry none;
  const auto& values = reading.values ? *reading.values : none;
  return {
      {"core", format_clock(values.core_clock_mhz, reading.lacks(HMN_TELEMETRY_HAS_CORE_CLOCK)), 1},
      {"mem", format_clock(values.memory_clock_mhz, reading.lacks(HMN_TELEMETRY_HAS_MEMORY_CLOCK)),
       3},
      {"fan",
       format_fan(values, reading.lacks(HMN_TELEMETRY_HAS_FAN_PERCENT) &&
                              reading.lacks(HMN_TELEMETRY_HAS_FAN_RPM)),
       2},
      {"PCIe", format_pcie(reading, values, arrows), 0}};
}

int styled_width(const StyledText& text) {
  return static_cast<int>(display_width(text.text));
}

int detail_width(const Detail& detail) {
  return static_cast<int>(display_width(detail.label) + 1 + display_width(detail.value)) + 2;
}

// Puts as many of clocks, fan and PCIe as fit, none in part.
void put_details(Frame& frame, int x, int y, const GpuReading& reading) {
  auto details = make_details(reading, frame.has_unicode());
  const auto total_details_width = [&] {
    int width = -2;
    for (const auto& detail : details) width += detail_width(detail);
    return width;
  };
  while (!details.empty() && x + total_details_width() > frame.width())
    details.erase(std::max_element(details.begin(), details.end(),
                                   [](const auto& a, const auto& b) { return a.rank < b.rank; }));
  for (const auto& detail : details) {
    const int value_x = frame.put(x, y, std::string(detail.label) + " ", CellStyle::faint);
    frame.put(value_x, y, detail.value,
              detail.value.size() == 1 ? CellStyle::faint : CellStyle::plain);
    x += detail_width(detail);
  }
}

void put_flags(Frame& frame, int x, int y, const GpuReading& reading) {
  for (const auto& flag : make_flags(reading)) {
    if (x + styled_width(flag) > frame.width()) {
      frame.put(frame.width() - 1, y, U'!', flag.style);
      break;
    }
    x = frame.put(x, y, flag.text, flag.style) + 1;
  }
}

ValueWidths measure_widths(const std::vector<GpuReading>& readings) {
  ValueWidths widths;
  for (const auto& reading : readings) {
    if (describe_state(reading.gpu)) continue;
    widths.memory = std::max(widths.memory, styled_width(format_memory(reading)));
    widths.power = std::max(widths.power, styled_width(format_power(reading)));
    int flags_width = 0;
    for (const auto& flag : make_flags(reading)) flags_width += styled_width(flag) + 1;
    widths.flags = std::max(widths.flags, flags_width - 1);
  }
  return widths;
}

void put_gpu_titles(Frame& frame, const GpuColumns& columns, int y, bool is_focused) {
  frame.put_right(index_end, y, "GPU", is_focused ? CellStyle::accent : CellStyle::strong);
  frame.put(columns.name, y, "NAME", CellStyle::strong);
  frame.put(columns.load, y, "LOAD", CellStyle::strong);
  frame.put(columns.memory, y, "MEMORY", CellStyle::strong);
  frame.put_right(columns.memory_end, y, "GiB", CellStyle::strong);
  frame.put_right(columns.temperature_end, y, "TEMP", CellStyle::strong);
  frame.put_right(columns.power_end, y, "POWER", CellStyle::strong);
}

// Returns the GPU that a partition belongs to, which is listed before it.
const GpuReading* find_parent(std::size_t position, const std::vector<GpuReading>& readings) {
  const auto parent = readings[position].gpu.device.parent_index;
  if (!parent) return nullptr;
  while (position-- > 0)
    if (readings[position].gpu.device.index == *parent) return &readings[position];
  return nullptr;
}

// Formats the name for its column: a partition's has a branch, and no "MIG" where it is too long.
std::string format_name(const Frame& frame, const GpuColumns& columns, std::size_t position,
                        const std::vector<GpuReading>& readings) {
  const auto& reading = readings[position];
  const auto width = static_cast<std::size_t>(columns.name_width);
  auto name = format_gpu_name(reading, find_parent(position, readings), frame.glyphs().ascii_only);
  const auto parent = reading.gpu.device.parent_index;
  if (parent) {
    constexpr std::string_view prefix = "MIG ";
    const bool is_last =
        position + 1 == readings.size() || readings[position + 1].gpu.device.parent_index != parent;
    if (display_width(name) + 2 > width && name.starts_with(prefix)) name.erase(0, prefix.size());
    name.insert(0, !frame.has_unicode() ? "- " : is_last ? "└ " : "├ ");
  }
  return cut_middle(name, width, choose_ellipsis(frame));
}

void put_gpu(Frame& frame, const GpuColumns& columns, int y, std::size_t position,
             const std::vector<GpuReading>& readings, bool has_second_line) {
  const auto& reading = readings[position];
  frame.put_right(index_end, y, fmt::to_string(reading.gpu.device.index), CellStyle::strong);
  frame.put(columns.name, y, format_name(frame, columns, position, readings),
            reading.is_fresh() ? CellStyle::plain : CellStyle::faint);
  if (const auto state = describe_state(reading.gpu))
    return put_state(frame, columns, y, reading, *state, has_second_line);
  put_values(frame, columns, y, reading);
  put_flags(frame, columns.flags, y, reading);
  if (has_second_line)
    put_details(frame, columns.name, y + 1, reading);
  else if (frame.width() >= wide_table_width)
    put_details(frame, columns.details, y, reading);
}

}  // namespace

std::string format_gpu_name(const GpuReading& reading, const GpuReading* parent, bool ascii_only) {
  return escape_for_text(shorten_name(reading.gpu, parent != nullptr ? &parent->gpu : nullptr),
                         ascii_only);
}

std::vector<StyledText> make_flags(const GpuReading& reading) {
  std::vector<StyledText> flags;
  if (reading.is_spilling.value_or(false)) flags.push_back({"SPILL", CellStyle::bad});
  if (reading.values && reading.values->throttle) {
    const auto reasons = *reading.values->throttle;
    if (has(reasons, throttle_reason::thermal)) flags.push_back({"thermal", CellStyle::bad});
    if (has(reasons, throttle_reason::hardware)) flags.push_back({"hw-slow", CellStyle::bad});
    if (has(reasons, throttle_reason::power)) flags.push_back({"power", CellStyle::warning});
  }
  if (!reading.is_spilling.value_or(false) && reading.has_spilled)
    flags.push_back({"spilled", CellStyle::warning});
  const auto age = std::max(reading.values ? reading.values->age_ns : 0,
                            reading.gpu.memory ? reading.gpu.memory->age_ns : 0);
  if (!reading.is_fresh()) flags.push_back({"stale " + format_elapsed(age), CellStyle::warning});
  return flags;
}

void draw_gpu_table(Frame& frame, const Layout& layout, const State& state) {
  const auto none = std::vector<GpuReading>();
  const auto& readings = state.machine ? state.machine->gpus : none;
  const auto columns = choose_columns(frame.width(), measure_widths(readings));
  put_gpu_titles(frame, columns, layout.gpus.y, state.focus == Focus::gpus);
  if (!state.machine) {
    frame.put(1, layout.gpus.y + 1, "looking for GPUs", CellStyle::faint);
    return;
  }
  if (!state.machine->missing_gpu_reason.empty())
    frame.put(1, layout.gpus.y + 1,
              escape_for_text(state.machine->missing_gpu_reason, frame.glyphs().ascii_only),
              CellStyle::warning);
  put_hidden(frame, columns.power_end, layout.gpus.y, state.gpu_cursor.top, layout.gpu_rows(),
             readings.size());
  int y = layout.gpus.y + 1;
  for (std::size_t i = state.gpu_cursor.top;
       i < state.gpu_cursor.top + layout.gpu_rows() && i < readings.size(); ++i) {
    put_gpu(frame, columns, y, i, readings, layout.has_gpu_details);
    if (i == state.gpu_cursor.position) {
      frame.put(0, y, frame.has_unicode() ? U'▌' : U'>', CellStyle::accent);
      if (state.focus == Focus::gpus) frame.select(0, y, frame.width());
    }
    y += layout.has_gpu_details ? 2 : 1;
  }
}

namespace {

using hypomnesis::part;
using hypomnesis::pool;
using hypomnesis::telemetry;

// Collects the entries of one GPU, with the reasons that its snapshot has.
class GpuEntries {
 public:
  GpuEntries(const State& state, const GpuReading& reading) : state_(state), reading_(reading) {}

  void add(std::string label, const std::optional<std::string>& text) {
    if (text) entries_.push_back({std::move(label), *text, {}});
  }
  void add_or_reason(std::string label, const std::optional<std::string>& value, part subject,
                     std::uint32_t bit) {
    entries_.push_back(
        {std::move(label), value.value_or(""), value ? "" : find_reason(subject, bit)});
  }
  void add_or_reason(std::string label, std::optional<std::string> value, std::string reason) {
    entries_.push_back({std::move(label), value.value_or(""), std::move(reason)});
  }
  template <class Value>
  void add_number(const char* label, std::optional<Value> telemetry::*member, std::uint32_t bit,
                  const char* format) {
    const auto value = reading_.values ? (*reading_.values).*member : std::nullopt;
    add_or_reason(label,
                  value ? std::optional(fmt::format(fmt::runtime(format), *value)) : std::nullopt,
                  part::telemetry, bit);
  }
  void add_bytes(const char* label, std::optional<std::uint64_t> pool::*member, std::uint32_t bit) {
    const auto value = reading_.gpu.memory ? (*reading_.gpu.memory).*member : std::nullopt;
    add_or_reason(
        label,
        value ? std::optional(format_short_bytes(static_cast<double>(*value))) : std::nullopt,
        part::pools, bit);
  }
  std::vector<Entry> take_entries() { return std::move(entries_); }

 private:
  std::string find_reason(part subject, std::uint32_t bit) const {
    if (!state_.machine->snapshot) return {};
    const auto diagnostic =
        state_.machine->snapshot->reason(reading_.gpu.device.index, subject, bit);
    return diagnostic ? diagnostic->message : std::string();
  }

  const State& state_;
  const GpuReading& reading_;
  std::vector<Entry> entries_;
};

std::optional<std::string> rate_or_none(const std::optional<double>& rate) {
  return rate ? std::optional(format_rate(rate).text) : std::nullopt;
}

std::optional<std::string> format_throttle(const GpuReading& reading) {
  if (!reading.values || !reading.values->throttle) return std::nullopt;
  constexpr std::pair<throttle_reason, const char*> names[] = {
      {throttle_reason::idle, "idle"},         {throttle_reason::power, "power"},
      {throttle_reason::thermal, "thermal"},   {throttle_reason::hardware, "hardware"},
      {throttle_reason::setting, "a setting"}, {throttle_reason::other, "other"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if (has(*reading.values->throttle, bit)) text.append(text.empty() ? "" : ", ").append(name);
  return text.empty() ? "no" : text;
}

std::optional<std::string> format_spill(const GpuReading& reading) {
  if (!reading.is_spilling) return std::nullopt;
  if (*reading.is_spilling) return "now: memory of the GPU is in host memory";
  return reading.has_spilled ? "earlier, not now" : "no";
}

void add_identity(GpuEntries& entries, const GpuReading& reading) {
  const auto& device = reading.gpu.device;
  entries.add("name", get_display_name(reading.gpu));
  entries.add("UUID", device.uuid);
  entries.add("PCI address", device.pci_bus_id);
  entries.add("driver", device.driver_version);
  if (device.parent_index) entries.add("part of", fmt::format("GPU {}", *device.parent_index));
  const auto state = state_word(device.state).value_or("unknown");
  entries.add("state", reading.state_reason.empty()
                           ? std::string(state)
                           : fmt::format("{}: {}", state, reading.state_reason));
  if (reading.values && !is_fresh(*reading.values))
    entries.add("values", format_stale_age(reading.values->age_ns));
}

std::vector<Entry> make_gpu_entries(const State& state, const GpuReading& reading, bool unicode) {
  GpuEntries entries(state, reading);
  add_identity(entries, reading);
  entries.add_number("load", &telemetry::gpu_busy_percent, HMN_TELEMETRY_HAS_GPU_BUSY, "{:.0f}%");
  entries.add_number("memory load", &telemetry::memory_busy_percent, HMN_TELEMETRY_HAS_MEMORY_BUSY,
                     "{:.0f}%");
  entries.add_number("encoder", &telemetry::encoder_busy_percent, HMN_TELEMETRY_HAS_ENCODER_BUSY,
                     "{:.0f}%");
  entries.add_number("decoder", &telemetry::decoder_busy_percent, HMN_TELEMETRY_HAS_DECODER_BUSY,
                     "{:.0f}%");
  entries.add_bytes("memory used", &pool::used_bytes, HMN_POOL_HAS_USED);
  entries.add_bytes("memory free", &pool::free_bytes, HMN_POOL_HAS_FREE);
  entries.add_bytes("memory reserved", &pool::reserved_bytes, HMN_POOL_HAS_RESERVED);
  entries.add_bytes("memory total", &pool::total_bytes, HMN_POOL_HAS_TOTAL);
  entries.add_bytes("unattributed", &pool::unattributed_bytes, HMN_POOL_HAS_UNATTRIBUTED);
  const char* const degrees = unicode ? "{:.0f}\u00b0C" : "{:.0f}C";
  entries.add_number("temperature", &telemetry::temperature_celsius, HMN_TELEMETRY_HAS_TEMPERATURE,
                     degrees);
  entries.add_number("hotspot", &telemetry::hotspot_celsius, HMN_TELEMETRY_HAS_HOTSPOT, degrees);
  entries.add_number("memory temperature", &telemetry::memory_celsius,
                     HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, degrees);
  entries.add_number("power", &telemetry::power_watts, HMN_TELEMETRY_HAS_POWER, "{:.1f} W");
  entries.add_number("power limit", &telemetry::power_limit_watts, HMN_TELEMETRY_HAS_POWER_LIMIT,
                     "{:.0f} W");
  entries.add_number("core clock", &telemetry::core_clock_mhz, HMN_TELEMETRY_HAS_CORE_CLOCK,
                     "{} MHz");
  entries.add_number("memory clock", &telemetry::memory_clock_mhz, HMN_TELEMETRY_HAS_MEMORY_CLOCK,
                     "{} MHz");
  entries.add_number("fan", &telemetry::fan_percent, HMN_TELEMETRY_HAS_FAN_PERCENT, "{}%");
  entries.add_number("fan speed", &telemetry::fan_rpm, HMN_TELEMETRY_HAS_FAN_RPM, "{} RPM");
  entries.add_number("PCIe generation", &telemetry::pcie_generation,
                     HMN_TELEMETRY_HAS_PCIE_GENERATION, "{}");
  entries.add_number("PCIe lanes", &telemetry::pcie_width, HMN_TELEMETRY_HAS_PCIE_WIDTH, "{}");
  entries.add_or_reason("PCIe received", rate_or_none(reading.received_rate),
                        reading.missing_rate_reason);
  entries.add_or_reason("PCIe sent", rate_or_none(reading.sent_rate), reading.missing_rate_reason);
  entries.add_number("P-state", &telemetry::p_state, HMN_TELEMETRY_HAS_P_STATE, "P{}");
  entries.add_or_reason("throttled", format_throttle(reading), part::telemetry,
                        HMN_TELEMETRY_HAS_THROTTLE);
  entries.add_or_reason("spill", format_spill(reading), reading.missing_spill_reason);
  return entries.take_entries();
}

}  // namespace

void draw_gpu_page(Frame& frame, Area area, State& state) {
  const auto* const reading = state.selected_gpu();
  if (reading == nullptr) return;
  auto charts = make_gpu_charts(state, *reading, frame.has_unicode());
  const int height = std::clamp(area.height / 3, min_chart_height, 12);
  charts.resize(std::min<std::size_t>(charts.size(), area.width >= 150                  ? 5
                                                     : area.width >= 100 || height >= 8 ? 4
                                                                                        : 2));
  draw_charts(frame, {area.x, area.y, area.width, height}, charts, state.window());
  draw_entries(frame, {area.x, area.y + height, area.width, area.height - height},
               make_gpu_entries(state, *reading, frame.has_unicode()), state.text_position);
}

}  // namespace hmn::cli::top
