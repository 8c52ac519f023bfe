// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/gpu_status.hpp"
#include "cli/measure/pace.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/json.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/output.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::device_memory;
using hypomnesis::part;
using hypomnesis::run_state;
using OptionalBytes = std::optional<std::uint64_t>;
using Align = Table::Align;
using Cell = Table::Cell;

// Layout of the table. `is_wide`: with fan, clocks, PCIe and processes. `extras`: 3: all other
// columns, 2: no driver, 1: no reserved memory, 0: no kind of memory either.
struct Layout {
  bool is_wide;
  unsigned extras;
  unsigned bar_width;  // cells; 0: none
  std::size_t name_width;
  UserDetail user_detail;
  Spacing spacing = Spacing::roomy;
  std::size_t gap = 2;
};

constexpr std::size_t unlimited_width = 4096;
constexpr unsigned min_wide_width = 160;

// Layouts from the widest on; each one drops what is needed least.
constexpr Layout layouts[] = {
    {true, 3, 20, unlimited_width, UserDetail::all},
    {true, 3, 10, unlimited_width, UserDetail::all, Spacing::compact},
    {true, 1, 10, unlimited_width, UserDetail::all, Spacing::compact},
    {true, 0, 10, 20, UserDetail::all, Spacing::compact},
    {false, 3, 20, unlimited_width, UserDetail::all},
    {false, 2, 20, unlimited_width, UserDetail::all},
    {false, 1, 20, unlimited_width, UserDetail::all},
    {false, 0, 20, unlimited_width, UserDetail::all},
    {false, 0, 20, 20, UserDetail::all},
    {false, 0, 10, 20, UserDetail::all},
    {false, 0, 20, 20, UserDetail::all, Spacing::compact},
    {false, 0, 10, 20, UserDetail::all, Spacing::compact},
    {false, 0, 10, 14, UserDetail::all, Spacing::compact},
    {false, 0, 10, 14, UserDetail::first, Spacing::compact},
    {false, 0, 6, 12, UserDetail::first, Spacing::compact},
    {false, 0, 6, 9, UserDetail::first, Spacing::compact, 1},
    {false, 0, 4, 9, UserDetail::first, Spacing::compact, 1},
    {false, 0, 4, 7, UserDetail::sum, Spacing::compact, 1},
    {false, 0, 0, 7, UserDetail::sum, Spacing::compact, 1},
};

// Layout in a pipe: the same columns on every machine, at any width.
constexpr Layout pipe_layout{false, 3, 0, unlimited_width, UserDetail::all, Spacing::compact};

Cell format_bar(std::optional<double> used, const Layout& layout, const Style& style) {
  if (!used) return {};
  return {draw_bar(*used, layout.bar_width, style.unicode), choose_usage_tone(*used)};
}

std::optional<std::uint64_t> subtract(std::optional<std::uint64_t> a,
                                      std::optional<std::uint64_t> b) {
  return a && b ? std::optional(*a - std::min(*a, *b)) : std::nullopt;
}

std::string_view memory_kind_name(device_memory kind) {
  if (kind == device_memory::unified) return "unified";
  return kind == device_memory::coherent ? "coherent" : "";
}

Cell format_reserved(const Gpu& gpu, Spacing spacing) {
  const auto reserved = gpu.memory ? gpu.memory->reserved_bytes : std::nullopt;
  if (!reserved) return {};
  return {format_gib(*reserved) + (spacing == Spacing::roomy ? " GiB" : "")};
}

Cell format_driver(const Gpu& gpu, const Style& style) {
  const auto& version = gpu.device.driver_version;
  return version ? Cell{escape_for_text(*version, style.ascii_only)} : Cell{};
}

Cell format_fan(const hypomnesis::telemetry& telemetry) {
  if (telemetry.fan_percent) return {fmt::format("{} %", *telemetry.fan_percent)};
  return telemetry.fan_rpm ? Cell{fmt::format("{} RPM", *telemetry.fan_rpm)} : Cell{};
}

Cell format_clocks(const hypomnesis::telemetry& telemetry) {
  if (!telemetry.core_clock_mhz) return {};
  if (!telemetry.memory_clock_mhz) return {fmt::format("{} MHz", *telemetry.core_clock_mhz)};
  return {fmt::format("{} / {} MHz", *telemetry.core_clock_mhz, *telemetry.memory_clock_mhz)};
}

