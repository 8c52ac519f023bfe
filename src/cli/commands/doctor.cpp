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

constexpr std::uint32_t backend_limit = 64;  // backend ids are bits of a 64-bit mask

// Returns whether the source is listed in another section, with NVIDIA's adapters.
bool is_nvidia_source(backend_id source) {
  return source == backend_id::nvml || source == backend_id::nvidia_smi;
}

Finding inspect_source(std::string_view name, const hypomnesis::backend_info& backend, Site site) {
  const auto state = is_unneeded(backend) ? "not needed" : or_unknown(state_word(backend.state));
  auto text = fmt::format("{}: {}", name, state);
  if (backend.version) text += ", " + *backend.version;
  switch (backend.state) {
    case run_state::ready:
    case run_state::asleep:
      return make_fine(text);
    case run_state::absent:
    case run_state::off:
    case run_state::unknown:
      break;
    default:
      return make_trouble(backend.message.empty() ? text : text + ": " + backend.message,
                     find_problem(backend), site);
  }
  return make_note(backend.message.empty() ? text : text + ", " + backend.message);
}

// Returns a row for each measurement source of this build.
Section inspect_sources(const Session& session, Site site) {
  Section section{"Sources", {}};
  for (std::uint32_t number = 1; number < backend_limit; ++number) {
    const auto source = static_cast<backend_id>(number);
    if (is_nvidia_source(source) || source == backend_id::simulated ||
        !hypomnesis::has_backend(source))
      continue;
    if (const auto info = session.backend(source))
      section.findings.push_back(inspect_source(hypomnesis::name(source), *info, site));
  }
  return section;
}

// A device may answer once and then never again, so one reading proves nothing.
constexpr std::size_t reading_count = 3;
constexpr std::chrono::milliseconds reading_interval(100);

struct Evidence {
  std::vector<hypomnesis::snapshot> readings;
  NvidiaBackends nvidia;
  Section sources;
  bool is_simulated = false;
  Site site = Site::host;

  const hypomnesis::snapshot& last() const { return readings.back(); }
};

bool has_refused_processes(const hypomnesis::snapshot& snapshot) {
  const auto diagnostics = snapshot.diagnostics();
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const hypomnesis::diagnostic& diagnostic) {
                       return diagnostic.status == hypomnesis::status_code::permission &&
                              diagnostic.subject == hypomnesis::part::processes &&
                              !diagnostic.device_index && !diagnostic.pid;
                     });
}

Expected<Evidence> gather_evidence(const Session& session,
                                   const std::optional<std::string>& device) {
  hypomnesis::snapshot_options request;
  request.collect = everything;
  const auto options = limit_to_device(session, device, request);
  if (!options) return options.error();
  Evidence evidence;
  for (std::size_t i = 0; i < reading_count; ++i) {
    if (i > 0) std::this_thread::sleep_for(reading_interval);
    evidence.readings.push_back(session.collect(*options));
  }
  evidence.is_simulated = session.simulation().has_value();
  if (!evidence.is_simulated) evidence.site = detect_site();
  evidence.nvidia = {session.backend(backend_id::nvml), session.backend(backend_id::nvidia_smi)};
  evidence.sources = inspect_sources(session, evidence.site);
  return evidence;
}

std::string own_version() {
  return fmt::format("{}.{}.{}", HMN_VERSION_MAJOR, HMN_VERSION_MINOR, HMN_VERSION_PATCH);
}

Section make_version_section() {
  return {
      "Version",
      {make_fine(fmt::format("hmn {}, libhypomnesis {}", own_version(), hypomnesis::version_string()))}};
}

std::string format_json(const std::vector<Section>& report, bool is_simulated) {
  JsonObject object;
  object.add("hmn_version", own_version())
      .add("library_version", hypomnesis::version_string())
      .add("simulated", is_simulated)
      .add("sections", to_json(report));
  return object.text() + "\n";
}

