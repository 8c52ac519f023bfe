// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/pace.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/child.hpp"
#include "cli/system/environment.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/json.hpp"
#include "cli/text/output.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;
using hypomnesis::part;
using hypomnesis::run_state;

using Clock = Ticks::Clock;

constexpr std::chrono::milliseconds default_deadline(1000);

// Memory to wait for: on `count` devices, `bytes` each.
struct MemoryRequest {
  std::uint64_t bytes = 0;  // of each
  std::size_t count = 1;
  std::vector<DeviceIndex> indexes;  // empty: all
  hypomnesis::snapshot_options snapshot_options;
};

Expected<MemoryRequest> make_request(const Session& session, const Options& options) {
  if (auto failure = check_for_gpus(session, "no GPU to wait for: ")) return *std::move(failure);
  MemoryRequest request;
  request.bytes = options.wait.bytes;
  for (const auto& name : options.wait.devices) {
    const auto index = find_device(session, name);
    if (!index) return index.error();
    if (const auto parts = format_partition_option(*index, session.device_list().devices);
        !parts.empty())
      return make_failure(
          fmt::format("--device \"{}\": it is divided: wait for a part of it ({})", name, parts));
    if (std::find(request.indexes.begin(), request.indexes.end(), *index) == request.indexes.end())
      request.indexes.push_back(*index);
  }
  request.count = options.wait.gpu_count.value_or(std::max<std::size_t>(request.indexes.size(), 1));
  request.snapshot_options.collect = part::devices | part::pools | part::system;
  request.snapshot_options.parts = true;
  request.snapshot_options.deadline = default_deadline;
  if (request.indexes.size() == 1) request.snapshot_options.device_index = request.indexes.front();
  return request;
}

// Returns the devices to choose from. Partitions are not combined unless they are requested by
// name.
std::vector<FreeMemory> select_candidates(const MemoryRequest& request,
                                          std::vector<FreeMemory> candidates) {
  if (request.indexes.empty()) {
    if (request.count > 1)
      std::erase_if(candidates, [](const auto& candidate) {
        return candidate.gpu.device.parent_index.has_value();
      });
    return candidates;
  }
  std::vector<FreeMemory> selection;
  for (const auto index : request.indexes)
    for (const auto& candidate : candidates)
      if (candidate.gpu.device.index == index) selection.push_back(candidate);
  return selection;
}

// Notices about devices with unknown free memory, one per device.
class UnknownMemoryNotices {
 public:
  void report_free(const std::vector<FreeMemory>& candidates) {
    for (const auto& candidate : candidates) {
      if (candidate.bytes || is_reported(candidate.gpu.device.index)) continue;
      reported_indexes_.push_back(candidate.gpu.device.index);
      write_notice(
          fmt::format("{} is left out: {}", format_gpu_label(candidate.gpu), candidate.reason));
    }
  }

 private:
  bool is_reported(std::uint32_t index) const {
    return std::find(reported_indexes_.begin(), reported_indexes_.end(), index) !=
           reported_indexes_.end();
  }
  std::vector<std::uint32_t> reported_indexes_;
};

// Maximum of free memory so far, for the message at the timeout.
class MaxFreeMemory {
 public:
  void add(const std::vector<FreeMemory>& candidates) {
    for (const auto& candidate : candidates)
      if (candidate.bytes && (!best_ || *candidate.bytes > *best_->bytes)) best_ = candidate;
  }
  Failure timeout_error(const MemoryRequest& request) const {
    if (!best_) return {ExitCode::timed_out, "timed out: no GPU reported its free memory"};
    const auto size = format_bytes(request.bytes);
    if (request.count > 1)
      return {ExitCode::timed_out,
              fmt::format("timed out: {} were never free on {} GPUs at once", size, request.count)};
    return {ExitCode::timed_out,
            fmt::format("timed out: {} were never free (at most {} were, on {})", size,
                        format_bytes(*best_->bytes), format_gpu_label(best_->gpu))};
  }

 private:
  std::optional<FreeMemory> best_;
};

Failure too_large_error(const std::vector<FreeMemory>& candidates, const MemoryRequest& request) {
  const auto bytes = request.bytes;
  if (request.count > 1)
    return make_failure(
        fmt::format("no {} GPUs of one vendor have {} each", request.count, format_bytes(bytes)));
  const auto largest = std::max_element(
      candidates.begin(), candidates.end(),
      [](const FreeMemory& a, const FreeMemory& b) { return *a.total < *b.total; });
  return make_failure(fmt::format("{} ({} bytes) will never be free: the largest is {} with {}",
                                  format_bytes(bytes), bytes, format_gpu_label(largest->gpu),
                                  format_bytes(*largest->total)));
}

