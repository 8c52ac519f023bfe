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

// Form of the table. `is_wide`: with fan, clocks, PCIe and processes. `extras`: 3: all other
// columns, 2: no driver, 1: no reserved memory, 0: no kind of memory either.
struct Layout {
  bool is_wide;
  unsigned extras;
  unsigned bar;  // cells; 0: none
  std::size_t name;
  ShownUsers users;
  Spacing with = Spacing::roomy;
  std::size_t gap = 2;
};

constexpr std::size_t whole_names = 4096;
constexpr unsigned wide_table = 160;

// Forms from the widest on, each of which gives up what is needed least.
constexpr Layout layouts[] = {
    {true, 3, 20, whole_names, ShownUsers::all},
    {true, 3, 10, whole_names, ShownUsers::all, Spacing::compact},
    {true, 1, 10, whole_names, ShownUsers::all, Spacing::compact},
    {true, 0, 10, 20, ShownUsers::all, Spacing::compact},
    {false, 3, 20, whole_names, ShownUsers::all},
    {false, 2, 20, whole_names, ShownUsers::all},
    {false, 1, 20, whole_names, ShownUsers::all},
    {false, 0, 20, whole_names, ShownUsers::all},
    {false, 0, 20, 20, ShownUsers::all},
    {false, 0, 10, 20, ShownUsers::all},
    {false, 0, 20, 20, ShownUsers::all, Spacing::compact},
    {false, 0, 10, 20, ShownUsers::all, Spacing::compact},
    {false, 0, 10, 14, ShownUsers::all, Spacing::compact},
    {false, 0, 10, 14, ShownUsers::first, Spacing::compact},
    {false, 0, 6, 12, ShownUsers::first, Spacing::compact},
    {false, 0, 6, 9, ShownUsers::first, Spacing::compact, 1},
    {false, 0, 4, 9, ShownUsers::first, Spacing::compact, 1},
    {false, 0, 4, 7, ShownUsers::sum, Spacing::compact, 1},
    {false, 0, 0, 7, ShownUsers::sum, Spacing::compact, 1},
};

// Form in a pipe: the same columns on every machine, at any width.
constexpr Layout piped{false, 3, 0, whole_names, ShownUsers::all, Spacing::compact};

Cell bar_cell(std::optional<double> used, const Layout& in, const Style& as) {
  if (!used) return {};
  return {draw_bar(*used, in.bar, as.unicode), tone_of_usage(*used)};
}

std::optional<std::uint64_t> difference(std::optional<std::uint64_t> a,
                                        std::optional<std::uint64_t> b) {
  return a && b ? std::optional(*a - std::min(*a, *b)) : std::nullopt;
}

std::string_view kind_text(device_memory of) {
  if (of == device_memory::unified) return "unified";
  return of == device_memory::coherent ? "coherent" : "";
}

Cell reserved_cell(const Gpu& of, Spacing with) {
  const auto reserved = of.memory ? of.memory->reserved_bytes : std::nullopt;
  if (!reserved) return {};
  return {gib_text(*reserved) + (with == Spacing::roomy ? " GiB" : "")};
}

Cell driver_cell(const Gpu& of, const Style& as) {
  const auto& version = of.device.driver_version;
  return version ? Cell{escape_for_text(*version, as.ascii_only)} : Cell{};
}

Cell fan_cell(const hypomnesis::telemetry& of) {
  if (of.fan_percent) return {fmt::format("{} %", *of.fan_percent)};
  return of.fan_rpm ? Cell{fmt::format("{} RPM", *of.fan_rpm)} : Cell{};
}

Cell clocks_cell(const hypomnesis::telemetry& of) {
  if (!of.core_clock_mhz) return {};
  if (!of.memory_clock_mhz) return {fmt::format("{} MHz", *of.core_clock_mhz)};
  return {fmt::format("{} / {} MHz", *of.core_clock_mhz, *of.memory_clock_mhz)};
}

Cell pcie_cell(const hypomnesis::telemetry& of) {
  if (!of.pcie_generation || !of.pcie_width) return {};
  return {fmt::format("gen{} x{}", *of.pcie_generation, *of.pcie_width)};
}

Cell processes_cell(const GpuStatus& of, const Style& as) {
  return {escape_for_text(fmt::format("{}", fmt::join(of.processes, ", ")), as.ascii_only)};
}

// Row of the table: the parent and the next row decide how a partition is drawn.
struct DrawnGpu {
  const GpuStatus* status = nullptr;
  const GpuStatus* parent = nullptr;
  bool is_last = false;  // of its parent
};