Cell format_pcie(const hypomnesis::telemetry& telemetry) {
  if (!telemetry.pcie_generation || !telemetry.pcie_width) return {};
  return {fmt::format("gen{} x{}", *telemetry.pcie_generation, *telemetry.pcie_width)};
}

Cell format_processes(const GpuStatus& status, const Style& style) {
  return {escape_for_text(fmt::format("{}", fmt::join(status.processes, ", ")), style.ascii_only)};
}

// Row of the table. A partition is drawn as a branch of its parent.
struct GpuRow {
  const GpuStatus* status = nullptr;
  const GpuStatus* parent = nullptr;
  bool is_last = false;  // of its parent
};

const GpuStatus* find_status(const std::vector<GpuStatus>& statuses,
                             std::optional<std::uint32_t> index) {
  if (!index) return nullptr;
  return find_by_index(statuses, *index,
                       [](const GpuStatus& status) { return status.gpu.device.index; });
}

// Puts partitions below their GPU.
std::vector<GpuRow> order_rows(const std::vector<GpuStatus>& statuses) {
  std::vector<GpuRow> rows;
  for (const auto& status : statuses)
    rows.push_back({&status, find_status(statuses, status.gpu.device.parent_index), true});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return make_device_sort_key(a.status->gpu.device) < make_device_sort_key(b.status->gpu.device);
  });
  for (std::size_t i = 0; i + 1 < rows.size(); ++i)
    rows[i].is_last = rows[i].parent != rows[i + 1].parent;
  return rows;
}

std::string draw_branch(bool is_last, const Style& style) {
  if (!style.unicode) return "  ";
  return is_last ? "\u2514 " : "\u251c ";
}

Cell format_name(const GpuRow& row, const Layout& layout, const Style& style) {
  auto name = escape_for_text(
      shorten_name(row.status->gpu, row.parent ? &row.parent->gpu : nullptr), style.ascii_only);
  if (!row.status->gpu.device.parent_index) return {std::move(name), Tone::strong};
  constexpr std::string_view redundant_prefix = "MIG ";
  if (layout.gap == 1 && name.starts_with(redundant_prefix)) name.erase(0, redundant_prefix.size());
  return {draw_branch(row.is_last, style) + name};
}

const char* choose_title(const Layout& layout, const char* roomy, const char* compact) {
  return layout.spacing == Spacing::roomy ? roomy : compact;
}

std::vector<Table::Column> make_columns(const Layout& layout, const Style& style) {
  std::vector<Table::Column> columns{
      {"GPU", style.terminal ? Align::right : Align::left},
      {"NAME", Align::left, layout.name_width != unlimited_width, layout.name_width, true},
      {choose_title(layout, "LOAD", "%"), Align::right}};
  if (layout.bar_width > 0) columns.push_back({""});
  columns.push_back({choose_title(layout, "MEMORY", "GiB"), Align::right});
  if (layout.extras >= 1) columns.push_back({"KIND", Align::left, false, 0, false, true});
  columns.push_back(
      {choose_title(layout, "TEMP", style.ascii_only ? "C" : "\u00b0C"), Align::right});
  columns.push_back({choose_title(layout, "POWER", "W"), Align::right});
  if (layout.is_wide)
    for (const auto* const title : {"FAN", "CLOCKS", "PCIE"})
      columns.push_back({title, Align::right, false, 0, false, true});
  if (layout.extras >= 2)
    columns.push_back(
        {choose_title(layout, "RESERVED", "RESERVED, GiB"), Align::right, false, 0, false, true});
  if (layout.extras >= 3) columns.push_back({"DRIVER", Align::left, false, 0, false, true});
  columns.push_back({layout.gap == 1 ? "USERS" : "USERS, GiB", Align::left,
                     layout.user_detail != UserDetail::all, 10});
  if (layout.is_wide) columns.push_back({"PROCESSES", Align::left, true, 12, false, true});
  return columns;
}