std::optional<Failure> check_achievable(const std::vector<FreeMemory>& candidates,
                                        const MemoryRequest& request,
                                        std::optional<std::uint64_t> ram, bool is_first) {
  // If several are requested, one may be missing for a while.
  const bool is_final = request.count == 1 ? !candidates.empty() : is_first;
  if (is_final && can_never_fit(candidates, request.bytes, request.count, ram))
    return too_large_error(candidates, request);
  const bool none_known =
      std::all_of(candidates.begin(), candidates.end(), [](const FreeMemory& candidate) {
        return !candidate.bytes && !candidate.total &&
               candidate.gpu.device.state != run_state::hung;
      });
  if (is_first && none_known) return make_failure("no GPU reports its free memory");
  return std::nullopt;
}

std::chrono::milliseconds compute_time_left(const WaitOptions& options, Clock::time_point start) {
  using std::chrono::milliseconds;
  if (!options.timeout_ms) return milliseconds::max();
  const auto elapsed = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  return std::max(milliseconds(*options.timeout_ms) - elapsed, milliseconds(1));
}

Expected<std::vector<FreeMemory>> wait_for_memory(const Session& session,
                                                  const MemoryRequest& request,
                                                  const WaitOptions& options,
                                                  Clock::time_point start) {
  auto snapshot_options = request.snapshot_options;
  const Ticks schedule(start, std::chrono::milliseconds(options.interval_ms));
  UnknownMemoryNotices notices;
  MaxFreeMemory max_free;
  for (bool is_first = true;; is_first = false) {
    snapshot_options.deadline = std::min(default_deadline, compute_time_left(options, start));
    const auto snapshot = session.library().take(snapshot_options);
    const auto candidates = select_candidates(request, list_free_memory(session, snapshot));
    notices.report_free(candidates);
    max_free.add(candidates);
    const auto host = snapshot.system().value_or(hypomnesis::system_memory());
    auto best = find_largest_free(candidates, request.bytes, request.count, host.usable_bytes);
    if (!best.empty()) return best;
    if (auto failure = check_achievable(candidates, request, host.total_bytes, is_first))
      return *std::move(failure);
    const auto now = Clock::now();
    const auto elapsed_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - start).count();
    if (options.timeout_ms && static_cast<std::uint64_t>(elapsed_ms) >= *options.timeout_ms)
      return max_free.timeout_error(request);
    auto next_check = schedule.after(now);
    if (options.timeout_ms &&
        *options.timeout_ms - static_cast<std::uint64_t>(elapsed_ms) < options.interval_ms)
      next_check = std::min(next_check, start + std::chrono::milliseconds(*options.timeout_ms));
    std::this_thread::sleep_until(next_check);
  }
}

std::string format_json(const FreeMemory& free_memory, std::chrono::nanoseconds wait_time) {
  const auto& device = free_memory.gpu.device;
  JsonObject object;
  object.add("index", device.index)
      .add("name", device.name)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("free_bytes", *free_memory.bytes)
      .add("total_bytes", free_memory.total)
      .add("estimated", free_memory.is_estimated)
      .add("state", or_unknown(state_word(device.state)))
      .add("waited_ns", static_cast<std::uint64_t>(wait_time.count()));
  return object.text() + "\n";
}

std::string format_text(const FreeMemory& free_memory) {
  const auto& device = free_memory.gpu.device;
  const auto& name = device.uuid ? device.uuid : device.pci_bus_id;
  return fmt::format("{} {}\n", device.index, escape_for_text(name.value_or("-")));
}

// Replaces hmn with the command. hmn writes nothing to the command's standard output.
ExitCode exec_on_devices(const Session& session, const std::vector<FreeMemory>& selection,
                         const Options& options, const std::string& json) {
  hypomnesis::snapshot_options request;
  request.collect = part::devices;
  std::vector<hypomnesis::device> devices;
  for (const auto& free_memory : selection) devices.push_back(free_memory.gpu.device);
  const auto all_devices = attempt([&] { return session.library().take(request).devices(); });
  auto visibility = make_visibility(devices, all_devices ? *all_devices : devices);
  if (!visibility) {
    write_notice(visibility.error().message);
    return ExitCode::wrapper_failed;
  }
  if (options.json)
    write_report(json);
  else
    for (const auto& free_memory : selection)
      write_notice(fmt::format("{}: {} free", format_gpu_label(free_memory.gpu),
                               format_bytes(*free_memory.bytes)));
  if (visibility->set.empty())
    write_notice("its vendor has no variable that hmn knows: the command sees all GPUs");
  for (const char* name : visibility->unset) unset_environment(name);
  for (const auto& variable : visibility->set) set_environment(variable.name, variable.value);
  const auto result = Child::exec_command(options.words);
  if (result) return *result;
  write_notice(result.error().message);
  return result.error().code;
}

