// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/summary_table.hpp"
#include "cli/measure/free_memory.hpp"
#include "cli/measure/freshness.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/no_gpu.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/json.hpp"
#include "cli/text/memory_line.hpp"
#include "cli/text/output.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::device_memory;
using hypomnesis::part;
using hypomnesis::run_state;

using optional_bytes = std::optional<std::uint64_t>;

optional_bytes bytes_of(const gpu& of, optional_bytes hypomnesis::pool::*field) {
  return of.memory ? (*of.memory).*field : std::nullopt;
}

json_object to_json(const gpu& of) {
  const auto& device = of.device;
  json_object out;
  out.add("index", device.index)
      .add("name", device.name)
      .add("total_bytes", bytes_of(of, &hypomnesis::pool::total_bytes))
      .add("free_bytes", bytes_of(of, &hypomnesis::pool::free_bytes))
      .add("used_bytes", bytes_of(of, &hypomnesis::pool::used_bytes))
      .add("reserved_bytes", bytes_of(of, &hypomnesis::pool::reserved_bytes))
      .add("driver_version", device.driver_version)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("cuda_version", device.cuda_version)
      .add("vendor", or_unknown(vendor_word(device.vendor)))
      .add("kind", or_unknown(kind_word(device.kind)))
      .add("memory_kind", or_unknown(memory_kind_word(device.memory_kind)))
      .add("pool", of.memory ? pool_word(of.memory->kind) : word{})
      .add("parent_index", device.parent_index)
      .add("state", or_unknown(state_word(device.state)))
      .add("backend", source_word(of.memory ? of.memory->backend : device.backend))
      .add("age_ns", of.memory ? std::optional(of.memory->age_ns) : std::nullopt)
      .add("notes", note_words(device.notes | (of.memory ? of.memory->notes : hypomnesis::note{})));
  return out;
}

void add_telemetry(const std::optional<hypomnesis::telemetry>& of, json_object& to) {
  const auto values = of.value_or(hypomnesis::telemetry{});
  to.add("gpu_busy_percent", values.gpu_busy_percent)
      .add("temperature_celsius", values.temperature_celsius)
      .add("power_watts", values.power_watts)
      .add("power_limit_watts", values.power_limit_watts);
}

// Uses the limit of the control group or of the machine, whichever leaves less.
std::optional<double> ram_used(const hypomnesis::system_memory& ram) {
  if (!ram.total_bytes || !ram.available_bytes) return std::nullopt;
  if (is_limited(ram)) return fraction_of(*ram.limit_bytes - *ram.usable_bytes, *ram.limit_bytes);
  return fraction_of(*ram.total_bytes - *ram.available_bytes, *ram.total_bytes);
}

std::string limit_text(const hypomnesis::system_memory& ram) {
  if (!ram.limit_bytes) return {};
  auto text = fmt::format(", limit {} MiB", *ram.limit_bytes / mib);
  if (const auto used = used_of_limit(ram)) text += fmt::format(" ({} MiB used)", *used / mib);
  return text;
}

memory_line ram_line(const std::optional<hypomnesis::system_memory>& ram) {
  memory_line line;
  line.label = "RAM";
  line.verb = "available";
  if (!ram) return line;
  line.mark = mark_of(ram->notes);
  line.free = ram->available_bytes;
  line.total = ram->total_bytes;
  line.used = ram_used(*ram);
  line.after = limit_text(*ram);
  return line;
}

std::string state_text(const gpu& of) {
  if (of.device.state == run_state::ready || of.device.state == run_state::unknown) return {};
  const auto state = state_word(of.device.state);
  return state ? fmt::format("{}, ", *state) : std::string();
}

std::string memory_kind_text(const gpu& of) {
  if (of.device.memory_kind == device_memory::unified) return "unified memory, ";
  if (of.device.memory_kind == device_memory::coherent) return "coherent memory, ";
  return {};
}

std::string details_of(const gpu& of, const style& as) {
  std::string text;
  if (const auto reserved = bytes_of(of, &hypomnesis::pool::reserved_bytes))
    text += fmt::format(" ({} MiB reserved)", *reserved / mib);
  if (const auto driver = of.device.driver_version)
    text += fmt::format(", driver {}", escape_for_text(*driver, as.ascii_only));
  if (of.memory) text += staleness(of.memory->notes, of.memory->age_ns);
  return text;
}

memory_line gpu_line(const gpu& of, const style& as) {
  memory_line line;
  line.label = escape_for_text(label_of(of), as.ascii_only);
  line.before = state_text(of) + memory_kind_text(of);
  line.free = bytes_of(of, &hypomnesis::pool::free_bytes);
  line.total = bytes_of(of, &hypomnesis::pool::total_bytes);
  if (!line.free) {
    line.free = bytes_of(of, &hypomnesis::pool::used_bytes);
    line.verb = "used";
  }
  line.used = fraction_used(of);
  line.after = details_of(of, as);
  if (of.memory) line.mark = mark_of(of.memory->notes);
  return line;
}

// Reports that a count of the devices is a minimum.
std::string more_devices(const hypomnesis::snapshot& snapshot) {
  return fmt::format("at least {}: some could not be listed", snapshot.info().device_count);
}

