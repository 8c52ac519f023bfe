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

std::string format_subject(const hypomnesis::diagnostic& diagnostic) {
  std::string subject;
  if (diagnostic.device_index) subject += fmt::format("GPU {}: ", *diagnostic.device_index);
  if (diagnostic.pid) subject += fmt::format("pid {}: ", *diagnostic.pid);
  return subject;
}

// Returns whether a message begins with the name of its source, as "nvmlInit: …" with "nvml".
bool starts_with_source(const hypomnesis::diagnostic& diagnostic) {
  const std::string_view name = hypomnesis::name(diagnostic.backend);
  return equal_ignoring_case(std::string_view(diagnostic.message).substr(0, name.size()), name);
}

// Formats what a message is about: its device and process, else its source. Messages of a machine
// file name it themselves, except when it does not answer.
std::string format_line_subject(const hypomnesis::diagnostic& diagnostic) {
  auto subject = format_subject(diagnostic);
  const bool is_complete = diagnostic.backend == hypomnesis::backend_id::none ||
                           diagnostic.backend == hypomnesis::backend_id::simulated;
  if (!subject.empty() || (is_complete && diagnostic.status != status_code::timeout) ||
      starts_with_source(diagnostic))
    return subject;
  return fmt::format("{}: ", hypomnesis::name(diagnostic.backend));
}

std::string format_diagnostic_line(const hypomnesis::diagnostic& diagnostic,
                                   const std::string& fields) {
  auto line = format_line_subject(diagnostic);
  line += (fields.empty() ? "" : fields + ": ") + diagnostic.message;
  if (diagnostic.count > 1) line += fmt::format(" (and {} more like it)", diagnostic.count - 1);
  return line;
}

std::string format_traced_call(const hypomnesis::diagnostic& diagnostic) {
  auto line = fmt::format("trace: {}{}: {}", format_subject(diagnostic),
                          hypomnesis::name(diagnostic.backend), diagnostic.message);
  if (diagnostic.duration_ns)
    line += fmt::format(", {:.3f} ms", static_cast<double>(*diagnostic.duration_ns) / ns_in_ms);
  if (diagnostic.native_domain != domain::none)
    line += fmt::format(", code {}", diagnostic.native_code);
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
  const bool is_other_field = diagnostic.field && (*diagnostic.field & HMN_USAGE_HAS_USED) == 0;
  return !is_other_field && !is_trace(diagnostic) && has(diagnostic.subject, part::processes) &&
         !diagnostic.pid;
}

bool hides_some_processes(const hypomnesis::diagnostic& diagnostic) noexcept {
  return hides_processes(diagnostic) && !diagnostic.field &&
         diagnostic.status != status_code::no_device;
}

bool is_fault(const hypomnesis::diagnostic& diagnostic) noexcept {
  const auto status = diagnostic.status;
  const bool concerns_value = diagnostic.field || diagnostic.metric;
  const bool reduces_detail = status == status_code::permission &&
                              (concerns_value || diagnostic.subject == part::processes);
  return matters(diagnostic) && status != status_code::asleep && status != status_code::empty &&
         status != status_code::no_process && !reduces_detail;
}

bool hides_devices(const hypomnesis::diagnostic& diagnostic) noexcept {
  return matters(diagnostic) && diagnostic.status != status_code::ok &&
         diagnostic.status != status_code::no_source &&
         (diagnostic.subject & (part::memory | part::system)) == part{};
}

bool hides_some_devices(const hypomnesis::diagnostic& diagnostic) noexcept {
  return hides_devices(diagnostic) && diagnostic.subject == part::devices && !diagnostic.field &&
         diagnostic.status != status_code::asleep;
}

std::string format_fields(const hypomnesis::diagnostic& diagnostic) {
  std::string names;
  if (diagnostic.metric) return std::string(hypomnesis::name(*diagnostic.metric));
  if (!diagnostic.field) return names;
  for (const auto& field : field_labels(number(diagnostic.subject))) {
    if (field.words.empty() || (*diagnostic.field & field.bit) == 0) continue;
    names.append(names.empty() ? "" : ", ").append(field.words);
  }
  return names;
}

std::string describe(const hypomnesis::diagnostic& diagnostic) {
  return format_diagnostic_line(diagnostic, {});
}

std::string describe_without_device(const hypomnesis::diagnostic& diagnostic) {
  auto copy = diagnostic;
  copy.device_index.reset();
  return format_diagnostic_line(copy, {});
}

std::string describe_with_fields(const hypomnesis::diagnostic& diagnostic) {
  return format_diagnostic_line(diagnostic, format_fields(diagnostic));
}

std::vector<hypomnesis::diagnostic> merge_process_diagnostics(
    std::vector<hypomnesis::diagnostic> diagnostics) {
  std::vector<hypomnesis::diagnostic> merged;
  std::map<std::tuple<std::uint32_t, part, status_code, std::string>, std::size_t> positions;
  for (auto& diagnostic : diagnostics) {
    if (diagnostic.pid && !is_trace(diagnostic)) {
      const auto device = diagnostic.device_index.value_or(~std::uint32_t{0});
      const auto [it, is_new] = positions.try_emplace(
          {device, diagnostic.subject, diagnostic.status, diagnostic.message}, merged.size());
      if (!is_new) {
        merged[it->second].count += diagnostic.count;
        continue;
      }
    }
    merged.push_back(std::move(diagnostic));
  }
  return merged;
}

std::vector<std::string> format_distinct_lines(
    const std::vector<hypomnesis::diagnostic>& diagnostics,
    std::string (*formatter)(const hypomnesis::diagnostic&)) {
  std::vector<std::string> lines;
  std::unordered_set<std::string> unique_lines;
  for (const auto& diagnostic : merge_process_diagnostics(diagnostics))
    if (auto line = formatter(diagnostic); unique_lines.insert(line).second)
      lines.push_back(std::move(line));
  return lines;
}

void print_diagnostics(const hypomnesis::snapshot& snapshot, bool is_reason_shown) {
  auto diagnostics = snapshot.diagnostics();
  std::erase_if(diagnostics, [is_reason_shown](const hypomnesis::diagnostic& diagnostic) {
    return !matters(diagnostic) || (is_reason_shown && diagnostic.status == status_code::no_source);
  });
  for (const auto& line : format_distinct_lines(diagnostics)) write_notice(line);
}

void print_trace(const hypomnesis::snapshot& snapshot) {
  for (const auto& diagnostic : snapshot.diagnostics())
    if (is_trace(diagnostic)) write_notice(format_traced_call(diagnostic));
}

}  // namespace hmn::cli