Expected<ExitCode> run_wait(const Session& session, const Options& options, const Style&) {
  const auto start = Clock::now();
  const auto request = make_request(session, options);
  const bool has_limit = options.wait.timeout_ms && *options.wait.timeout_ms <= options.timeout_ms;
  if (!request && has_limit && session.is_over())
    return Failure{ExitCode::timed_out, "timed out: the search for GPUs has not ended"};
  if (!request) return request.error();
  const auto selection = wait_for_memory(session, *request, options.wait, start);
  if (!selection) return selection.error();
  std::string lines;
  std::string json;
  for (const auto& free_memory : *selection) {
    lines += format_text(free_memory);
    json += format_json(free_memory, Clock::now() - start);
  }
  if (!options.words.empty()) return exec_on_devices(session, *selection, options, json);
  for (const auto& free_memory : *selection)
    if (free_memory.is_estimated)
      write_notice(
          fmt::format("{} sleeps: nothing runs there, so that all of it is taken to be free",
                      format_gpu_label(free_memory.gpu)));
  return write_output(options.json ? json : lines);
}

constexpr Option wait_options[] = {
    {"--free", 0, "SIZE", "Free memory to wait for: 20GiB, 512MiB", Completion::words,
     "1GiB 8GiB 20GiB 40GiB", Occurrence::required},
    interval_option("Time between checks [5s]", "1s 5s 1m"),
    {"--timeout", 0, "DURATION", "Give up after this time: 30 (seconds), 5m, 1h", Completion::words,
     "30s 5m 1h"},
    {"--any", 0, "", "Any device with that much free (the default)"},
    {"--gpus", 0, "N", "N devices with that much free each"},
    device_option("These, as in 0,1: index, UUID or PCI address", Occurrence::many),
    json_option("Print a JSON object for each device"),
    command_argument(Occurrence::last),
};

constexpr std::string_view wait_examples =
    "Examples:\n"
    "  hmn wait --free 12GiB\n"
    "  hmn wait --free 8GiB --timeout 1h env\n"
    "  hmn wait --free 40GiB --gpus 2 ./train\n"
    "  hmn wait --free 512MiB --device 0 --json\n"
    "\n"
    "The command starts at the first word that is not an option, or after --.\n"
    "\n"
    "Exit status: 0 done (with a command: the command's own), 1 failed, no GPU, no\n"
    "such device or none that large, 2 wrong usage, 124 timed out, 125 the command's\n"
    "runtime cannot select the devices, 126 command cannot be run, 127 command not\n"
    "found. See hmn-wait(1).";

std::optional<Failure> read_wait(const Arguments& arguments, Options& options) {
  auto& wait = options.wait;
  const auto size = arguments.text("--free");
  if (!size) return make_usage_error("--free: expected the memory to wait for, as in --free 20GiB");
  const auto bytes = parse_size_argument(*size);
  if (!bytes) return make_usage_error("--free " + bytes.error().message);
  wait.bytes = *bytes;
  if (auto failure = check_exclusive(arguments, "--any", "--device")) return failure;
  if (auto failure = check_exclusive(arguments, "--any", "--gpus")) return failure;
  if (auto failure = read_count(arguments, "--gpus", wait.gpu_count)) return failure;
  auto devices = parse_device_list(arguments.all("--device"));
  if (!devices) return devices.error();
  wait.devices = *std::move(devices);
  if (auto failure = read_interval(arguments, wait.interval_ms)) return failure;
  if (auto failure = read_duration(arguments, "--timeout", wait.timeout_ms)) return failure;
  if (!wait.timeout_ms) return std::nullopt;
  wait.timeout_ms = std::min(*wait.timeout_ms, max_time_ms);
  options.timeout_ms =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(options.timeout_ms, *wait.timeout_ms));
  return std::nullopt;
}

}  // namespace

const Command wait_command = {
    .id = CommandId::wait,
    .name = "wait",
    .purpose = "Wait for free GPU memory, then run a command",
    .options = wait_options,
    .examples = wait_examples,
    .read = read_wait,
    .run = run_wait,
};

}  // namespace hmn::cli
