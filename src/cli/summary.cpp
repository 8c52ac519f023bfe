// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/diagnostics.hpp"
#include "cli/escape.hpp"
#include "cli/gpu.hpp"
#include "cli/json.hpp"
#include "cli/look.hpp"
#include "cli/memory_line.hpp"
#include "cli/no_gpu.hpp"
#include "cli/output.hpp"
#include "cli/units.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

std::optional<std::uint64_t> figure(const gpu& of, hmn_flags bit, std::uint64_t hmn_pool::*field) {
  if (!of.memory || !has(*of.memory, bit)) return std::nullopt;
  return (*of.memory).*field;
}

json_object to_json(const gpu& of) {
  const auto& device = of.device;
  json_object out;
  out.add("index", device.index)
      .add("name", name_of(device))
      .add("total_bytes", figure(of, HMN_POOL_HAS_TOTAL, &hmn_pool::total_bytes))
      .add("free_bytes", figure(of, HMN_POOL_HAS_FREE, &hmn_pool::free_bytes))
      .add("used_bytes", figure(of, HMN_POOL_HAS_USED, &hmn_pool::used_bytes))
      .add("reserved_bytes", figure(of, HMN_POOL_HAS_RESERVED, &hmn_pool::reserved_bytes))
      .add("driver_version", driver_version_of(device))
      .add("uuid", uuid_of(device))
      .add("pci_bus_id", pci_bus_id_of(device))
      .add("cuda_version", known(device, HMN_DEVICE_HAS_CUDA_VERSION, device.cuda_version))
      .add("vendor", or_unknown(vendor_word(device.vendor)))
      .add("kind", or_unknown(kind_word(device.kind)))
      .add("memory_kind", or_unknown(memory_kind_word(device.memory_kind)))
      .add("pool", of.memory ? pool_word(of.memory->kind) : word{})
      .add("parent_index", known(device, HMN_DEVICE_HAS_PARENT, device.parent_index))
      .add("state", or_unknown(state_word(device.state)))
      .add("source", source_word(of.memory ? of.memory->backend : device.backend))
      .add("age_ns", of.memory ? std::optional(of.memory->age_ns) : std::nullopt)
      .add("notes", note_words(device.notes | (of.memory ? of.memory->notes : 0u)));
  return out;
}

// The limit of the control group or the machine itself, whichever leaves less.
std::optional<double> ram_used(const hmn_system_memory& ram) {
  if (!has(ram, HMN_SYSTEM_MEMORY_HAS_TOTAL) || !has(ram, HMN_SYSTEM_MEMORY_HAS_AVAILABLE))
    return std::nullopt;
  const auto available = std::min(ram.available_bytes, ram.total_bytes);
  const bool limited =
      has(ram, HMN_SYSTEM_MEMORY_HAS_LIMIT) && has(ram, HMN_SYSTEM_MEMORY_HAS_LIMIT_USED) &&
      ram.limit_used_bytes <= ram.limit_bytes && ram.limit_bytes - ram.limit_used_bytes < available;
  if (limited) return fraction_of(ram.limit_used_bytes, ram.limit_bytes);
  return fraction_of(ram.total_bytes - available, ram.total_bytes);
}

std::string limit_text(const hmn_system_memory& ram) {
  if (!has(ram, HMN_SYSTEM_MEMORY_HAS_LIMIT)) return {};
  auto text = fmt::format(", limit {} MiB", ram.limit_bytes / mib);
  if (has(ram, HMN_SYSTEM_MEMORY_HAS_LIMIT_USED))
    text += fmt::format(" ({} MiB used)", ram.limit_used_bytes / mib);
  return text;
}

memory_line ram_line(const std::optional<hmn_system_memory>& ram) {
  memory_line line;
  line.label = "RAM";
  line.verb = "available";
  if (!ram) return line;
  line.mark = mark_of(ram->notes);
  line.free = known(*ram, HMN_SYSTEM_MEMORY_HAS_AVAILABLE, ram->available_bytes);
  line.total = known(*ram, HMN_SYSTEM_MEMORY_HAS_TOTAL, ram->total_bytes);
  line.used = ram_used(*ram);
  line.after = limit_text(*ram);
  return line;
}

std::string state_text(const gpu& of) {
  if (of.device.state == HMN_STATE_READY || of.device.state == HMN_STATE_UNKNOWN) return {};
  if (of.device.state == HMN_STATE_HUNG) return "not answering, ";
  const auto state = state_word(of.device.state);
  return state ? fmt::format("{}, ", *state) : std::string();
}

std::string memory_kind_text(const gpu& of) {
  if (of.device.memory_kind == HMN_MEMORY_KIND_UNIFIED) return "unified memory, ";
  if (of.device.memory_kind == HMN_MEMORY_KIND_COHERENT) return "coherent memory, ";
  return {};
}

std::string details_of(const gpu& of, const style& as) {
  std::string text;
  if (const auto reserved = figure(of, HMN_POOL_HAS_RESERVED, &hmn_pool::reserved_bytes))
    text += fmt::format(" ({} MiB reserved)", *reserved / mib);
  if (const auto driver = driver_version_of(of.device))
    text += fmt::format(", driver {}", escape_for_text(*driver, as.ascii_only));
  if (of.memory) text += staleness(of.memory->notes, of.memory->age_ns);
  return text;
}

memory_line gpu_line(const gpu& of, const style& as) {
  memory_line line;
  line.label = escape_for_text(label_of(of), as.ascii_only);
  line.before = state_text(of) + memory_kind_text(of);
  line.free = figure(of, HMN_POOL_HAS_FREE, &hmn_pool::free_bytes);
  line.total = figure(of, HMN_POOL_HAS_TOTAL, &hmn_pool::total_bytes);
  if (!line.free) {
    line.free = figure(of, HMN_POOL_HAS_USED, &hmn_pool::used_bytes);
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

hmn_snapshot_options wanted(bool with_ram) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS;
  if (with_ram) what.collect |= HMN_COLLECT_SYSTEM;
  return what;
}

}  // namespace

expected<exit_code> run_summary(const context& in, const options& asked, const style& as) {
  const auto picture = look(in, wanted(!asked.json), asked.trace);
  if (!picture) return picture.why();
  const auto gpus = gpus_of(*picture);
  const bool failing = search_failed(*picture);
  print_diagnostics(*picture, gpus.empty() && !failing && !asked.json);
  const auto result = failing ? exit_code::failed : exit_code::done;
  if (asked.json) return std::max(result, write_output(as_json(gpus)));

  std::vector<memory_line> lines{ram_line(picture->system())};
  for (const auto& each : gpus) lines.push_back(gpu_line(each, as));
  if (gpus.empty())
    lines.push_back(
        no_gpu_line(failing ? "not known: the search for GPUs failed" : why_no_gpu(in, *picture)));
  return std::max(result, write_output(render(lines, as)));
}

}  // namespace hmn::cli