// Lists the variables that are set; for a simulated machine only the one that names it.
std::optional<Section> inspect_environment(const Options& options, bool is_simulated) {
  Section section{"Environment", {}};
  for (const char* name : variables) {
    const bool names_machine = name == std::string_view("HMN_SIMULATION");
    if (names_machine ? !options.machine.empty() : is_simulated) continue;
    if (const auto value = get_environment(name))
      section.findings.push_back(make_note(fmt::format("{}={}", name, *value)));
  }
  return section.findings.empty() ? std::nullopt : std::optional(section);
}

Section make_simulation_section(const Options& options) {
  const auto file = options.machine.empty() ? std::string("HMN_SIMULATION") : options.machine;
  return {"Simulation", {make_note("a machine described by " + file + ": nothing was measured")}};
}

bool is_working(run_state state) {
  return state == run_state::ready || state == run_state::asleep;
}

// Returns whether an NVIDIA source is absent; its own section reports whether a GPU here needs it.
bool is_nvidia_source_absent(const hypomnesis::diagnostic& diagnostic) {
  return is_nvidia_source(diagnostic.backend) &&
         diagnostic.status == hypomnesis::status_code::no_source && !diagnostic.device_index;
}

// Returns whether something is broken. Ambiguity from a PID namespace, or one implausible value of
// a working driver, is only a note.
bool is_broken(const hypomnesis::diagnostic& diagnostic) {
  using hypomnesis::reason_id;
  const bool is_single_value = diagnostic.field || diagnostic.metric;
  return is_fault(diagnostic) && !is_nvidia_source_absent(diagnostic) &&
         diagnostic.reason != reason_id::ambiguous &&
         !(diagnostic.reason == reason_id::implausible && is_single_value);
}

// Result of the readings for one device.
struct DeviceCheck {
  Gpu gpu;  // as it was listed: a lost device may lose its name
  run_state state{};
  std::size_t reading = 0;                      // index of the first with that state
  std::optional<hypomnesis::diagnostic> fault;  // the first that hides all values of a kind
};

bool hides_all_values(const hypomnesis::diagnostic& diagnostic) {
  return diagnostic.device_index && !diagnostic.pid && !diagnostic.field && !diagnostic.metric &&
         is_broken(diagnostic);
}

// Keeps the first state in which the device does not work.
std::map<std::uint32_t, DeviceCheck> check_devices(const Session& session,
                                                   const Evidence& evidence) {
  std::map<std::uint32_t, DeviceCheck> checks;
  for (std::size_t i = 0; i < evidence.readings.size(); ++i) {
    for (auto& gpu : list_gpus(session, evidence.readings[i])) {
      const auto state = gpu.device.state;
      const auto [it, is_new] = checks.try_emplace(gpu.device.index);
      auto& check = it->second;
      if (is_new) check.gpu = std::move(gpu);
      if (!is_new && (state == check.state || !is_working(check.state))) continue;
      check.state = state;
      check.reading = i;
    }
    for (auto& diagnostic : evidence.readings[i].diagnostics())
      if (hides_all_values(diagnostic))
        if (const auto it = checks.find(*diagnostic.device_index);
            it != checks.end() && !it->second.fault)
          it->second.fault = std::move(diagnostic);
  }
  for (const auto& device : session.device_list().devices)
    if (const auto it = checks.find(device.index);
        it != checks.end() && !it->second.gpu.device.name)
      it->second.gpu.device = device;
  return checks;
}

Problem find_device_problem(const DeviceCheck& check) {
  if (check.fault) return find_problem(*check.fault);
  if (check.state == run_state::lost) return Problem::lost;
  return check.state == run_state::hung ? Problem::not_answered : Problem::failed;
}

