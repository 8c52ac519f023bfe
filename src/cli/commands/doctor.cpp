// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::backend_id;
using hypomnesis::run_state;

constexpr const char* variables[] = {
    "HMN_PROC",   "HMN_SYS",     "HMN_NVML",       "HMN_NVIDIA_SMI", "HMN_AMD_SMI", "HMN_ROCM_SMI",
    "HMN_MACMON", "HMN_PCI_IDS", "HMN_SIMULATION", "HMN_CGROUP",     "HMN_DEV"};

constexpr std::uint32_t numbers = 64;  // of backends: as many as a mask has bits

// Returns whether the source is in another section, with its adapters.
bool is_nvidias(backend_id source) {
  return source == backend_id::nvml || source == backend_id::nvidia_smi;
}

Finding inspect_source(std::string_view name, const hypomnesis::backend_info& of, Site at) {
  const auto state = is_needless(of) ? "not needed" : or_unknown(state_word(of.state));
  auto text = fmt::format("{}: {}", name, state);
  if (of.version) text += ", " + *of.version;
  switch (of.state) {
    case run_state::ready:
    case run_state::asleep:
      return fine(text);
    case run_state::absent:
    case run_state::off:
    case run_state::unknown:
      break;
    default:
      return trouble(of.message.empty() ? text : text + ": " + of.message, problem_of(of), at);
  }
  return note(of.message.empty() ? text : text + ", " + of.message);
}

// Returns a row for each measurement source of this build.
Section inspect_sources(const Session& in, Site at) {
  Section out{"Sources", {}};
  for (std::uint32_t number = 1; number < numbers; ++number) {
    const auto source = static_cast<backend_id>(number);
    if (is_nvidias(source) || source == backend_id::simulated || !hypomnesis::has_backend(source))
      continue;
    if (const auto info = in.backend(source))
      out.findings.push_back(inspect_source(hypomnesis::name(source), *info, at));
  }
  return out;
}

// A device may answer once and never again: one reading proves nothing.
constexpr std::size_t reading_count = 3;
constexpr std::chrono::milliseconds between_readings(100);

struct Evidence {
  std::vector<hypomnesis::snapshot> readings;
  NvidiaBackends nvidia;
  Section sources;
  bool simulated = false;
  Site at = Site::host;

  const hypomnesis::snapshot& last() const { return readings.back(); }
};

bool has_refused_processes(const hypomnesis::snapshot& seen) {
  const auto all = seen.diagnostics();
  return std::any_of(all.begin(), all.end(), [](const hypomnesis::diagnostic& each) {
    return each.status == hypomnesis::status_code::permission &&
           each.subject == hypomnesis::part::processes && !each.device_index && !each.pid;
  });
}

Expected<Evidence> gather(const Session& in, const std::optional<std::string>& device) {
  hypomnesis::snapshot_options all;
  all.collect = everything;
  const auto what = of_one_device(in, device, all);
  if (!what) return what.why();
  Evidence seen;
  for (std::size_t i = 0; i < reading_count; ++i) {
    if (i > 0) std::this_thread::sleep_for(between_readings);
    seen.readings.push_back(in.collect(*what));
  }
  seen.simulated = in.simulation().has_value();
  if (!seen.simulated) seen.at = own_site();
  seen.nvidia = {in.backend(backend_id::nvml), in.backend(backend_id::nvidia_smi)};
  seen.sources = inspect_sources(in, seen.at);
  return seen;
}

std::string own_version() {
  return fmt::format("{}.{}.{}", HMN_VERSION_MAJOR, HMN_VERSION_MINOR, HMN_VERSION_PATCH);
}

Section versions() {
  return {
      "Version",
      {fine(fmt::format("hmn {}, libhypomnesis {}", own_version(), hypomnesis::version_string()))}};
}

std::string as_json(const std::vector<Section>& report, bool simulated) {
  JsonObject out;
  out.add("hmn_version", own_version())
      .add("library_version", hypomnesis::version_string())
      .add("simulated", simulated)
      .add("sections", to_json(report));
  return out.text() + "\n";
}

// Lists the variables that are set, and of a simulated machine the one that names it.
std::optional<Section> environment(const Options& asked, bool simulated) {
  Section out{"Environment", {}};
  for (const char* name : variables) {
    const bool names_machine = name == std::string_view("HMN_SIMULATION");
    if (names_machine ? !asked.machine.empty() : simulated) continue;
    if (const auto value = environment_value(name))
      out.findings.push_back(note(fmt::format("{}={}", name, *value)));
  }
  return out.findings.empty() ? std::nullopt : std::optional(out);
}

Section simulation(const Options& asked) {
  const auto file = asked.machine.empty() ? std::string("HMN_SIMULATION") : asked.machine;
  return {"Simulation", {note("a machine described by " + file + ": nothing was measured")}};
}

bool is_good(run_state state) {
  return state == run_state::ready || state == run_state::asleep;
}

// Returns whether it is of a source whose section says if a GPU here needs it.
bool is_absence_of_nvidias(const hypomnesis::diagnostic& of) {
  return is_nvidias(of.backend) && of.status == hypomnesis::status_code::no_source &&
         !of.device_index;
}

// Returns whether it is broken, not only worth knowing, as what a PID namespace makes ambiguous, or
// one value that a working driver gets wrong.
bool is_broken(const hypomnesis::diagnostic& of) {
  using hypomnesis::reason_id;
  const bool is_of_one_value = of.field || of.metric;
  return is_fault(of) && !is_absence_of_nvidias(of) && of.reason != reason_id::ambiguous &&
         !(of.reason == reason_id::implausible && is_of_one_value);
}

