// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/fit/answer.hpp"
#include "cli/fit/model_files.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
#include "cli/system/file.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;
using hypomnesis::part;
using hypomnesis::pool_kind;
using hypomnesis::vendor_id;

using namespace fit;

// Returns the devices of --device, without duplicates, in the order of the command line; empty: all
// devices.
Expected<std::vector<DeviceIndex>> find_requested_devices(const Session& session,
                                                          const FitOptions& options) {
  if (options.devices.empty() || is_over_all(options)) return std::vector<DeviceIndex>();
  const WaitingNotice notice;
  return find_devices(session, options.devices);
}

hypomnesis::snapshot_options make_snapshot_options(const std::vector<DeviceIndex>& indexes) {
  hypomnesis::snapshot_options options;
  options.collect = part::system | part::devices | part::pools;
  options.parts = true;
  if (indexes.size() != 1) return options;
  options.device_index = indexes.front();
  return options;
}

// Returns the memory of a device that a model may use, without the runtime's reserve.
std::optional<std::uint64_t> compute_usable_bytes(const Gpu& gpu) {
  const auto* const memory = find_largest_part(gpu);
  if (memory == nullptr || !memory->usable_bytes) return std::nullopt;
  return *memory->usable_bytes - std::min(*memory->usable_bytes, reserve_bytes);
}

// The library limits a pool in RAM to the usable RAM: any excess is memory set aside from RAM.
std::uint64_t compute_carveout(const DeviceAnswer& device, std::optional<std::uint64_t> ram) {
  if (!device.shares_ram || !device.usable || !ram) return 0;
  return *device.usable - std::min(*device.usable, *ram);
}

// Returns the RAM for the part of a model that is on no device. Memory of a GPU that is also a NUMA
// node is counted in the host's available memory, where a device's part of the model would use it.
std::optional<std::uint64_t> compute_host_only_ram(const std::vector<Gpu>& gpus,
                                                   const hypomnesis::system_memory& host) {
  if (!host.usable_bytes || !host.available_bytes) return host.usable_bytes;
  auto available = *host.available_bytes;
  for (const auto& gpu : gpus)
    if (gpu.device.numa_node && gpu.memory && !uses_host_memory(gpu))
      available -= std::min(available, gpu.memory->usable_bytes.value_or(0));
  return std::min(available, *host.usable_bytes);
}

DeviceAnswer make_device_answer(Gpu gpu, const hypomnesis::snapshot& snapshot,
                                const std::vector<hypomnesis::pool>& pools, const Demand& demand,
                                std::optional<std::uint64_t> ram) {
  DeviceAnswer answer;
  const auto device_pools = filter_by_device(pools, gpu.device.index);
  std::copy_if(device_pools.begin(), device_pools.end(), std::back_inserter(answer.pools),
               [](const auto& pool) { return pool.instance == 0; });
  answer.usable = compute_usable_bytes(gpu);
  answer.shares_ram = uses_host_memory(gpu);
  if (!answer.usable) answer.unknown_reason = explain_unusable_memory(gpu, snapshot);
  answer.placement = place_on_device(
      demand, {answer.usable, ram, answer.shares_ram, compute_carveout(answer, ram)});
  if (answer.usable && !ram && answer.placement.verdict == Verdict::unknown)
    answer.unknown_reason = "free RAM is not known";
  answer.gpu = std::move(gpu);
  return answer;
}

// Returns the requested devices, in that order.
std::vector<Gpu> select_gpus(const std::vector<Gpu>& gpus,
                             const std::vector<DeviceIndex>& indexes) {
  if (indexes.empty()) return gpus;
  std::vector<Gpu> selection;
  for (const auto index : indexes)
    if (const auto* gpu =
            find_by_index(gpus, index, [](const Gpu& candidate) { return candidate.device.index; }))
      selection.push_back(*gpu);
  return selection;
}

// Returns the reason to exclude a device from a plan for several; empty: it is included. CUDA gives
// a process at most one MIG instance. Devices in the host's RAM slow down those that have memory of
// their own, so that `--device all` excludes them.
std::string explain_exclusion(const DeviceAnswer& device, bool excludes_shared) {
  if (!device.usable) return device.unknown_reason;
  if (device.gpu.device.parent_index && device.gpu.device.vendor == vendor_id::nvidia)
    return "a process can use one part of a divided GPU";
  return device.shares_ram && excludes_shared ? "its memory is the host's RAM" : "";
}