memory_line no_gpu_line(std::string_view why) {
  memory_line line;
  line.label = "GPU";
  line.before = escape_for_text(why);
  line.silent = true;
  return line;
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
class summary_reading {
 public:
  summary_reading(const session& in, part with)
      : in_(in), begun_(clock::now()), memory_(in.collect(options_of(part::pools | with))) {}

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
  using clock = std::chrono::steady_clock;
  static hypomnesis::snapshot_options options_of(part what) {
    hypomnesis::snapshot_options options;
    options.collect = part::devices | what;
    options.quick = true;
    return options;
  }
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begun_);
  }

  const session& in_;
  clock::time_point begun_;
  hypomnesis::snapshot memory_;
  std::optional<hypomnesis::snapshot> further_;
};

// Prints what no row of a table explains: diagnostics of no single device.
void print_general(const hypomnesis::snapshot& snapshot, const std::vector<std::string>& shown) {
  auto all = snapshot.diagnostics();
  std::erase_if(all, [&](const hypomnesis::diagnostic& each) {
    const auto is_it = [&](const std::string& line) { return line.ends_with(each.message); };
    return each.device_index || !matters(each) || std::any_of(shown.begin(), shown.end(), is_it);
  });
  for (const auto& line : distinct_lines(all)) write_notice(line);
}

exit_code show_table(const session& in, summary_reading& reading, const style& as) {
  const auto& further = reading.further(part::telemetry | part::processes);
  const auto gpus = statuses_of(in, {reading.memory(), further});
  auto reasons = reason_lines(gpus);
  print_general(reading.memory(), reasons);
  if (lacks_devices(reading.memory())) reasons.push_back("GPU: " + more_devices(reading.memory()));
  return write_output(summary_table(reading.memory().system(), gpus, reasons, as));
}

bool is_of_printed_telemetry(const hypomnesis::diagnostic& of) {
  constexpr std::uint32_t printed = HMN_TELEMETRY_HAS_GPU_BUSY | HMN_TELEMETRY_HAS_TEMPERATURE |
                                    HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_POWER_LIMIT;
  return of.subject == part::telemetry && (of.field.value_or(printed) & printed) != 0;
}

exit_code print_json(const session& in, summary_reading& reading) {
  const auto gpus = gpus_of(in, reading.memory());
  auto diagnostics = reading.memory().diagnostics();
  std::vector<json_object> objects;
  if (!gpus.empty()) {
    const auto& further = reading.further(part::telemetry);
    // A driver that hangs is one fault, whichever devices and values it hides.
    std::set<std::string> known;
    for (const auto& each : diagnostics) known.insert(each.message);
    for (auto& each : further.diagnostics())
      if (is_of_printed_telemetry(each) && known.insert(each.message).second)
        diagnostics.push_back(std::move(each));
    for (const auto& each : gpus) {
      auto& out = objects.emplace_back(to_json(each));
      add_telemetry(further.telemetry(each.device.index), out);
    }
  }
  std::erase_if(diagnostics, [](const auto& each) { return !matters(each); });
  for (const auto& line : distinct_lines(diagnostics)) write_notice(line);
  return write_output(json_document(objects));
}

exit_code print_lines(const session& in, const hypomnesis::snapshot& snapshot, const style& as) {
  const auto gpus = gpus_of(in, snapshot);
  const bool failing = search_failed(snapshot);
  print_diagnostics(snapshot, gpus.empty() && !failing);
  std::vector<memory_line> lines{ram_line(snapshot.system())};
  for (const auto& each : gpus) lines.push_back(gpu_line(each, as));
  if (gpus.empty())
    lines.push_back(
        no_gpu_line(failing ? "not known: the search for GPUs failed" : why_no_gpu(in, snapshot)));
  if (lacks_devices(snapshot)) lines.push_back(no_gpu_line(more_devices(snapshot)));
  return write_output(render(lines, as));
}

// Lets the notice about a slow driver report what needs no driver.
void add_memory_to_notice(const session& in) {
  // Not destroyed: the notice may be printed until the end.
  static auto& text = *new std::string;
  hypomnesis::snapshot_options what;
  what.collect = part::system;
  text = "; " + render({ram_line(in.library().take(what).system())}, style{});
  end_of_notice = text;
}

expected<exit_code> run_summary(const session& in, const options& asked, const style& as) {
  if (!asked.json) add_memory_to_notice(in);
  summary_reading reading(in, asked.json ? part{} : part::system);
  const auto& memory = reading.memory();
  const auto result = search_failed(memory) ? exit_code::failed : exit_code::done;
  if (asked.json) return std::max(result, print_json(in, reading));
  const bool has_table = as.terminal && memory.info().device_count != 0;
  return std::max(result, has_table ? show_table(in, reading, as) : print_lines(in, memory, as));
}

constexpr option options_of_summary[] = {
    json_option("Print a JSON array of the GPUs"),
};

constexpr std::string_view examples_of_summary =
    "Examples:\n"
    "  hmn                                  RAM and each GPU at a glance\n"
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

const command_entry summary_command = {
    .id = command::summary,
    .name = "",
    .purpose = "Show the memory of this machine and its GPUs, and who uses it",
    .takes = options_of_summary,
    .examples = examples_of_summary,
    .run = run_summary,
};

}  // namespace hmn::cli
