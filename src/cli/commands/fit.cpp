// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/fit/answer.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/session.hpp"
#include "cli/measure/snapshot_records.hpp"
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
Expected<std::vector<DeviceIndex>> chosen(const Session& in, const FitOptions& asked) {
  if (asked.devices.empty() || is_over_all(asked)) return std::vector<DeviceIndex>();
  const WaitingNotice notice;
  return find_devices(in, asked.devices);
}

hypomnesis::snapshot_options wanted(const std::vector<DeviceIndex>& only) {
  hypomnesis::snapshot_options what;
  what.collect = part::system | part::devices | part::pools;
  what.parts = true;
  if (only.size() != 1) return what;
  what.device_index = only.front();
  return what;
}

// Returns what a model may use of a device: some is left to the runtime.
std::optional<std::uint64_t> usable_of(const Gpu& on) {
  const auto* const memory = largest_part(on);
  if (memory == nullptr || !memory->usable_bytes) return std::nullopt;
  return *memory->usable_bytes - std::min(*memory->usable_bytes, reserve_bytes);
}

// The library lets no pool in RAM have more than that: what one has beyond is not in RAM.
std::uint64_t beyond_ram(const DeviceAnswer& of, std::optional<std::uint64_t> ram) {
  if (!of.shares_ram || !of.usable || !ram) return 0;
  return *of.usable - std::min(*of.usable, *ram);
}

// Returns the RAM for what is not on a device. Memory of a GPU that is also a NUMA node of the host
// is in what the host has available, and a device's part of a model takes it from there.
std::optional<std::uint64_t> ram_beside(const std::vector<Gpu>& all,
                                        const hypomnesis::system_memory& host) {
  if (!host.usable_bytes || !host.available_bytes) return host.usable_bytes;
  auto beside = *host.available_bytes;
  for (const auto& each : all)
    if (each.device.numa_node && each.memory && !lies_in_ram(each))
      beside -= std::min(beside, each.memory->usable_bytes.value_or(0));
  return std::min(beside, *host.usable_bytes);
}

DeviceAnswer answer_of(Gpu on, const hypomnesis::snapshot& snapshot,
                       const std::vector<hypomnesis::pool>& pools, const Demand& needs,
                       std::optional<std::uint64_t> ram) {
  DeviceAnswer made;
  const auto own = part_of(pools, on.device.index);
  std::copy_if(own.begin(), own.end(), std::back_inserter(made.pools),
               [](const auto& pool) { return pool.instance == 0; });
  made.usable = usable_of(on);
  made.shares_ram = lies_in_ram(on);
  if (!made.usable) made.why_unknown = why_not_usable(on, snapshot);
  made.placed = place(needs, {made.usable, ram, made.shares_ram, beyond_ram(made, ram)});
  if (made.usable && !ram && made.placed.is == Verdict::unknown)
    made.why_unknown = "free RAM is not known";
  made.on = std::move(on);
  return made;
}

// Returns the requested devices, in that order.
std::vector<Gpu> picked(const std::vector<Gpu>& all, const std::vector<DeviceIndex>& only) {
  if (only.empty()) return all;
  std::vector<Gpu> found;
  for (const auto index : only)
    if (const auto* each =
            find_device_in(all, index, [](const Gpu& of) { return of.device.index; }))
      found.push_back(*each);
  return found;
}

// Returns why a device is excluded from a plan for several; empty if it is not. CUDA gives a
// process at most one MIG instance. Devices in the host's RAM slow down those that have memory of
// their own, so that `all` leaves them out.
std::string why_left_out(const DeviceAnswer& each, bool leaves_shared) {
  if (!each.usable) return each.why_unknown;
  if (each.on.device.parent_index && each.on.device.vendor == vendor_id::nvidia)
    return "a process can use one part of a divided GPU";
  return each.shares_ram && leaves_shared ? "its memory is the host's RAM" : "";
}

void plan_together(Answer& all, bool of_all) {
  const auto has_own = [](const DeviceAnswer& each) { return each.usable && !each.shares_ram; };
  const bool some_own = std::any_of(all.devices.begin(), all.devices.end(), has_own);
  TogetherAnswer made;
  std::vector<Capacity> capacities;
  auto ram = all.ram_beside;
  std::uint64_t shared = 0;
  std::uint64_t apart = 0;
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    const auto& each = all.devices[i];
    const auto why = why_left_out(each, of_all && some_own);
    if (!why.empty()) {
      all.needs.assumptions.push_back(fmt::format("{} is left out: {}", label_of(each.on), why));
      continue;
    }
    made.devices.push_back(i);
    capacities.push_back({each.usable, {}, each.shares_ram, beyond_ram(each, all.ram_beside)});
    apart += capacities.back().apart;
    (each.shares_ram ? shared : made.usable) += *each.usable;
    // What the runtime takes of a device in RAM is taken there.
    if (each.shares_ram && ram) *ram -= std::min(*ram, reserve_bytes);
  }
  if (capacities.size() < 2) return;
  for (auto& each : capacities) each.ram = ram;
  made.usable += ram ? std::min(shared, *ram + apart) : shared;
  made.placed = place_over(all.needs, capacities);
  all.together = std::move(made);
}

