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

constexpr std::chrono::milliseconds usual_deadline(1000);

// What is waited for: so many devices with the memory.
struct Wish {
  std::uint64_t bytes = 0;  // of each
  std::size_t count = 1;
  std::vector<DeviceIndex> among;  // empty: all
  hypomnesis::snapshot_options what;
};

Expected<Wish> wanted(const Session& in, const Options& asked) {
  if (auto none = check_for_gpus(in, "no GPU to wait for: ")) return *std::move(none);
  Wish out;
  out.bytes = asked.wait.bytes;
  for (const auto& each : asked.wait.devices) {
    const auto found = find_device(in, each);
    if (!found) return found.why();
    if (const auto parts = parts_of(*found, in.listed().devices); !parts.empty())
      return failed(
          fmt::format("--device \"{}\": it is divided: wait for a part of it ({})", each, parts));
    if (std::find(out.among.begin(), out.among.end(), *found) == out.among.end())
      out.among.push_back(*found);
  }
  out.count = asked.wait.gpus.value_or(std::max<std::size_t>(out.among.size(), 1));
  out.what.collect = part::devices | part::pools | part::system;
  out.what.parts = true;
  out.what.deadline = usual_deadline;
  if (out.among.size() == 1) out.what.device_index = out.among.front();
  return out;
}

// Returns the devices to choose from. Partitions are not put together, unless they are named.
std::vector<FreeMemory> candidates_of(const Wish& of, std::vector<FreeMemory> all) {
  if (of.among.empty()) {
    if (of.count > 1)
      std::erase_if(all, [](const auto& each) { return each.of.device.parent_index.has_value(); });
    return all;
  }
  std::vector<FreeMemory> named;
  for (const auto index : of.among)
    for (const auto& each : all)
      if (each.of.device.index == index) named.push_back(each);
  return named;
}

// Diagnostics of devices with unknown free memory, one for each.
class Notices {
 public:
  void report_free(const std::vector<FreeMemory>& all) {
    for (const auto& each : all) {
      if (each.bytes || is_reported(each.of.device.index)) continue;
      reported_.push_back(each.of.device.index);
      write_notice(fmt::format("{} is left out: {}", label_of(each.of), each.why));
    }
  }

 private:
  bool is_reported(std::uint32_t index) const {
    return std::find(reported_.begin(), reported_.end(), index) != reported_.end();
  }
  std::vector<std::uint32_t> reported_;
};

// Maximum of free memory so far, for the message at the timeout.
class MostSeen {
 public:
  void add(const std::vector<FreeMemory>& all) {
    for (const auto& each : all)
      if (each.bytes && (!best_ || *each.bytes > *best_->bytes)) best_ = each;
  }
  Failure timed_out(const Wish& of) const {
    if (!best_) return {ExitCode::timed_out, "timed out: no GPU reported its free memory"};
    const auto wanted = format_bytes(of.bytes);
    if (of.count > 1)
      return {ExitCode::timed_out,
              fmt::format("timed out: {} were never free on {} GPUs at once", wanted, of.count)};
    return {ExitCode::timed_out,
            fmt::format("timed out: {} were never free (at most {} were, on {})", wanted,
                        format_bytes(*best_->bytes), label_of(best_->of))};
  }

 private:
  std::optional<FreeMemory> best_;
};

Failure too_much(const std::vector<FreeMemory>& all, const Wish& of) {
  const auto bytes = of.bytes;
  if (of.count > 1)
    return failed(
        fmt::format("no {} GPUs of one vendor have {} each", of.count, format_bytes(bytes)));
  const auto largest = std::max_element(
      all.begin(), all.end(),
      [](const FreeMemory& a, const FreeMemory& b) { return *a.total < *b.total; });
  return failed(fmt::format("{} ({} bytes) will never be free: the largest is {} with {}",
                            format_bytes(bytes), bytes, label_of(largest->of),
                            format_bytes(*largest->total)));
}