std::vector<Cell> format_gpu_row(const GpuRow& row, const Layout& layout, const Style& style) {
  const auto& status = *row.status;
  std::vector<Cell> cells{{std::to_string(status.gpu.device.index)},
                          format_name(row, layout, style),
                          format_load(status, layout.spacing)};
  if (layout.bar_width > 0)
    cells.push_back(format_bar(compute_used_fraction(status.gpu), layout, style));
  cells.push_back(format_memory(status, layout.spacing));
  if (layout.extras >= 1)
    cells.push_back({std::string(memory_kind_name(status.gpu.device.memory_kind))});
  cells.push_back(format_temperature(status, layout.spacing, style));
  cells.push_back(format_power(status, layout.spacing));
  if (layout.is_wide) {
    const auto telemetry = status.telemetry.value_or(hypomnesis::telemetry{});
    cells.insert(cells.end(),
                 {format_fan(telemetry), format_clocks(telemetry), format_pcie(telemetry)});
  }
  if (layout.extras >= 2) cells.push_back(format_reserved(status.gpu, layout.spacing));
  if (layout.extras >= 3) cells.push_back(format_driver(status.gpu, style));
  cells.push_back(format_users(status, layout.user_detail, style));
  if (layout.is_wide) cells.push_back(format_processes(status, style));
  return cells;
}

// Adds a row. In a pipe no cell is empty, so that columns can be counted.
void add_row(Table& table, std::vector<Cell> cells, const Style& style) {
  for (auto& cell : cells)
    if (!style.terminal && cell.text.empty()) cell.text = missing_sign(true);
  table.add(std::move(cells));
}

// Row of host memory, which has no other values.
void add_host_row(Table& table, const char* label, const std::string& name, const Cell& memory,
                  std::optional<double> used, const Layout& layout, const Style& style) {
  std::vector<Cell> cells{{label, Tone::strong}, {name}, {}};
  if (layout.bar_width > 0) cells.push_back(format_bar(used, layout, style));
  cells.push_back(memory);
  cells.resize(make_columns(layout, style).size());
  add_row(table, std::move(cells), style);
}

void add_host(Table& table, const std::optional<hypomnesis::system_memory>& ram,
              const Layout& layout, const Style& style) {
  if (!ram) return add_host_row(table, "RAM", "", {"?", Tone::faint}, std::nullopt, layout, style);
  const auto add = [&](const char* label, const std::string& name,
                       std::optional<std::uint64_t> used, std::optional<std::uint64_t> total) {
    add_host_row(table, label, name,
                 {format_amount(accuracy_mark(ram->notes), used, total, layout.spacing)},
                 used && total ? compute_fraction(*used, *total) : std::nullopt, layout, style);
  };
  add("RAM", "", subtract(ram->total_bytes, ram->available_bytes), ram->total_bytes);
  if (ram->limit_bytes)
    add(style.terminal ? "" : "RAM", draw_branch(true, style) + "limit",
        compute_limit_used_bytes(*ram), ram->limit_bytes);
}

Table make_table(const Layout& layout, const std::optional<hypomnesis::system_memory>& ram,
                 const std::vector<GpuRow>& rows, const Style& style) {
  auto columns = make_columns(layout, style);
  if (rows.empty())
    for (auto& column : columns) column.is_optional = true;
  Table table(std::move(columns));
  table.set_gap(layout.gap);
  add_host(table, ram, layout, style);
  for (const auto& row : rows) add_row(table, format_gpu_row(row, layout, style), style);
  table.remove_empty();
  return table;
}

std::string format_summary_table(const std::optional<hypomnesis::system_memory>& ram,
                                 const std::vector<GpuStatus>& statuses, const Style& style) {
  const auto rows = order_rows(statuses);
  if (!style.terminal) return make_table(pipe_layout, ram, rows, style).text(style);
  std::string text;
  for (const auto& layout : layouts) {
    if (layout.is_wide && style.width > 0 && style.width < min_wide_width) continue;
    const auto table = make_table(layout, ram, rows, style);
    text = table.text(style);
    if (style.width == 0 || table.fits(style.width)) break;
  }
  return text;
}

OptionalBytes get_pool_bytes(const Gpu& gpu, OptionalBytes hypomnesis::pool::*field) {
  return gpu.memory ? (*gpu.memory).*field : std::nullopt;
}

