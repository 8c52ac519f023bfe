// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.hpp"
#include "cli/measure/freshness.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/no_gpu.hpp"
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

// Uses the limit of the control group or of the machine, whichever leaves less.
std::optional<double> ram_used(const hypomnesis::system_memory& ram) {
  if (!ram.total_bytes || !ram.available_bytes) return std::nullopt;
  const auto total = *ram.total_bytes;
  const auto available = *ram.available_bytes;
  const bool limited = ram.limit_bytes && ram.limit_used_bytes &&
                       *ram.limit_used_bytes <= *ram.limit_bytes &&
                       *ram.limit_bytes - *ram.limit_used_bytes < available;
  if (limited) return fraction_of(*ram.limit_used_bytes, *ram.limit_bytes);
  return fraction_of(total - available, total);
}

std::string limit_text(const hypomnesis::system_memory& ram) {
  if (!ram.limit_bytes) return {};
  auto text = fmt::format(", limit {} MiB", *ram.limit_bytes / mib);
  if (ram.limit_used_bytes) text += fmt::format(" ({} MiB used)", *ram.limit_used_bytes / mib);
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
  if (of.device.state == run_state::hung) return "not answering, ";
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

memory_line no_gpu_line(std::string_view why) {
  memory_line line;
  line.label = "GPU";
  line.before = escape_for_text(why);
  line.silent = true;
  return line;
}

std::string as_json(const std::vector<gpu>& gpus) {
  std::vector<json_object> objects;
  for (const auto& each : gpus) objects.push_back(to_json(each));
  return json_document(objects);
}

hypomnesis::snapshot_options wanted(bool with_ram) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices | part::pools;
  if (with_ram) what.collect |= part::system;
  return what;
}

}  // namespace

expected<exit_code> run_summary(const session& in, const options& asked, const style& as) {
  const auto snapshot = in.collect(wanted(!asked.json));
  const auto gpus = gpus_of(in, snapshot);
  const bool failing = search_failed(snapshot);
  print_diagnostics(snapshot, gpus.empty() && !failing && !asked.json);
  const auto result = failing ? exit_code::failed : exit_code::done;
  if (asked.json) return std::max(result, write_output(as_json(gpus)));

  std::vector<memory_line> lines{ram_line(snapshot.system())};
  for (const auto& each : gpus) lines.push_back(gpu_line(each, as));
  if (gpus.empty())
    lines.push_back(
        no_gpu_line(failing ? "not known: the search for GPUs failed" : why_no_gpu(in, snapshot)));
  return std::max(result, write_output(render(lines, as)));
}

}  // namespace hmn::cli
