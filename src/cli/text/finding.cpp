// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/finding.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/text/escape.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::domain;
using hypomnesis::run_state;

std::string native_text(const hypomnesis::backend_info& of) {
  if (of.message.find("code ") != std::string::npos) return {};  // the message includes the code
  if (of.native_domain == domain::nvml) return fmt::format(" (NVML code {})", of.native_code);
  if (of.native_domain == domain::exit_code) return fmt::format(" (exit code {})", of.native_code);
  if (of.native_domain == domain::errno_code) return fmt::format(" (errno {})", of.native_code);
  if (of.native_domain == domain::win32) return fmt::format(" (Windows error {})", of.native_code);
  return {};
}

std::string_view mark_of(severity how) {
  if (how == severity::fine) return "ok   ";
  return how == severity::note ? "note " : "FAIL ";
}

tone tone_of(severity how) {
  if (how == severity::fine) return tone::good;
  return how == severity::note ? tone::plain : tone::bad;
}

}  // namespace

finding fine(std::string text) {
  return {severity::fine, std::move(text), {}};
}
finding note(std::string text) {
  return {severity::note, std::move(text), {}};
}
finding trouble(std::string text, std::string advice) {
  return {severity::trouble, std::move(text), std::move(advice)};
}

bool is_needless(const hypomnesis::backend_info& of) noexcept {
  return of.state == run_state::unknown && of.status == hypomnesis::status_code::empty;
}

finding inspect_backend(std::string_view name, const hypomnesis::backend_info& of, bool needed) {
  if (of.state == run_state::ready || of.state == run_state::asleep)
    return fine(
        fmt::format("{} answers{}", name, of.version ? ", driver " + *of.version : std::string()));
  if (is_needless(of)) return hmn::cli::note(fmt::format("{}: not needed", name));
  const auto text =
      fmt::format("{}: {}{}", name, of.message.empty() ? hypomnesis::name(of.status) : of.message,
                  native_text(of));
  return needed && of.state != run_state::off ? trouble(text) : hmn::cli::note(text);
}

std::vector<json_object> to_json(const std::vector<section>& report) {
  constexpr const char* words[] = {"ok", "note", "fail"};
  std::vector<json_object> sections;
  for (const auto& part : report) {
    std::vector<json_object> findings;
    for (const auto& each : part.findings)
      findings.emplace_back()
          .add("result", words[static_cast<int>(each.how)])
          .add("text", each.text)
          .add("advice", each.advice.empty() ? std::nullopt : std::optional(each.advice));
    sections.emplace_back().add("title", part.title).add("findings", findings);
  }
  return sections;
}

std::string render(const std::vector<section>& report, const style& as) {
  std::string out;
  for (const auto& part : report) {
    if (!out.empty()) out += "\n";
    out += paint(part.title, tone::strong, as.colour) + "\n";
    for (const auto& each : part.findings) {
      out += "  " + paint(mark_of(each.how), tone_of(each.how), as.colour) + " " +
             escape_for_text(each.text, as.ascii_only) + "\n";
      if (!each.advice.empty())
        out += "        do: " + escape_for_text(each.advice, as.ascii_only) + "\n";
    }
  }
  return out;
}

}  // namespace hmn::cli