const GpuStatus* find(const std::vector<GpuStatus>& all, std::optional<std::uint32_t> index) {
  if (!index) return nullptr;
  return find_device_in(all, *index, [](const GpuStatus& each) { return each.of.device.index; });
}

// Puts partitions below their GPU.
std::vector<DrawnGpu> in_order(const std::vector<GpuStatus>& all) {
  std::vector<DrawnGpu> rows;
  for (const auto& each : all)
    rows.push_back({&each, find(all, each.of.device.parent_index), true});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return place_of(a.status->of.device) < place_of(b.status->of.device);
  });
  for (std::size_t i = 0; i + 1 < rows.size(); ++i)
    rows[i].is_last = rows[i].parent != rows[i + 1].parent;
  return rows;
}

std::string branch_of(bool is_last, const Style& as) {
  if (!as.unicode) return "  ";
  return is_last ? "\u2514 " : "\u251c ";
}

Cell name_cell(const DrawnGpu& row, const Layout& in, const Style& as) {
  auto name = escape_for_text(short_name(row.status->of, row.parent ? &row.parent->of : nullptr),
                              as.ascii_only);
  if (!row.status->of.device.parent_index) return {std::move(name), Tone::strong};
  constexpr std::string_view needless = "MIG ";
  if (in.gap == 1 && name.starts_with(needless)) name.erase(0, needless.size());
  return {branch_of(row.is_last, as) + name};
}

const char* title(const Layout& in, const char* roomy, const char* compact) {
  return in.with == Spacing::roomy ? roomy : compact;
}

std::vector<Table::Column> columns_of(const Layout& in, const Style& as) {
  std::vector<Table::Column> all{{"GPU", as.terminal ? Align::right : Align::left},
                                 {"NAME", Align::left, in.name != whole_names, in.name, true},
                                 {title(in, "LOAD", "%"), Align::right}};
  if (in.bar > 0) all.push_back({""});
  all.push_back({title(in, "MEMORY", "GiB"), Align::right});
  if (in.extras >= 1) all.push_back({"KIND", Align::left, false, 0, false, true});
  all.push_back({title(in, "TEMP", as.ascii_only ? "C" : "\u00b0C"), Align::right});
  all.push_back({title(in, "POWER", "W"), Align::right});
  if (in.is_wide)
    for (const auto* const each : {"FAN", "CLOCKS", "PCIE"})
      all.push_back({each, Align::right, false, 0, false, true});
  if (in.extras >= 2)
    all.push_back({title(in, "RESERVED", "RESERVED, GiB"), Align::right, false, 0, false, true});
  if (in.extras >= 3) all.push_back({"DRIVER", Align::left, false, 0, false, true});
  all.push_back(
      {in.gap == 1 ? "USERS" : "USERS, GiB", Align::left, in.users != ShownUsers::all, 10});
  if (in.is_wide) all.push_back({"PROCESSES", Align::left, true, 12, false, true});
  return all;
}

std::vector<Cell> gpu_row(const DrawnGpu& row, const Layout& in, const Style& as) {
  const auto& of = *row.status;
  std::vector<Cell> cells{
      {std::to_string(of.of.device.index)}, name_cell(row, in, as), load_cell(of, in.with)};
  if (in.bar > 0) cells.push_back(bar_cell(fraction_used(of.of), in, as));
  cells.push_back(memory_cell(of, in.with));
  if (in.extras >= 1) cells.push_back({std::string(kind_text(of.of.device.memory_kind))});
  cells.push_back(temperature_cell(of, in.with, as));
  cells.push_back(power_cell(of, in.with));
  if (in.is_wide) {
    const auto values = of.telemetry.value_or(hypomnesis::telemetry{});
    cells.insert(cells.end(), {fan_cell(values), clocks_cell(values), pcie_cell(values)});
  }
  if (in.extras >= 2) cells.push_back(reserved_cell(of.of, in.with));
  if (in.extras >= 3) cells.push_back(driver_cell(of.of, as));
  cells.push_back(users_cell(of, in.users, as));
  if (in.is_wide) cells.push_back(processes_cell(of, as));
  return cells;
}

// Adds a row. In a pipe no cell is empty, so that columns can be counted.
void add_row(Table& to, std::vector<Cell> cells, const Style& as) {
  for (auto& each : cells)
    if (!as.terminal && each.text.empty()) each.text = sign_of_missing(true);
  to.add(std::move(cells));
}