void plan_combined(Answer& answer, bool uses_all_devices) {
  const auto has_own_memory = [](const DeviceAnswer& device) {
    return device.usable && !device.shares_ram;
  };
  const bool any_own_memory =
      std::any_of(answer.devices.begin(), answer.devices.end(), has_own_memory);
  CombinedAnswer combined;
  std::vector<Capacity> capacities;
  auto ram = answer.host_only_ram;
  std::uint64_t shared_bytes = 0;
  std::uint64_t carveout = 0;
  for (std::size_t i = 0; i < answer.devices.size(); ++i) {
    const auto& device = answer.devices[i];
    const auto reason = explain_exclusion(device, uses_all_devices && any_own_memory);
    if (!reason.empty()) {
      answer.demand.assumptions.push_back(
          fmt::format("{} is left out: {}", format_gpu_label(device.gpu), reason));
      continue;
    }
    combined.devices.push_back(i);
    capacities.push_back(
        {device.usable, {}, device.shares_ram, compute_carveout(device, answer.host_only_ram)});
    carveout += capacities.back().carveout;
    (device.shares_ram ? shared_bytes : combined.usable) += *device.usable;
    // The runtime's reserve on a device in RAM comes from RAM.
    if (device.shares_ram && ram) *ram -= std::min(*ram, reserve_bytes);
  }
  if (capacities.size() < 2) return;
  for (auto& capacity : capacities) capacity.ram = ram;
  combined.usable += ram ? std::min(shared_bytes, *ram + carveout) : shared_bytes;
  combined.placement = place_across_devices(answer.demand, capacities);
  answer.combined = std::move(combined);
}

void note_capacities(Answer& answer) {
  auto& assumptions = answer.demand.assumptions;
  if (answer.devices.empty()) return;
  assumptions.push_back(
      fmt::format("{} of each device are left to the runtime", format_bytes(reserve_bytes)));
  for (const auto& device : answer.devices)
    if (!device.gpu.parts.empty())
      assumptions.push_back(
          fmt::format("{}: its memory has {} parts, and the model is placed in one",
                      format_gpu_label(device.gpu), device.gpu.parts.size()));
  if (answer.combined)
    assumptions.push_back(
        "together: a runtime that spreads layers over these devices, with working memory in each");
  else if (answer.devices.size() > 1)
    assumptions.push_back("each device by itself; several together with --device all");
  for (const auto& device : answer.devices)
    if (device.placement.verdict == Verdict::partly && device.placement.layers != 0) {
      assumptions.push_back(
          "in part: the last layers with their cache on the GPU; all else in RAM, "
          "working memory in both");
      return;
    }
}

void print_notices(const Session& session, const hypomnesis::snapshot& snapshot,
                   const Demand& demand) {
  for (const auto& warning : demand.warnings) write_notice(warning);
  const bool none = snapshot.info().device_count == 0;
  const bool is_explained = none && !has_search_failed(snapshot);
  print_diagnostics(snapshot, is_explained);
  if (is_explained) write_notice("GPU: " + explain_no_gpu(session, snapshot));
}

// What is measured once, for all files of a folder.
struct Measurement {
  const hypomnesis::snapshot& snapshot;
  std::vector<DeviceIndex> indexes;  // of the requested devices; empty: all
  std::vector<Gpu> gpus;             // these devices
  std::optional<std::uint64_t> ram_usable;
  std::optional<std::uint64_t> host_only_ram;
};

Measurement make_measurement(const Session& session, const hypomnesis::snapshot& snapshot,
                             const std::vector<DeviceIndex>& indexes) {
  const auto gpus = list_gpus(session, snapshot);
  Measurement measurement{snapshot, indexes, select_gpus(gpus, indexes), {}, {}};
  if (const auto host = snapshot.system()) {
    measurement.ram_usable = host->usable_bytes;
    measurement.host_only_ram = compute_host_only_ram(gpus, *host);
  }
  return measurement;
}

