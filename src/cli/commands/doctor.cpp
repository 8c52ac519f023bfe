// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "cli/commands/commands.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::backend_id;
using hypomnesis::part;
using hypomnesis::run_state;
using hypomnesis::status_code;

constexpr const char* variables[] = {"HMN_PROC",    "HMN_SYS",      "HMN_NVML",   "HMN_NVIDIA_SMI",
                                     "HMN_AMD_SMI", "HMN_ROCM_SMI", "HMN_MACMON", "HMN_SIMULATION",
                                     "HMN_CGROUP",  "HMN_DEV"};

constexpr std::uint32_t numbers = 64;  // of backends: as many as a mask has bits

// Returns whether the source is in another section: those of NVIDIA are with their adapters.
bool is_listed_elsewhere(backend_id source) {
  return source == backend_id::nvml || source == backend_id::nvidia_smi ||
         source == backend_id::simulated;
}

finding inspect_source(std::string_view name, const hypomnesis::backend_info& of) {
  const auto state = is_needless(of) ? "not needed" : or_unknown(state_word(of.state));
  auto text = fmt::format("{}: {}", name, state);
  if (of.version) text += ", " + *of.version;
  switch (of.state) {
    case run_state::ready:
    case run_state::asleep:
      return {severity::fine, text, {}};
    case run_state::absent:
    case run_state::off:
    case run_state::unknown:
      break;
    default:
      return {severity::trouble, of.message.empty() ? text : text + ": " + of.message, {}};
  }
  return {severity::note, of.message.empty() ? text : text + ", " + of.message, {}};
}

// Returns a row for each measurement source of this build.
section inspect_sources(const session& in) {
  section out{"Sources", {}};
  for (std::uint32_t number = 1; number < numbers; ++number) {
    const auto source = static_cast<backend_id>(number);
    if (!hypomnesis::has_backend(source) || is_listed_elsewhere(source)) continue;
    if (const auto info = in.backend(source))
      out.findings.push_back(inspect_source(hypomnesis::name(source), *info));
  }
  return out;
}

struct evidence {
  hypomnesis::snapshot snapshot;
  nvidia_backends nvidia;
  section sources;
  bool simulated = false;
};

evidence gather(const session& in) {
  hypomnesis::snapshot_options what;
  what.collect = everything;
  auto snapshot = in.collect(what);
  return evidence{std::move(snapshot),
                  {in.backend(backend_id::nvml), in.backend(backend_id::nvidia_smi)},
                  inspect_sources(in),
                  in.simulation().has_value()};
}

std::string own_version() {
  return fmt::format("{}.{}.{}", HMN_VERSION_MAJOR, HMN_VERSION_MINOR, HMN_VERSION_PATCH);
}

section versions() {
  return {
      "Version",
      {fine(fmt::format("hmn {}, libhypomnesis {}", own_version(), hypomnesis::version_string()))}};
}

std::string as_json(const std::vector<section>& report, bool simulated) {
  json_object out;
  out.add("hmn_version", own_version())
      .add("library_version", hypomnesis::version_string())
      .add("simulated", simulated)
      .add("sections", to_json(report));
  return out.text() + "\n";
}

// Lists the variables that are set, and of a simulated machine the one that names it.
std::optional<section> environment(const options& asked, bool simulated) {
  section out{"Environment", {}};
  for (const char* name : variables) {
    const bool names_machine = name == std::string_view("HMN_SIMULATION");
    if (names_machine ? !asked.machine.empty() : simulated) continue;
    if (const auto value = environment_value(name))
      out.findings.push_back({severity::note, fmt::format("{}={}", name, *value), {}});
  }
  return out.findings.empty() ? std::nullopt : std::optional(out);
}

section simulation(const options& asked) {
  const auto file = asked.machine.empty() ? std::string("HMN_SIMULATION") : asked.machine;
  return {"Simulation",
          {{severity::note, "a machine described by " + file + ": nothing was measured", {}}}};
}

finding measured(const gpu& of) {
  const auto& device = of.device;
  const auto state = state_word(device.state).value_or("state unknown");
  auto text = fmt::format("{}: {}", label_of(of), state);
  if (const auto uuid = device.uuid) text += ", " + *uuid;
  if (const auto source = source_word(device.backend)) text += fmt::format(", by {}", *source);
  const bool good = device.state == run_state::ready || device.state == run_state::asleep;
  return {good ? severity::fine : severity::trouble, text, {}};
}

section devices(const session& in, const evidence& seen) {
  section out{"GPUs", {}};
  for (const auto& each : gpus_of(in, seen.snapshot)) out.findings.push_back(measured(each));
  if (out.findings.empty()) out.findings.push_back({severity::note, "none is measured", {}});
  return out;
}

void add_findings(severity how, std::vector<hypomnesis::diagnostic> diagnostics, section& to) {
  std::erase_if(diagnostics, [how](const hypomnesis::diagnostic& each) {
    return is_trace(each) || is_fault(each) != (how == severity::trouble);
  });
  for (auto& line : distinct_lines(diagnostics, describe_with_fields))
    to.findings.push_back({how, std::move(line), {}});
}

section readings(const evidence& seen) {
  section out{"Readings", {}};
  add_findings(severity::trouble, seen.snapshot.diagnostics(), out);
  add_findings(severity::note, seen.snapshot.diagnostics(), out);
  if (out.findings.empty()) out.findings.push_back({severity::fine, "all values were read", {}});
  return out;
}

void add(std::vector<section> from, std::vector<section>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

expected<exit_code> run_doctor(const session& in, const options& asked, const style& as) {
  const auto seen = gather(in);
  std::vector<section> report{versions()};
  if (auto set = environment(asked, seen.simulated)) report.push_back(*std::move(set));
  if (seen.simulated)
    report.push_back(simulation(asked));
  else
    add(inspect_machine(
            {seen.nvidia, seen.snapshot.devices(), seen.snapshot.system(), seen.sources}),
        report);
  report.push_back(devices(in, seen));
  report.push_back(readings(seen));
  return write_output(asked.json ? as_json(report, seen.simulated) : render(report, as));
}

}  // namespace hmn::cli