std::optional<Failure> hopeless(const std::vector<FreeMemory>& all, const Wish& of,
                                std::optional<std::uint64_t> ram, bool is_first) {
  // Of several one may be missing for a while.
  const bool is_final = of.count == 1 ? !all.empty() : is_first;
  if (is_final && is_impossible(all, of.bytes, of.count, ram)) return too_much(all, of);
  const bool none_known = std::all_of(all.begin(), all.end(), [](const FreeMemory& each) {
    return !each.bytes && !each.total && each.of.device.state != run_state::hung;
  });
  if (is_first && none_known) return failed("no GPU reports its free memory");
  return std::nullopt;
}

std::chrono::milliseconds time_left(const WaitOptions& asked, Clock::time_point begun) {
  using std::chrono::milliseconds;
  if (!asked.timeout_ms) return milliseconds::max();
  const auto spent = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
  return std::max(milliseconds(*asked.timeout_ms) - spent, milliseconds(1));
}

Expected<std::vector<FreeMemory>> wait_for_memory(const Session& in, const Wish& wanted,
                                                  const WaitOptions& asked,
                                                  Clock::time_point begun) {
  auto what = wanted.what;
  const Ticks times(begun, std::chrono::milliseconds(asked.interval_ms));
  Notices shown;
  MostSeen most;
  for (bool is_first = true;; is_first = false) {
    what.deadline = std::min(usual_deadline, time_left(asked, begun));
    const auto snapshot = in.library().take(what);
    const auto all_free = candidates_of(wanted, free_memory_of_all(in, snapshot));
    shown.report_free(all_free);
    most.add(all_free);
    const auto host = snapshot.system().value_or(hypomnesis::system_memory());
    auto best = largest_free(all_free, wanted.bytes, wanted.count, host.usable_bytes);
    if (!best.empty()) return best;
    if (auto why = hopeless(all_free, wanted, host.total_bytes, is_first)) return *std::move(why);
    const auto now = Clock::now();
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun).count();
    if (asked.timeout_ms && static_cast<std::uint64_t>(spent) >= *asked.timeout_ms)
      return most.timed_out(wanted);
    auto until = times.after(now);
    if (asked.timeout_ms &&
        *asked.timeout_ms - static_cast<std::uint64_t>(spent) < asked.interval_ms)
      until = std::min(until, begun + std::chrono::milliseconds(*asked.timeout_ms));
    std::this_thread::sleep_until(until);
  }
}

std::string as_json(const FreeMemory& on, std::chrono::nanoseconds waited) {
  const auto& device = on.of.device;
  JsonObject out;
  out.add("index", device.index)
      .add("name", device.name)
      .add("uuid", device.uuid)
      .add("pci_bus_id", device.pci_bus_id)
      .add("free_bytes", *on.bytes)
      .add("total_bytes", on.total)
      .add("estimated", on.is_estimated)
      .add("state", or_unknown(state_word(device.state)))
      .add("waited_ns", static_cast<std::uint64_t>(waited.count()));
  return out.text() + "\n";
}

std::string as_text(const FreeMemory& on) {
  const auto& device = on.of.device;
  const auto& name = device.uuid ? device.uuid : device.pci_bus_id;
  return fmt::format("{} {}\n", device.index, escape_for_text(name.value_or("-")));
}

// Replaces hmn by the command, whose standard output gets nothing from hmn.
ExitCode become(const Session& in, const std::vector<FreeMemory>& on, const Options& asked,
                const std::string& json) {
  hypomnesis::snapshot_options what;
  what.collect = part::devices;
  std::vector<hypomnesis::device> chosen;
  for (const auto& each : on) chosen.push_back(each.of.device);
  const auto all = attempt([&] { return in.library().take(what).devices(); });
  auto seen = make_visible(chosen, all ? *all : chosen);
  if (!seen) {
    write_notice(seen.why().message);
    return ExitCode::wrapper_failed;
  }
  if (asked.json)
    write_report(json);
  else
    for (const auto& each : on)
      write_notice(fmt::format("{}: {} free", label_of(each.of), format_bytes(*each.bytes)));
  if (seen->set.empty())
    write_notice("its vendor has no variable that hmn knows: the command sees all GPUs");
  for (const char* name : seen->unset) unset_environment(name);
  for (const auto& each : seen->set) set_environment(each.name, each.value);
  const auto ended = Child::run_in_our_place(asked.words);
  if (ended) return *ended;
  write_notice(ended.why().message);
  return ended.why().code;
}