// Selects the devices that the choices are for: those together, else the one where the model fits
// best, the largest of several.
void select_target(Answer& answer) {
  if (answer.combined) {
    answer.target = answer.combined->devices;
    return;
  }
  for (std::size_t i = 0; i < answer.devices.size(); ++i) {
    const auto& device = answer.devices[i];
    if (!device.usable) continue;
    if (!answer.target.empty()) {
      const auto& best = answer.devices[answer.target.front()];
      const auto verdict = device.placement.verdict;
      if (verdict > best.placement.verdict ||
          (verdict == best.placement.verdict && *device.usable <= *best.usable))
        continue;
    }
    answer.target = {i};
  }
}

void add_choices(Answer& answer, const FitOptions& options) {
  select_target(answer);
  Target target;
  target.ram = answer.ram_usable;
  auto ram = answer.host_only_ram;
  if (answer.target.size() > 1 && ram)
    for (const auto i : answer.target)
      if (answer.devices[i].shares_ram) *ram -= std::min(*ram, reserve_bytes);
  for (const auto i : answer.target) {
    const auto& device = answer.devices[i];
    target.devices.push_back(
        {device.usable, ram, device.shares_ram, compute_carveout(device, answer.host_only_ram)});
    target.device_totals.push_back(device.gpu.memory ? device.gpu.memory->total_bytes.value_or(0)
                                                     : 0);
  }
  answer.choices = list_choices(answer.model, answer.demand, options, target);
  if (choose_verdict(answer) != Verdict::fits)
    answer.fitting_bits = find_fitting_bits(answer.model, answer.demand, target);
}

Expected<Answer> make_answer(const std::string& path, const Measurement& measurement,
                             const FitOptions& options) {
  auto model = read_model(path);
  if (!model) return model.error();
  auto demand = estimate_demand(*model, options);
  if (!demand) return demand.error();
  Answer answer;
  answer.path = path;
  answer.model = *std::move(model);
  answer.demand = *std::move(demand);
  answer.ram_usable = measurement.ram_usable;
  answer.host_only_ram = measurement.host_only_ram;
  answer.ram_placement = place_in_ram(answer.demand, answer.ram_usable);
  const auto pools = measurement.snapshot.pools();
  for (const auto& gpu : measurement.gpus)
    answer.devices.push_back(
        make_device_answer(gpu, measurement.snapshot, pools, answer.demand, answer.host_only_ram));
  if (measurement.indexes.size() > 1 || is_over_all(options))
    plan_combined(answer, is_over_all(options));
  note_capacities(answer);
  add_choices(answer, options);
  return answer;
}

// Returns whether the first of two files of a model is the better one: of those that fit the
// largest, of the others the smallest.
bool is_better(const Answer& answer, const Answer& other) {
  const auto verdict = choose_verdict(answer);
  if (verdict != choose_verdict(other)) return verdict < choose_verdict(other);
  return verdict == Verdict::fits ? answer.demand.weights > other.demand.weights
                                  : answer.demand.weights < other.demand.weights;
}

// Returns the answer for the best of the files, with a row for each, the best first. A file that
// cannot be read is left out, with a notice, unless it is the only one.
Expected<Answer> choose_answer(const std::vector<std::string>& paths,
                               const Measurement& measurement, const FitOptions& options) {
  if (paths.size() == 1) return make_answer(paths.front(), measurement, options);
  std::vector<Answer> answers;
  std::optional<Failure> failure;
  for (const auto& path : paths) {
    auto answer = make_answer(path, measurement, options);
    if (answer) {
      answers.push_back(*std::move(answer));
    } else {
      failure = answer.error();
      write_notice(failure->message);
    }
  }
  if (answers.empty()) return *failure;
  std::stable_sort(answers.begin(), answers.end(), is_better);
  std::vector<FileAnswer> files;
  for (const auto& answer : answers)
    files.push_back({std::string(file_name(answer.path)), answer.demand.weights,
                     count_bits_per_weight(answer.model), choose_verdict(answer)});
  auto best = std::move(answers.front());
  best.files = std::move(files);
  return best;
}

