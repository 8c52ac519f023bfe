// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/finding.hpp"

#include "cli/escape.hpp"

namespace hmn::cli {
namespace {

std::string_view verdict_mark(verdict how) {
  if (how == verdict::fine) return "ok   ";
  return how == verdict::note ? "note " : "FAIL ";
}

tone tone_of(verdict how) {
  if (how == verdict::fine) return tone::good;
  return how == verdict::note ? tone::plain : tone::bad;
}

}  // namespace

std::string render(const std::vector<section>& report, const style& as) {
  std::string out;
  for (const auto& part : report) {
    if (!out.empty()) out += "\n";
    out += paint(part.title, tone::strong, as.colour) + "\n";
    for (const auto& each : part.findings) {
      out += "  " + paint(verdict_mark(each.how), tone_of(each.how), as.colour) + " " +
             escape_for_text(each.text, as.ascii_only) + "\n";
      if (!each.advice.empty())
        out += "        do: " + escape_for_text(each.advice, as.ascii_only) + "\n";
    }
  }
  return out;
}

}  // namespace hmn::cli
