// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/diagnostics.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <unordered_set>

#include "cli/text/output.hpp"
#include "model/character.hpp"
#include "model/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::domain;
using hypomnesis::note;
using hypomnesis::part;
using hypomnesis::status_code;

constexpr double ns_in_ms = 1e6;

std::string subject_of(const hypomnesis::diagnostic& of) {
  std::string subject;
  if (of.device_index) subject += fmt::format("GPU {}: ", *of.device_index);
  if (of.pid) subject += fmt::format("pid {}: ", *of.pid);
  return subject;
}

// Returns whether a message begins with the name of its source, as "nvmlInit: …" with "nvml".
bool is_named(const hypomnesis::diagnostic& of) {
  const std::string_view name = hypomnesis::name(of.backend);
  return equal_ignoring_case(std::string_view(of.message).substr(0, name.size()), name);
}

// Returns what a message is about: its device and process, else its source. Those of a machine file
// are whole, but for one that does not answer.
std::string subject_of_line(const hypomnesis::diagnostic& of) {
  auto subject = subject_of(of);
  const bool is_whole =
      of.backend == hypomnesis::backend_id::none || of.backend == hypomnesis::backend_id::simulated;
  if (!subject.empty() || (is_whole && of.status != status_code::timeout) || is_named(of))
    return subject;
  return fmt::format("{}: ", hypomnesis::name(of.backend));
}

std::string line_of(const hypomnesis::diagnostic& of, const std::string& fields) {
  auto line = subject_of_line(of);
  line += (fields.empty() ? "" : fields + ": ") + of.message;
  if (of.count > 1) line += fmt::format(" (and {} more like it)", of.count - 1);
  return line;
}

std::string traced_call(const hypomnesis::diagnostic& of) {
  auto line =
      fmt::format("trace: {}{}: {}", subject_of(of), hypomnesis::name(of.backend), of.message);
  if (of.duration_ns)
    line += fmt::format(", {:.3f} ms", static_cast<double>(*of.duration_ns) / ns_in_ms);
  if (of.native_domain != domain::none) line += fmt::format(", code {}", of.native_code);
  return line;
}

}  // namespace

bool is_trace(const hypomnesis::diagnostic& diagnostic) noexcept {
  return has(diagnostic.notes, note::trace);
}

bool matters(const hypomnesis::diagnostic& diagnostic) noexcept {
  return !is_trace(diagnostic) && diagnostic.status != status_code::unsupported &&
         diagnostic.status != status_code::no_device;
}

bool hides_processes(const hypomnesis::diagnostic& diagnostic) noexcept {
  const bool is_of_others = diagnostic.field && (*diagnostic.field & HMN_USAGE_HAS_USED) == 0;
  return !is_of_others && !is_trace(diagnostic) && has(diagnostic.subject, part::processes) &&
         !diagnostic.pid;
}

bool hides_list(const hypomnesis::diagnostic& diagnostic) noexcept {
  return hides_processes(diagnostic) && !diagnostic.field &&
         diagnostic.status != status_code::no_device;
}

bool is_fault(const hypomnesis::diagnostic& diagnostic) noexcept {
  const auto status = diagnostic.status;
  const bool is_of_value = diagnostic.field || diagnostic.metric;
  const bool lessens_detail =
      status == status_code::permission && (is_of_value || diagnostic.subject == part::processes);
  return matters(diagnostic) && status != status_code::asleep && status != status_code::empty &&
         status != status_code::no_process && !lessens_detail;
}

bool hides_devices(const hypomnesis::diagnostic& diagnostic) noexcept {
  return matters(diagnostic) && diagnostic.status != status_code::ok &&
         diagnostic.status != status_code::no_source &&
         (diagnostic.subject & (part::memory | part::system)) == part{};
}

bool lessens_devices(const hypomnesis::diagnostic& diagnostic) noexcept {
  return hides_devices(diagnostic) && diagnostic.subject == part::devices && !diagnostic.field &&
         diagnostic.status != status_code::asleep;
}

std::string field_words(const hypomnesis::diagnostic& of) {
  std::string list;
  if (of.metric) return std::string(hypomnesis::name(*of.metric));
  if (!of.field) return list;
  for (const auto& each : named_fields(number(of.subject))) {
    if (each.words.empty() || (*of.field & each.bit) == 0) continue;
    list.append(list.empty() ? "" : ", ").append(each.words);
  }
  return list;
}

std::string describe(const hypomnesis::diagnostic& diagnostic) {
  return line_of(diagnostic, {});
}

std::string describe_process(const hypomnesis::diagnostic& diagnostic) {
  auto of = diagnostic;
  of.device_index.reset();
  return line_of(of, {});
}

std::string describe_with_fields(const hypomnesis::diagnostic& diagnostic) {
  return line_of(diagnostic, field_words(diagnostic));
}

std::vector<hypomnesis::diagnostic> merge_processes(std::vector<hypomnesis::diagnostic> all) {
  std::vector<hypomnesis::diagnostic> merged;
  std::map<std::tuple<std::uint32_t, part, status_code, std::string>, std::size_t> known;
  for (auto& each : all) {
    if (each.pid && !is_trace(each)) {
      const auto device = each.device_index.value_or(~std::uint32_t{0});
      const auto [at, is_new] =
          known.try_emplace({device, each.subject, each.status, each.message}, merged.size());
      if (!is_new) {
        merged[at->second].count += each.count;
        continue;
      }
    }
    merged.push_back(std::move(each));
  }
  return merged;
}

std::vector<std::string> distinct_lines(const std::vector<hypomnesis::diagnostic>& diagnostics,
                                        std::string (*line_for)(const hypomnesis::diagnostic&)) {
  std::vector<std::string> lines;
  std::unordered_set<std::string> known;
  for (const auto& each : merge_processes(diagnostics))
    if (auto line = line_for(each); known.insert(line).second) lines.push_back(std::move(line));
  return lines;
}

void print_diagnostics(const hypomnesis::snapshot& snapshot, bool is_reason_shown) {
  auto diagnostics = snapshot.diagnostics();
  std::erase_if(diagnostics, [is_reason_shown](const hypomnesis::diagnostic& each) {
    return !matters(each) || (is_reason_shown && each.status == status_code::no_source);
  });
  for (const auto& line : distinct_lines(diagnostics)) write_notice(line);
}

void print_trace(const hypomnesis::snapshot& snapshot) {
  for (const auto& each : snapshot.diagnostics())
    if (is_trace(each)) write_notice(traced_call(each));
}

}  // namespace hmn::cli