JsonObject to_json(const Gpu& gpu) {
  const auto& device = gpu.device;
  JsonObject object;
  object.add("index", device.index)
      .add("name", device.name)
      .add("total_bytes", get_pool_bytes(gpu, &hypomnesis::pool::total_bytes))
      .add("free_bytes", get_pool_bytes(gpu, &hypomnesis::pool::free_bytes))
      .add("used_bytes", get_pool_bytes(gpu, &hypomnesis::pool::used_bytes))
      .add("reserved_bytes", get_pool_bytes(gpu, &hypomnesis::pool::reserved_bytes))
      .add("driver_version", device.driver_version)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("cuda_version_major", device.cuda_version_major)
      .add("cuda_version_minor", device.cuda_version_minor)
      .add("vendor", or_unknown(vendor_word(device.vendor)))
      .add("device_class", or_unknown(class_word(device.device_class)))
      .add("form", or_unknown(form_word(device.form)))
      .add("memory_kind", or_unknown(memory_kind_word(device.memory_kind)))
      .add("pool", gpu.memory ? pool_word(gpu.memory->kind) : Word{})
      .add("parent_index", device.parent_index)
      .add("state", or_unknown(state_word(device.state)))
      .add("backend", source_word(gpu.memory ? gpu.memory->backend : device.backend))
      .add("age_ns", gpu.memory ? std::optional(gpu.memory->age_ns) : std::nullopt)
      .add("notes",
           note_words(device.notes | (gpu.memory ? gpu.memory->notes : hypomnesis::note{})));
  return object;
}

void add_telemetry(const std::optional<hypomnesis::telemetry>& telemetry, JsonObject& object) {
  const auto values = telemetry.value_or(hypomnesis::telemetry{});
  object.add("gpu_busy_percent", values.gpu_busy_percent)
      .add("temperature_celsius", values.temperature_celsius)
      .add("power_watts", values.power_watts)
      .add("power_limit_watts", values.power_limit_watts);
}

// Formats a count of devices that is a minimum.
std::string format_min_device_count(const hypomnesis::snapshot& snapshot) {
  return fmt::format("at least {}: some could not be listed", snapshot.info().device_count);
}

// Returns whether a load is pending: it is the difference of two readings, and there was only one.
bool is_device_load_pending(const hypomnesis::snapshot& snapshot) {
  const auto diagnostics = snapshot.diagnostics();
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const hypomnesis::diagnostic& diagnostic) {
                       return diagnostic.reason == hypomnesis::reason_id::not_yet &&
                              diagnostic.subject == part::telemetry &&
                              (diagnostic.field.value_or(0) & HMN_TELEMETRY_HAS_GPU_BUSY) != 0;
                     });
}

// Reads the memory first, on its own: sensors or lists of processes that hang do not hide it.
class SummaryReading {
 public:
  // The first reading of the command lists the devices, and prints a notice if it waits for a
  // driver.
  SummaryReading(const Session& session, part parts, bool is_first,
                 std::optional<std::uint32_t> device)
      : session_(session),
        device_(device),
        start_(Clock::now()),
        memory_(is_first ? session.collect(make_options(part::pools | parts))
                         : session.take(make_options(part::pools | parts))) {}

  const hypomnesis::snapshot& memory() const { return memory_; }
  // Reads more values in the remaining time.
  const hypomnesis::snapshot& read_activity(part parts) {
    constexpr std::chrono::milliseconds load_interval(100);
    activity_ = session_.take(make_options(parts), elapsed());
    if (!is_device_load_pending(*activity_)) return *activity_;
    std::this_thread::sleep_for(load_interval);
    activity_ = session_.take(make_options(parts), elapsed());
    return *activity_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  hypomnesis::snapshot_options make_options(part parts) const {
    hypomnesis::snapshot_options options;
    options.device_index = device_;
    options.collect = part::devices | parts;
    options.quick = true;
    return options;
  }
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
  }

  const Session& session_;
  std::optional<std::uint32_t> device_;  // none: all
  Clock::time_point start_;
  hypomnesis::snapshot memory_;
  std::optional<hypomnesis::snapshot> activity_;
};