// What the readings found of a device.
struct Examined {
  Gpu of;  // as it was listed: a lost device may lose its name
  run_state state{};
  std::size_t reading = 0;                      // the first with that state
  std::optional<hypomnesis::diagnostic> fault;  // the first that hides all values of a kind
};

bool hides_all(const hypomnesis::diagnostic& of) {
  return of.device_index && !of.pid && !of.field && !of.metric && is_broken(of);
}

// Keeps the first state that is not good.
std::map<std::uint32_t, Examined> examine_devices(const Session& in, const Evidence& seen) {
  std::map<std::uint32_t, Examined> all;
  for (std::size_t i = 0; i < seen.readings.size(); ++i) {
    for (auto& each : gpus_of(in, seen.readings[i])) {
      const auto state = each.device.state;
      const auto [at, is_new] = all.try_emplace(each.device.index);
      auto& to = at->second;
      if (is_new) to.of = std::move(each);
      if (!is_new && (state == to.state || !is_good(to.state))) continue;
      to.state = state;
      to.reading = i;
    }
    for (auto& each : seen.readings[i].diagnostics())
      if (hides_all(each))
        if (const auto of = all.find(*each.device_index); of != all.end() && !of->second.fault)
          of->second.fault = std::move(each);
  }
  for (const auto& each : in.listed().devices)
    if (const auto of = all.find(each.index); of != all.end() && !of->second.of.device.name)
      of->second.of.device = each;
  return all;
}

Problem problem_behind(const Examined& of) {
  if (of.fault) return problem_of(*of.fault);
  if (of.state == run_state::lost) return Problem::lost;
  return of.state == run_state::hung ? Problem::not_answered : Problem::failed;
}

Finding measured(const Examined& it, Site at) {
  const auto& device = it.of.device;
  const bool is_bad = !is_good(it.state);
  auto text =
      fmt::format("{}: {}", label_of(it.of), state_word(it.state).value_or("state unknown"));
  if (is_bad && it.reading > 0) text += fmt::format(" at reading {}", it.reading + 1);
  if (!is_bad && it.fault) text += ", but readings failed (see below)";
  if (const auto uuid = device.uuid) text += ", " + *uuid;
  if (const auto source = source_word(device.backend)) text += fmt::format(", by {}", *source);
  return is_bad || it.fault ? trouble(text, problem_behind(it), at) : fine(text);
}

Section devices(const Session& in, const Evidence& seen) {
  Section out{"GPUs", {}};
  for (const auto& [index, each] : examine_devices(in, seen))
    out.findings.push_back(measured(each, seen.at));
  if (out.findings.empty()) out.findings.push_back(note("no GPU is measured"));
  return out;
}

// Adds each text once, whichever readings had it.
void add_findings(Severity how, const Evidence& seen, Section& to) {
  std::set<std::string> known;
  for (const auto& reading : seen.readings)
    for (const auto& each : merge_processes(reading.diagnostics())) {
      if (is_trace(each) || is_broken(each) != (how == Severity::trouble)) continue;
      auto line = describe_with_fields(each);
      if (!known.insert(line).second) continue;
      to.findings.push_back(how == Severity::trouble
                                ? trouble(std::move(line), problem_of(each), seen.at)
                                : note(std::move(line)));
    }
}

Section readings(const Evidence& seen) {
  Section out{"Readings", {}};
  add_findings(Severity::trouble, seen, out);
  add_findings(Severity::note, seen, out);
  if (out.findings.empty()) out.findings.push_back(fine("all values were read"));
  return out;
}

void add(std::vector<Section> from, std::vector<Section>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

Expected<ExitCode> run_doctor(const Session& in, const Options& asked, const Style& as) {
  const auto gathered = gather(in, asked.device);
  if (!gathered) return gathered.why();
  const auto& seen = *gathered;
  std::vector<Section> report{versions()};
  if (auto set = environment(asked, seen.simulated)) report.push_back(*std::move(set));
  if (seen.simulated)
    report.push_back(simulation(asked));
  else
    add(inspect_machine({seen.nvidia, seen.last().devices(), seen.last().system(), seen.sources,
                         has_refused_processes(seen.last()), seen.at}),
        report);
  report.push_back(devices(in, seen));
  report.push_back(readings(seen));
  const auto result = is_broken(report) ? ExitCode::failed : ExitCode::done;
  return std::max(result,
                  write_output(asked.json ? as_json(report, seen.simulated) : render(report, as)));
}

constexpr Option options_of_doctor[] = {
    json_option("Print a JSON object"),
    device_option(),
};

constexpr std::string_view examples_of_doctor =
    "Examples:\n"
    "  hmn doctor\n"
    "  hmn doctor --json | jq '.sections[].findings[] | select(.result == \"fail\")'\n"
    "  hmn doctor --trace --timeout 5s      with each driver call\n"
    "\n"
    "Exit status: 0 done, nothing is broken; 1 something is, or failed; 2 wrong\n"
    "usage. See hmn-doctor(1).";

}  // namespace

const CommandEntry doctor_command = {
    .id = Command::doctor,
    .name = "doctor",
    .purpose = "Check GPUs and drivers, and suggest fixes",
    .takes = options_of_doctor,
    .examples = examples_of_doctor,
    .run = run_doctor,
};

}  // namespace hmn::cli