// Row of host memory, which has no other values.
void add_host_row(Table& to, const char* label, const std::string& name, const Cell& memory,
                  std::optional<double> used, const Layout& in, const Style& as) {
  std::vector<Cell> cells{{label, Tone::strong}, {name}, {}};
  if (in.bar > 0) cells.push_back(bar_cell(used, in, as));
  cells.push_back(memory);
  cells.resize(columns_of(in, as).size());
  add_row(to, std::move(cells), as);
}

void add_host(Table& to, const std::optional<hypomnesis::system_memory>& ram, const Layout& in,
              const Style& as) {
  if (!ram) return add_host_row(to, "RAM", "", {"?", Tone::faint}, std::nullopt, in, as);
  const auto row = [&](const char* label, const std::string& name,
                       std::optional<std::uint64_t> used, std::optional<std::uint64_t> total) {
    add_host_row(to, label, name, {amount_text(mark_of(ram->notes), used, total, in.with)},
                 used && total ? fraction_of(*used, *total) : std::nullopt, in, as);
  };
  row("RAM", "", difference(ram->total_bytes, ram->available_bytes), ram->total_bytes);
  if (ram->limit_bytes)
    row(as.terminal ? "" : "RAM", branch_of(true, as) + "limit", used_of_limit(*ram),
        ram->limit_bytes);
}

Table table_in(const Layout& in, const std::optional<hypomnesis::system_memory>& ram,
               const std::vector<DrawnGpu>& gpus, const Style& as) {
  auto columns = columns_of(in, as);
  if (gpus.empty())
    for (auto& each : columns) each.is_optional = true;
  Table out(std::move(columns));
  out.set_gap(in.gap);
  add_host(out, ram, in, as);
  for (const auto& each : gpus) add_row(out, gpu_row(each, in, as), as);
  out.remove_empty();
  return out;
}

std::string summary_table(const std::optional<hypomnesis::system_memory>& ram,
                          const std::vector<GpuStatus>& gpus, const Style& as) {
  const auto rows = in_order(gpus);
  if (!as.terminal) return table_in(piped, ram, rows, as).text(as);
  std::string text;
  for (const auto& in : layouts) {
    if (in.is_wide && as.width > 0 && as.width < wide_table) continue;
    const auto made = table_in(in, ram, rows, as);
    text = made.text(as);
    if (as.width == 0 || made.fits(as.width)) break;
  }
  return text;
}

OptionalBytes bytes_of(const Gpu& of, OptionalBytes hypomnesis::pool::*field) {
  return of.memory ? (*of.memory).*field : std::nullopt;
}

JsonObject to_json(const Gpu& of) {
  const auto& device = of.device;
  JsonObject out;
  out.add("index", device.index)
      .add("name", device.name)
      .add("total_bytes", bytes_of(of, &hypomnesis::pool::total_bytes))
      .add("free_bytes", bytes_of(of, &hypomnesis::pool::free_bytes))
      .add("used_bytes", bytes_of(of, &hypomnesis::pool::used_bytes))
      .add("reserved_bytes", bytes_of(of, &hypomnesis::pool::reserved_bytes))
      .add("driver_version", device.driver_version)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("cuda_version_major", device.cuda_version_major)
      .add("cuda_version_minor", device.cuda_version_minor)
      .add("vendor", or_unknown(vendor_word(device.vendor)))
      .add("device_class", or_unknown(class_word(device.device_class)))
      .add("form", or_unknown(form_word(device.form)))
      .add("memory_kind", or_unknown(memory_kind_word(device.memory_kind)))
      .add("pool", of.memory ? pool_word(of.memory->kind) : Word{})
      .add("parent_index", device.parent_index)
      .add("state", or_unknown(state_word(device.state)))
      .add("backend", source_word(of.memory ? of.memory->backend : device.backend))
      .add("age_ns", of.memory ? std::optional(of.memory->age_ns) : std::nullopt)
      .add("notes", note_words(device.notes | (of.memory ? of.memory->notes : hypomnesis::note{})));
  return out;
}

void add_telemetry(const std::optional<hypomnesis::telemetry>& of, JsonObject& to) {
  const auto values = of.value_or(hypomnesis::telemetry{});
  to.add("gpu_busy_percent", values.gpu_busy_percent)
      .add("temperature_celsius", values.temperature_celsius)
      .add("power_watts", values.power_watts)
      .add("power_limit_watts", values.power_limit_watts);
}

// Reports that a count of the devices is a minimum.
std::string more_devices(const hypomnesis::snapshot& snapshot) {
  return fmt::format("at least {}: some could not be listed", snapshot.info().device_count);
}

