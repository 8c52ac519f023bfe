// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "cli/commands/commands.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/measure/look.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

constexpr const char* variables[] = {"HMN_PROC",    "HMN_SYS",      "HMN_NVML",   "HMN_NVIDIA_SMI",
                                     "HMN_AMD_SMI", "HMN_ROCM_SMI", "HMN_MACMON", "HMN_SIMULATION",
                                     "HMN_CGROUP",  "HMN_DEV"};

struct evidence {
  snapshot picture;
  nvidia_backends nvidia;
  section sources;
  bool simulated = false;
};

expected<evidence> gather(const context& in, bool trace) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = everything;
  auto picture = look(in, what, trace);
  if (!picture) return picture.why();
  return evidence{*std::move(picture),
                  {in.backend(HMN_BACKEND_NVML), in.backend(HMN_BACKEND_NVIDIA_SMI)},
                  inspect_sources(in),
                  in.simulation().has_value()};
}

section versions() {
  return {"Version",
          {{verdict::fine,
            fmt::format("hmn {}.{}.{}, libhypomnesis {}", HMN_VERSION_MAJOR, HMN_VERSION_MINOR,
                        HMN_VERSION_PATCH, hmn_version_string()),
            {}}}};
}

std::optional<section> environment() {
  section out{"Environment", {}};
  for (const char* name : variables)
    if (const auto value = environment_value(name))
      out.findings.push_back({verdict::note, fmt::format("{}={}", name, *value), {}});
  return out.findings.empty() ? std::nullopt : std::optional(out);
}

section simulation(const options& asked) {
  const auto file = asked.machine.empty() ? std::string("HMN_SIMULATION") : asked.machine;
  return {"Simulation",
          {{verdict::note, "a machine described by " + file + ": nothing was measured", {}}}};
}

finding measured(const gpu& of) {
  const auto& device = of.device;
  const auto state = state_word(device.state).value_or("state unknown");
  auto text = fmt::format("{}: {}", label_of(of), state);
  if (const auto uuid = uuid_of(device)) text += ", " + *uuid;
  if (const auto source = source_word(device.backend)) text += fmt::format(", by {}", *source);
  const bool good = device.state == HMN_STATE_READY || device.state == HMN_STATE_ASLEEP;
  return {good ? verdict::fine : verdict::trouble, text, {}};
}

section devices(const evidence& seen) {
  section out{"GPUs", {}};
  for (const auto& each : gpus_of(seen.picture)) out.findings.push_back(measured(each));
  if (out.findings.empty()) out.findings.push_back({verdict::note, "none is measured", {}});
  return out;
}

// A right that this user lacks costs a figure, or some processes, and not the whole.
bool lessens_detail(const hmn_diagnostic& of) {
  return of.status == HMN_E_PERMISSION &&
         (has(of, HMN_DIAGNOSTIC_HAS_FIELD) || of.subject == HMN_COLLECT_PROCESSES);
}

// Tells what a card lacks, does on purpose or has nothing of yet from a fault.
verdict verdict_of(const hmn_diagnostic& of) {
  const bool expected = of.status == HMN_E_UNSUPPORTED || of.status == HMN_E_NO_DEVICE ||
                        of.status == HMN_E_ASLEEP || of.status == HMN_E_EMPTY;
  return expected || lessens_detail(of) ? verdict::note : verdict::trouble;
}

void add_findings(verdict how, std::vector<hmn_diagnostic> diagnostics, section& to) {
  std::erase_if(diagnostics, [how](const hmn_diagnostic& each) {
    return is_trace(each) || verdict_of(each) != how;
  });
  for (auto& line : distinct_lines(diagnostics, describe_with_fields))
    to.findings.push_back({how, std::move(line), {}});
}

section readings(const evidence& seen) {
  section out{"Readings", {}};
  add_findings(verdict::trouble, seen.picture.diagnostics(), out);
  add_findings(verdict::note, seen.picture.diagnostics(), out);
  if (out.findings.empty())
    out.findings.push_back({verdict::fine, "everything that was asked for was read", {}});
  return out;
}

void add(std::vector<section> from, std::vector<section>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

expected<exit_code> run_doctor(const context& in, const options& asked, const style& as) {
  const auto seen = gather(in, asked.trace);
  if (!seen) return seen.why();
  std::vector<section> report{versions()};
  if (auto set = environment()) report.push_back(*std::move(set));
  if (seen->simulated)
    report.push_back(simulation(asked));
  else
    add(inspect_machine(
            {seen->nvidia, seen->picture.devices(), seen->picture.system(), seen->sources}),
        report);
  report.push_back(devices(*seen));
  report.push_back(readings(*seen));
  return write_output(render(report, as));
}

}  // namespace hmn::cli