Expected<ExitCode> run_fit(const Session& session, const Options& options, const Style& style) {
  const auto paths = find_model_files(options.fit.model);
  if (!paths) return paths.error();
  const auto indexes = find_requested_devices(session, options.fit);
  if (!indexes) return indexes.error();
  const auto snapshot = session.collect(make_snapshot_options(*indexes));
  const auto answer =
      choose_answer(*paths, make_measurement(session, snapshot, *indexes), options.fit);
  if (!answer) return answer.error();
  print_notices(session, snapshot, answer->demand);
  const auto status = write_output(options.json ? format_answer_json(*answer, options.fit)
                                                : format_answer_text(*answer, options.fit, style));
  return status == ExitCode::done ? choose_exit_code(choose_verdict(*answer)) : status;
}

constexpr Option fit_options[] = {
    {"MODEL", 0, "", "GGUF, safetensors, config.json, folder or name", Completion::file, "",
     Occurrence::required},
    {"--context", 0, "N", "Tokens of each sequence [the model's, at most 8K]", Completion::words,
     "4K 8K 32K 128K"},
    {"--batch", 0, "N", "Sequences [1; for GGUF 4 that share a context]"},
    {"--ubatch", 0, "N", "Tokens processed at once [512; without GGUF 2048]"},
    {"--kv-type", 0, "TYPE", "Type of the cached keys and values [f16]", Completion::words,
     "f32 f16 bf16 f8 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl"},
    {"--no-flash-attention", 0, "", "Count stored attention scores, as with -fa off"},
    device_option("Only these, as in 0,1; all: together", Occurrence::many, "all"),
    {"--why", 0, "", "Also list assumptions, all devices and files"},
    json_option("Print a JSON object"),
};

constexpr std::string_view fit_examples =
    "Examples:\n"
    "  hmn fit model.gguf --context 32K\n"
    "  hmn fit Llama-3-8B/ --batch 4 --kv-type q8_0 --device 0\n"
    "  hmn fit llama3:8b                    a model of Ollama's on this machine\n"
    "  hmn fit Llama-3-70B/ --device all    over all GPUs together\n"
    "  hmn fit config.json --json | jq .total_bytes\n"
    "\n"
    "Exit status: 0 done, it fits; 3 it fits in part, 4 it does not; 1 failed, 2\n"
    "wrong usage. See hmn-fit(1).";

constexpr std::uint64_t max_tokens = 1u << 30;
constexpr std::uint64_t max_sequences = 1u << 20;

template <class Number>
std::optional<Failure> read_tokens(const Arguments& arguments, const char* name, std::uint64_t max,
                                   Number& value) {
  const auto text = arguments.text(name);
  if (!text) return std::nullopt;
  const auto number = parse_token_count(*text);
  if (!number || *number < 1 || *number > max)
    return make_usage_error(
        fmt::format("{} \"{}\": expected a whole number from 1 to {}", name, *text, max));
  value = *number;
  return std::nullopt;
}

std::optional<Failure> read_fit(const Arguments& arguments, Options& options) {
  auto& fit = options.fit;
  std::optional<std::string> model;
  if (auto failure = read_text(arguments, "MODEL", "the path of a model's file or folder", model))
    return failure;
  fit.model = *model;
  for (const auto& value : arguments.all("--device"))
    for (const auto name : split_list(value)) fit.devices.emplace_back(name);
  if (fit.devices.size() > 1 &&
      std::find(fit.devices.begin(), fit.devices.end(), "all") != fit.devices.end())
    return make_usage_error("--device all: expected alone, or each device by name");
  if (auto failure = read_tokens(arguments, "--context", max_tokens, fit.context)) return failure;
  fit.flash_attention = !arguments.has("--no-flash-attention");
  fit.explains = arguments.has("--why");
  if (auto failure = read_tokens(arguments, "--batch", max_sequences, fit.batch)) return failure;
  if (auto failure = read_tokens(arguments, "--ubatch", max_tokens, fit.ubatch)) return failure;
  const auto type = arguments.text("--kv-type");
  if (!type) return std::nullopt;
  if (!find_kv_packing(*type))
    return make_usage_error(
        fmt::format("--kv-type \"{}\": expected one of {}", *type, list_kv_types()));
  fit.kv_type = *type;
  return std::nullopt;
}

}  // namespace

const Command fit_command = {
    .id = CommandId::fit,
    .name = "fit",
    .purpose = "Check whether a model fits in free memory",
    .options = fit_options,
    .examples = fit_examples,
    .read = read_fit,
    .run = run_fit,
};

}  // namespace hmn::cli