// Text of a reading for standard output, and lines for standard error.
struct SummaryText {
  std::string output;
  std::vector<std::string> notices;
};

// Returns diagnostics that neither a row of the table nor a shown line explains: those of no single
// device, or of a device without a row.
std::vector<std::string> format_general_lines(const hypomnesis::snapshot& snapshot,
                                              const std::vector<std::string>& shown_lines,
                                              bool is_reason_shown) {
  using hypomnesis::status_code;
  auto diagnostics = snapshot.diagnostics();
  std::erase_if(diagnostics, [&](const hypomnesis::diagnostic& diagnostic) {
    const auto is_same = [&](const std::string& line) {
      return line.ends_with(diagnostic.message);
    };
    const bool has_row = diagnostic.device_index && !hides_some_devices(diagnostic);
    return has_row || !matters(diagnostic) ||
           (is_reason_shown && diagnostic.status == status_code::no_source) ||
           std::any_of(shown_lines.begin(), shown_lines.end(), is_same);
  });
  return format_distinct_lines(diagnostics);
}

// Returns the table, with the reasons of missing values: on a terminal below it.
SummaryText format_table(const Session& session, SummaryReading& reading, const Style& style) {
  const auto& memory = reading.memory();
  const bool is_empty = memory.info().device_count == 0;
  std::vector<GpuStatus> statuses;
  if (!is_empty)
    statuses =
        make_statuses(session, {memory, reading.read_activity(part::telemetry | part::processes)});
  const auto row_reasons = format_reason_lines(statuses);
  const bool has_failed = has_search_failed(memory);
  auto reasons = format_general_lines(memory, row_reasons, is_empty && !has_failed);
  reasons.insert(reasons.end(), row_reasons.begin(), row_reasons.end());

  std::vector<std::string> footer;
  if (style.terminal) footer.swap(reasons);
  if (is_empty)
    footer.push_back("GPU: " + (has_failed ? "not known: the search for GPUs failed"
                                           : explain_no_gpu(session, memory)));
  if (lacks_devices(memory)) footer.push_back("GPU: " + format_min_device_count(memory));
  auto text = format_summary_table(memory.system(), statuses, style);
  for (const auto& line : footer)
    text += wrap(escape_for_text(line, style.ascii_only), style.width, 2) + "\n";
  return {std::move(text), std::move(reasons)};
}

bool concerns_printed_telemetry(const hypomnesis::diagnostic& diagnostic) {
  constexpr std::uint32_t printed_fields = HMN_TELEMETRY_HAS_GPU_BUSY |
                                           HMN_TELEMETRY_HAS_TEMPERATURE | HMN_TELEMETRY_HAS_POWER |
                                           HMN_TELEMETRY_HAS_POWER_LIMIT;
  return diagnostic.subject == part::telemetry &&
         (diagnostic.field.value_or(printed_fields) & printed_fields) != 0;
}

SummaryText format_json(const Session& session, SummaryReading& reading) {
  auto diagnostics = reading.memory().diagnostics();
  std::vector<JsonObject> objects;
  if (reading.memory().info().device_count > 0) {
    const auto& activity = reading.read_activity(part::telemetry);
    // A driver that hangs is one fault, whichever devices and values it hides.
    std::set<std::string> messages;
    for (const auto& diagnostic : diagnostics) messages.insert(diagnostic.message);
    for (auto& diagnostic : activity.diagnostics())
      if (concerns_printed_telemetry(diagnostic) && messages.insert(diagnostic.message).second)
        diagnostics.push_back(std::move(diagnostic));
    for (const auto& status : make_statuses(session, {reading.memory(), activity}))
      add_telemetry(status.telemetry, objects.emplace_back(to_json(status.gpu)));
  }
  std::erase_if(diagnostics, [](const auto& diagnostic) { return !matters(diagnostic); });
  return {format_json_array(objects), format_distinct_lines(diagnostics)};
}