// Returns whether a load is the difference of two readings, of which there was one.
bool is_device_load_pending(const hypomnesis::snapshot& snapshot) {
  const auto all = snapshot.diagnostics();
  return std::any_of(all.begin(), all.end(), [](const hypomnesis::diagnostic& each) {
    return each.reason == hypomnesis::reason_id::not_yet && each.subject == part::telemetry &&
           (each.field.value_or(0) & HMN_TELEMETRY_HAS_GPU_BUSY) != 0;
  });
}

// Reads the memory first, on its own: sensors or lists of processes that hang do not hide it.
class SummaryReading {
 public:
  // The first reading of the command lists the devices, and says if it waits for a driver.
  SummaryReading(const Session& in, part with, bool is_first, std::optional<std::uint32_t> device)
      : in_(in),
        device_(device),
        begun_(Clock::now()),
        memory_(is_first ? in.collect(options_of(part::pools | with))
                         : in.take(options_of(part::pools | with))) {}

  const hypomnesis::snapshot& memory() const { return memory_; }
  // Reads further values in the time that is left.
  const hypomnesis::snapshot& further(part what) {
    constexpr std::chrono::milliseconds load_interval(100);
    further_ = in_.take(options_of(what), elapsed());
    if (!is_device_load_pending(*further_)) return *further_;
    std::this_thread::sleep_for(load_interval);
    further_ = in_.take(options_of(what), elapsed());
    return *further_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  hypomnesis::snapshot_options options_of(part what) const {
    hypomnesis::snapshot_options options;
    options.device_index = device_;
    options.collect = part::devices | what;
    options.quick = true;
    return options;
  }
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  }

  const Session& in_;
  std::optional<std::uint32_t> device_;  // none: all
  Clock::time_point begun_;
  hypomnesis::snapshot memory_;
  std::optional<hypomnesis::snapshot> further_;
};

// What a reading prints on standard output and, as lines, on standard error.
struct SummaryText {
  std::string output;
  std::vector<std::string> notices;
};

// Returns what no row of a table explains, nor a line that is shown: diagnostics of no single
// device or of a device without a row.
std::vector<std::string> general_lines(const hypomnesis::snapshot& snapshot,
                                       const std::vector<std::string>& shown,
                                       bool is_reason_shown) {
  using hypomnesis::status_code;
  auto all = snapshot.diagnostics();
  std::erase_if(all, [&](const hypomnesis::diagnostic& each) {
    const auto is_it = [&](const std::string& line) { return line.ends_with(each.message); };
    const bool is_of_row = each.device_index && !lessens_devices(each);
    return is_of_row || !matters(each) ||
           (is_reason_shown && each.status == status_code::no_source) ||
           std::any_of(shown.begin(), shown.end(), is_it);
  });
  return distinct_lines(all);
}

// Returns the table, with the reasons of missing values: on a terminal below it.
SummaryText table_of(const Session& in, SummaryReading& reading, const Style& as) {
  const auto& memory = reading.memory();
  const bool is_empty = memory.info().device_count == 0;
  std::vector<GpuStatus> gpus;
  if (!is_empty)
    gpus = statuses_of(in, {memory, reading.further(part::telemetry | part::processes)});
  const auto rows = reason_lines(gpus);
  const bool failing = search_failed(memory);
  auto reasons = general_lines(memory, rows, is_empty && !failing);
  reasons.insert(reasons.end(), rows.begin(), rows.end());

  std::vector<std::string> below;
  if (as.terminal) below.swap(reasons);
  if (is_empty)
    below.push_back("GPU: " +
                    (failing ? "not known: the search for GPUs failed" : why_no_gpu(in, memory)));
  if (lacks_devices(memory)) below.push_back("GPU: " + more_devices(memory));
  auto text = summary_table(memory.system(), gpus, as);
  for (const auto& line : below)
    text += wrap(escape_for_text(line, as.ascii_only), as.width, 2) + "\n";
  return {std::move(text), std::move(reasons)};
}

bool is_of_printed_telemetry(const hypomnesis::diagnostic& of) {
  constexpr std::uint32_t printed = HMN_TELEMETRY_HAS_GPU_BUSY | HMN_TELEMETRY_HAS_TEMPERATURE |
                                    HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_POWER_LIMIT;
  return of.subject == part::telemetry && (of.field.value_or(printed) & printed) != 0;
}