Expected<ExitCode> run_wait(const Session& in, const Options& asked, const Style&) {
  const auto begun = Clock::now();
  const auto what = wanted(in, asked);
  const bool has_limit = asked.wait.timeout_ms && *asked.wait.timeout_ms <= asked.timeout_ms;
  if (!what && has_limit && in.is_over())
    return Failure{ExitCode::timed_out, "timed out: the search for GPUs has not ended"};
  if (!what) return what.why();
  const auto given = wait_for_memory(in, *what, asked.wait, begun);
  if (!given) return given.why();
  std::string lines;
  std::string json;
  for (const auto& each : *given) {
    lines += as_text(each);
    json += as_json(each, Clock::now() - begun);
  }
  if (!asked.words.empty()) return become(in, *given, asked, json);
  for (const auto& each : *given)
    if (each.is_estimated)
      write_notice(
          fmt::format("{} sleeps: nothing runs there, so that all of it is taken to be free",
                      label_of(each.of)));
  return write_output(asked.json ? json : lines);
}

constexpr Option options_of_wait[] = {
    {"--free", 0, "SIZE", "Free memory to wait for: 20GiB, 512MiB", Completion::words,
     "1GiB 8GiB 20GiB 40GiB", Uses::required},
    interval_option("Time between checks [5s]", "1s 5s 1m"),
    {"--timeout", 0, "DURATION", "Give up after this time: 30 (seconds), 5m, 1h", Completion::words,
     "30s 5m 1h"},
    {"--any", 0, "", "Any device with that much free (the default)"},
    {"--gpus", 0, "N", "N devices with that much free each"},
    device_option("These, as in 0,1: index, UUID or PCI address", Uses::many),
    json_option("Print a JSON object for each device"),
    command_argument(Uses::last),
};

constexpr std::string_view examples_of_wait =
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

std::optional<Failure> read_wait(const Arguments& from, Options& to) {
  auto& wait = to.wait;
  const auto free = from.text("--free");
  if (!free) return misused("--free: expected the memory to wait for, as in --free 20GiB");
  const auto bytes = parse_size_argument(*free);
  if (!bytes) return misused("--free " + bytes.why().message);
  wait.bytes = *bytes;
  if (auto twice = only_one_of(from, "--any", "--device")) return twice;
  if (auto twice = only_one_of(from, "--any", "--gpus")) return twice;
  if (auto wrong = read_count(from, "--gpus", wait.gpus)) return wrong;
  auto devices = parse_device_list(from.all("--device"));
  if (!devices) return devices.why();
  wait.devices = *std::move(devices);
  if (auto wrong = read_interval(from, wait.interval_ms)) return wrong;
  if (auto wrong = read_time(from, "--timeout", wait.timeout_ms)) return wrong;
  if (!wait.timeout_ms) return std::nullopt;
  wait.timeout_ms = std::min(*wait.timeout_ms, longest_time_ms);
  to.timeout_ms =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(to.timeout_ms, *wait.timeout_ms));
  return std::nullopt;
}

}  // namespace

const CommandEntry wait_command = {
    .id = Command::wait,
    .name = "wait",
    .purpose = "Wait for free GPU memory, then run a command",
    .takes = options_of_wait,
    .examples = examples_of_wait,
    .read = read_wait,
    .run = run_wait,
};

}  // namespace hmn::cli