void note_capacities(Answer& all) {
  auto& reported = all.needs.assumptions;
  if (all.devices.empty()) return;
  reported.push_back(
      fmt::format("{} of each device are left to the runtime", format_bytes(reserve_bytes)));
  for (const auto& each : all.devices)
    if (!each.on.parts.empty())
      reported.push_back(fmt::format("{}: its memory has {} parts, and the model is placed in one",
                                     label_of(each.on), each.on.parts.size()));
  if (all.together)
    reported.push_back(
        "together: a runtime that spreads layers over these devices, with working memory in each");
  else if (all.devices.size() > 1)
    reported.push_back("each device by itself; several together with --device all");
  for (const auto& each : all.devices)
    if (each.placed.is == Verdict::partly && each.placed.layers != 0) {
      reported.push_back(
          "in part: the last layers with their cache on the GPU; all else in RAM, "
          "working memory in both");
      return;
    }
}

void print_notices(const Session& in, const hypomnesis::snapshot& snapshot, const Demand& needs) {
  for (const auto& each : needs.warnings) write_notice(each);
  const bool none = snapshot.info().device_count == 0;
  const bool reported = none && !search_failed(snapshot);
  print_diagnostics(snapshot, reported);
  if (reported) write_notice("GPU: " + why_no_gpu(in, snapshot));
}

Expected<ExitCode> run_fit(const Session& in, const Options& asked, const Style& as) {
  auto of = read_model(asked.fit.model);
  if (!of) return of.why();
  auto needs = demand_of(*of, asked.fit);
  if (!needs) return needs.why();
  const auto only = chosen(in, asked.fit);
  if (!only) return only.why();
  const auto snapshot = in.collect(wanted(*only));

  const auto host = snapshot.system();
  Answer all{
      *std::move(of), *std::move(needs), {}, {}, host ? host->usable_bytes : std::nullopt, {}, {}};
  all.in_ram = place_in_ram(all.needs, all.ram_usable);
  const auto gpus = gpus_of(in, snapshot);
  if (host) all.ram_beside = ram_beside(gpus, *host);
  const auto pools = snapshot.pools();
  for (const auto& each : picked(gpus, *only))
    all.devices.push_back(answer_of(each, snapshot, pools, all.needs, all.ram_beside));
  if (only->size() > 1 || is_over_all(asked.fit)) plan_together(all, is_over_all(asked.fit));
  note_capacities(all);
  print_notices(in, snapshot, all.needs);
  const auto written =
      write_output(asked.json ? answer_json(all, asked.fit) : answer_text(all, asked.fit, as));
  return written == ExitCode::done ? exit_code_of(verdict_of(all)) : written;
}

constexpr Option options_of_fit[] = {
    {"MODEL", 0, "", "GGUF, safetensors, index, config.json or folder", Completion::file, "",
     Uses::required},
    {"--context", 0, "N", "Tokens of each sequence [the model's, at most 8K]", Completion::words,
     "4K 8K 32K 128K"},
    {"--batch", 0, "N", "Sequences at once [1]"},
    {"--ubatch", 0, "N", "Tokens processed at once [512; without GGUF 2048]"},
    {"--kv-type", 0, "TYPE", "Type of the cached keys and values [f16]", Completion::words,
     "f32 f16 bf16 f8 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl"},
    device_option("Only these, as in 0,1; all: together", Uses::many, "all"),
    json_option("Print a JSON object"),
};

constexpr std::string_view examples_of_fit =
    "Examples:\n"
    "  hmn fit model.gguf --context 32K\n"
    "  hmn fit Llama-3-8B/ --batch 4 --kv-type q8_0 --device 0\n"
    "  hmn fit Llama-3-70B/ --device all    over all GPUs together\n"
    "  hmn fit config.json --json | jq .total_bytes\n"
    "\n"
    "Exit status: 0 done, it fits; 3 it fits in part, 4 it does not; 1 failed, 2\n"
    "wrong usage. See hmn-fit(1).";

constexpr std::uint64_t most_tokens = 1u << 30;
constexpr std::uint64_t most_sequences = 1u << 20;

template <class Number>
std::optional<Failure> read_tokens(const Arguments& from, const char* name, std::uint64_t most,
                                   Number& to) {
  const auto text = from.text(name);
  if (!text) return std::nullopt;
  const auto number = parse_token_count(*text);
  if (!number || *number < 1 || *number > most)
    return misused(
        fmt::format("{} \"{}\": expected a whole number from 1 to {}", name, *text, most));
  to = *number;
  return std::nullopt;
}

std::optional<Failure> read_fit(const Arguments& from, Options& to) {
  auto& fit = to.fit;
  std::optional<std::string> model;
  if (auto wrong = read_text(from, "MODEL", "the path of a model's file or folder", model))
    return wrong;
  fit.model = *model;
  for (const auto& each : from.all("--device"))
    for (const auto name : split_list(each)) fit.devices.emplace_back(name);
  if (fit.devices.size() > 1 &&
      std::find(fit.devices.begin(), fit.devices.end(), "all") != fit.devices.end())
    return misused("--device all: expected alone, or each device by name");
  if (auto wrong = read_tokens(from, "--context", most_tokens, fit.context)) return wrong;
  if (auto wrong = read_tokens(from, "--batch", most_sequences, fit.batch)) return wrong;
  if (auto wrong = read_tokens(from, "--ubatch", most_tokens, fit.ubatch)) return wrong;
  const auto type = from.text("--kv-type");
  if (!type) return std::nullopt;
  if (!kv_packing_of(*type))
    return misused(fmt::format("--kv-type \"{}\": expected one of {}", *type, kv_type_names()));
  fit.kv_type = *type;
  return std::nullopt;
}

}  // namespace

const CommandEntry fit_command = {
    .id = Command::fit,
    .name = "fit",
    .purpose = "Check whether a model fits in free memory",
    .takes = options_of_fit,
    .examples = examples_of_fit,
    .read = read_fit,
    .run = run_fit,
};

}  // namespace hmn::cli