SummaryText json_of(const Session& in, SummaryReading& reading) {
  auto diagnostics = reading.memory().diagnostics();
  std::vector<JsonObject> objects;
  if (reading.memory().info().device_count > 0) {
    const auto& further = reading.further(part::telemetry);
    // A driver that hangs is one fault, whichever devices and values it hides.
    std::set<std::string> known;
    for (const auto& each : diagnostics) known.insert(each.message);
    for (auto& each : further.diagnostics())
      if (is_of_printed_telemetry(each) && known.insert(each.message).second)
        diagnostics.push_back(std::move(each));
    for (const auto& each : statuses_of(in, {reading.memory(), further}))
      add_telemetry(each.telemetry, objects.emplace_back(to_json(each.of)));
  }
  std::erase_if(diagnostics, [](const auto& each) { return !matters(each); });
  return {json_document(objects), distinct_lines(diagnostics)};
}

// Lets the notice about a slow driver report what needs no driver.
void add_memory_to_notice(const Session& in) {
  // Not destroyed: the notice may be printed until the end.
  static auto& text = *new std::string;
  hypomnesis::snapshot_options what;
  what.collect = part::system;
  const auto ram = in.library().take(what).system();
  if (ram)
    text = fmt::format("; RAM: {}", amount_text(mark_of(ram->notes),
                                                difference(ram->total_bytes, ram->available_bytes),
                                                ram->total_bytes, Spacing::roomy));
  text += "\n";
  end_of_notice = text;
}

class Summary {
 public:
  Summary(const Session& in, const Options& asked, std::optional<std::uint32_t> device)
      : in_(in), asked_(asked), device_(device) {}

  // Prints a reading: on a terminal in place of the one before, if it fits, else below it.
  WriteResult print();
  bool has_failed() const { return has_failed_; }

 private:
  SummaryText read(const Style& as);

  const Session& in_;
  const Options& asked_;
  std::optional<std::uint32_t> device_;  // none: all
  bool is_first_ = true;
  bool has_failed_ = false;           // the last search for GPUs
  std::vector<std::string> notices_;  // the last ones
  RedrawnLines shown_;
};

SummaryText Summary::read(const Style& as) {
  in_.restart_timeout();
  SummaryReading reading(in_, asked_.json ? part{} : part::system, is_first_, device_);
  has_failed_ = search_failed(reading.memory());
  return asked_.json ? json_of(in_, reading) : table_of(in_, reading, as);
}

WriteResult Summary::print() {
  const auto as = choose_style(standard_output_surroundings(), asked_.colour);
  auto [text, notices] = read(as);
  if (notices != notices_)
    for (const auto& line : notices) write_notice(line);
  notices_ = std::move(notices);
  const bool is_below = !std::exchange(is_first_, false) && !asked_.json;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (asked_.json || as.height <= lines) {
    shown_ = {};
    return write_part(is_below ? "\n" + text : text);
  }
  return write_part(shown_.replace(text));
}

Expected<ExitCode> run_summary(const Session& in, const Options& asked, const Style&) {
  if (!asked.json) add_memory_to_notice(in);
  const auto only = of_one_device(in, asked.device, {});
  if (!only) return only.why();
  Summary running(in, asked, only->device_index);
  auto last = WriteResult::written;
  if (const auto interval = asked.summary.interval_ms) {
    StopRequest stop;
    last = repeat({std::chrono::milliseconds(*interval), {}, asked.summary.count}, stop,
                  [&](std::uint64_t) { return running.print(); });
  } else {
    last = running.print();
  }
  const bool failed = last == WriteResult::failed || running.has_failed();
  return failed ? ExitCode::failed : ExitCode::done;
}

constexpr Option options_of_summary[] = {
    json_option("Print a JSON array of the GPUs"),
    interval_option("Repeat at this interval", "1s 5s 1m"),
    {"--count", 'n', "N", "Repeat N times, each second without -i"},
    device_option(),
};

std::optional<Failure> read_summary(const Arguments& from, Options& to) {
  auto& asked = to.summary;
  if (from.has("--interval") || from.has("--count")) {
    constexpr std::uint32_t second = 1000;
    if (auto wrong = read_interval(from, asked.interval_ms.emplace(second))) return wrong;
  }
  return read_count(from, "--count", asked.count);
}

constexpr std::string_view examples_of_summary =
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

const CommandEntry summary_command = {
    .id = Command::summary,
    .name = "",
    .purpose = "Show the memory of this machine and its GPUs, and who uses it",
    .takes = options_of_summary,
    .examples = examples_of_summary,
    .read = read_summary,
    .run = run_summary,
};

}  // namespace hmn::cli