Finding make_device_finding(const DeviceCheck& check, Site site) {
  const auto& device = check.gpu.device;
  const bool is_bad = !is_working(check.state);
  auto text = fmt::format("{}: {}", format_gpu_label(check.gpu),
                          state_word(check.state).value_or("state unknown"));
  if (is_bad && check.reading > 0) text += fmt::format(" at reading {}", check.reading + 1);
  if (!is_bad && check.fault) text += ", but readings failed (see below)";
  if (const auto uuid = device.uuid) text += ", " + *uuid;
  if (const auto source = source_word(device.backend)) text += fmt::format(", by {}", *source);
  return is_bad || check.fault ? make_trouble(text, find_device_problem(check), site) : make_fine(text);
}

Section inspect_devices(const Session& session, const Evidence& evidence) {
  Section section{"GPUs", {}};
  for (const auto& [index, check] : check_devices(session, evidence))
    section.findings.push_back(make_device_finding(check, evidence.site));
  if (section.findings.empty()) section.findings.push_back(make_note("no GPU is measured"));
  return section;
}

// Adds each text once, however many readings have it.
void add_findings(Severity severity, const Evidence& evidence, Section& section) {
  std::set<std::string> unique_lines;
  for (const auto& reading : evidence.readings)
    for (const auto& diagnostic : merge_process_diagnostics(reading.diagnostics())) {
      if (is_trace(diagnostic) || is_broken(diagnostic) != (severity == Severity::trouble))
        continue;
      auto line = describe_with_fields(diagnostic);
      if (!unique_lines.insert(line).second) continue;
      section.findings.push_back(
          severity == Severity::trouble
              ? make_trouble(std::move(line), find_problem(diagnostic), evidence.site)
              : make_note(std::move(line)));
    }
}

Section inspect_readings(const Evidence& evidence) {
  Section section{"Readings", {}};
  add_findings(Severity::trouble, evidence, section);
  add_findings(Severity::note, evidence, section);
  if (section.findings.empty()) section.findings.push_back(make_fine("all values were read"));
  return section;
}

void append_sections(std::vector<Section> source, std::vector<Section>& target) {
  target.insert(target.end(), std::make_move_iterator(source.begin()),
                std::make_move_iterator(source.end()));
}

Expected<ExitCode> run_doctor(const Session& session, const Options& options, const Style& style) {
  const auto outcome = gather_evidence(session, options.device);
  if (!outcome) return outcome.error();
  const auto& evidence = *outcome;
  std::vector<Section> report{make_version_section()};
  if (auto environment = inspect_environment(options, evidence.is_simulated))
    report.push_back(*std::move(environment));
  if (evidence.is_simulated)
    report.push_back(make_simulation_section(options));
  else
    append_sections(
        inspect_machine({evidence.nvidia, evidence.last().devices(), evidence.last().system(),
                         evidence.sources, has_refused_processes(evidence.last()), evidence.site}),
        report);
  report.push_back(inspect_devices(session, evidence));
  report.push_back(inspect_readings(evidence));
  const auto result = has_trouble(report) ? ExitCode::failed : ExitCode::done;
  return std::max(result, write_output(options.json ? format_json(report, evidence.is_simulated)
                                                    : render(report, style)));
}

constexpr Option doctor_options[] = {
    json_option("Print a JSON object"),
    device_option(),
};

constexpr std::string_view doctor_examples =
    "Examples:\n"
    "  hmn doctor\n"
    "  hmn doctor --json | jq '.sections[].findings[] | select(.result == \"fail\")'\n"
    "  hmn doctor --trace --timeout 5s      with each driver call\n"
    "\n"
    "Exit status: 0 done, nothing is broken; 1 something is, or failed; 2 wrong\n"
    "usage. See hmn-doctor(1).";

}  // namespace

const Command doctor_command = {
    .id = CommandId::doctor,
    .name = "doctor",
    .purpose = "Check GPUs and drivers, and suggest fixes",
    .options = doctor_options,
    .examples = doctor_examples,
    .run = run_doctor,
};

}  // namespace hmn::cli
