// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/field_words.hpp"
#include "cli/output.hpp"

namespace hmn::cli {
namespace {

std::string subject_of(const hmn_diagnostic& of) {
  std::string subject;
  if (has(of, HMN_DIAGNOSTIC_HAS_DEVICE)) subject += fmt::format("GPU {}: ", of.device_index);
  if (has(of, HMN_DIAGNOSTIC_HAS_PID)) subject += fmt::format("pid {}: ", of.pid);
  return subject;
}

std::string line_of(const hmn_diagnostic& of, const std::string& fields) {
  auto line = subject_of(of) + (fields.empty() ? "" : fields + ": ") + of.message;
  if (of.count > 1) line += fmt::format(" (and {} more like it)", of.count - 1);
  return line;
}

std::string traced_call(const hmn_diagnostic& of) {
  auto line =
      fmt::format("trace: {}{}: {}", subject_of(of), hmn_backend_name(of.backend), of.message);
  if (has(of, HMN_DIAGNOSTIC_HAS_DURATION))
    line += fmt::format(", {:.3f} ms", static_cast<double>(of.duration_ns) / 1e6);
  if (of.native_domain != HMN_NATIVE_NONE) line += fmt::format(", code {}", of.native_code);
  return line;
}

}  // namespace

bool is_trace(const hmn_diagnostic& diagnostic) noexcept {
  return (diagnostic.notes & HMN_NOTE_TRACE) != 0;
}

bool matters(const hmn_diagnostic& diagnostic) noexcept {
  return !is_trace(diagnostic) && diagnostic.status != HMN_E_UNSUPPORTED &&
         diagnostic.status != HMN_E_NO_DEVICE;
}

bool hides_devices(const hmn_diagnostic& diagnostic) noexcept {
  return matters(diagnostic) && diagnostic.status != HMN_E_NO_SOURCE &&
         (diagnostic.subject & (HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM)) == 0;
}

std::string describe(const hmn_diagnostic& diagnostic) {
  return line_of(diagnostic, {});
}

std::string describe_with_fields(const hmn_diagnostic& diagnostic) {
  return line_of(diagnostic, field_words(diagnostic));
}

std::vector<std::string> distinct_lines(const std::vector<hmn_diagnostic>& diagnostics,
                                        std::string (*line_for)(const hmn_diagnostic&)) {
  std::vector<std::string> lines;
  for (const auto& each : diagnostics) {
    auto line = line_for(each);
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  }
  return lines;
}

void print_diagnostics(const snapshot& picture, bool told) {
  auto diagnostics = picture.diagnostics();
  std::erase_if(diagnostics, [told](const hmn_diagnostic& each) {
    return !matters(each) || (told && each.status == HMN_E_NO_SOURCE);
  });
  for (const auto& line : distinct_lines(diagnostics)) write_remark(line);
}

void print_trace(const snapshot& picture) {
  for (const auto& each : picture.diagnostics())
    if (is_trace(each)) write_remark(traced_call(each));
}

}  // namespace hmn::cli