// Adds the host's memory, which needs no driver, to the notice about a slow driver.
void add_memory_to_notice(const Session& session) {
  // Not destroyed: the notice may be printed until the end.
  static auto& text = *new std::string;
  hypomnesis::snapshot_options request;
  request.collect = part::system;
  const auto ram = session.library().take(request).system();
  if (ram)
    text = fmt::format("; RAM: {}", format_amount(accuracy_mark(ram->notes),
                                                  subtract(ram->total_bytes, ram->available_bytes),
                                                  ram->total_bytes, Spacing::roomy));
  text += "\n";
  notice_end = text;
}

class SummaryPrinter {
 public:
  SummaryPrinter(const Session& session, const Options& options,
                 std::optional<std::uint32_t> device)
      : session_(session), options_(options), device_(device) {}

  // Prints a reading: on a terminal in place of the one before, if it fits, else below it.
  WriteResult print();
  bool has_failed() const { return has_failed_; }

 private:
  SummaryText read_and_format(const Style& style);

  const Session& session_;
  const Options& options_;
  std::optional<std::uint32_t> device_;  // none: all
  bool is_first_ = true;
  bool has_failed_ = false;           // the last search for GPUs
  std::vector<std::string> notices_;  // the last ones
  RedrawnLines screen_lines_;
};

SummaryText SummaryPrinter::read_and_format(const Style& style) {
  session_.restart_timeout();
  SummaryReading reading(session_, options_.json ? part{} : part::system, is_first_, device_);
  has_failed_ = has_search_failed(reading.memory());
  return options_.json ? format_json(session_, reading) : format_table(session_, reading, style);
}

WriteResult SummaryPrinter::print() {
  const auto style = choose_style(detect_output_environment(), options_.colour);
  auto [text, notices] = read_and_format(style);
  if (notices != notices_)
    for (const auto& line : notices) write_notice(line);
  notices_ = std::move(notices);
  const bool is_below = !std::exchange(is_first_, false) && !options_.json;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (options_.json || style.height <= lines) {
    screen_lines_ = {};
    return write_chunk(is_below ? "\n" + text : text);
  }
  return write_chunk(screen_lines_.replace(text));
}

Expected<ExitCode> run_summary(const Session& session, const Options& options, const Style&) {
  if (!options.json) add_memory_to_notice(session);
  const auto request = limit_to_device(session, options.device, {});
  if (!request) return request.error();
  SummaryPrinter printer(session, options, request->device_index);
  auto result = WriteResult::written;
  if (const auto interval = options.summary.interval_ms) {
    StopRequest stop;
    result = repeat({std::chrono::milliseconds(*interval), {}, options.summary.count}, stop,
                    [&](std::uint64_t) { return printer.print(); });
  } else {
    result = printer.print();
  }
  const bool has_failed = result == WriteResult::failed || printer.has_failed();
  return has_failed ? ExitCode::failed : ExitCode::done;
}

constexpr Option summary_options[] = {
    json_option("Print a JSON array of the GPUs"),
    interval_option("Repeat at this interval", "1s 5s 1m"),
    {"--count", 'n', "N", "Repeat N times, each second without -i"},
    device_option(),
};

std::optional<Failure> read_summary(const Arguments& arguments, Options& options) {
  auto& summary = options.summary;
  if (arguments.has("--interval") || arguments.has("--count")) {
    constexpr std::uint32_t second = 1000;
    if (auto failure = read_interval(arguments, summary.interval_ms.emplace(second)))
      return failure;
  }
  return read_count(arguments, "--count", summary.count);
}

constexpr std::string_view summary_examples =
    "Examples:\n"
    "  hmn                                  RAM and each GPU at a glance\n"
    "  hmn -i 2                             the same every two seconds\n"
    "  hmn top                              the same on a screen that changes\n"
    "  hmn --json | jq '.[].free_bytes'     free bytes of each GPU\n"
    "  hmn --machine workstation            a simulated machine\n"
    "  hmn ps --sort ram                    GPU processes by host RAM\n"
    "\n"
    "In tables - is a value that the device or its driver does not have, ? one that\n"
    "is not known; hmn doctor has the reasons.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

}  // namespace

const Command summary_command = {
    .id = CommandId::summary,
    .name = "",
    .purpose = "Show the memory of this machine and its GPUs, and who uses it",
    .options = summary_options,
    .examples = summary_examples,
    .read = read_summary,
    .run = run_summary,
};

}  // namespace hmn::cli
