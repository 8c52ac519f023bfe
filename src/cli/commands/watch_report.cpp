// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/watch_report.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include "cli/commands/spill_report.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/json.hpp"
#include "cli/text/table.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;
using hypomnesis::spill_state;

using align = table::align;
using cell = table::cell;

constexpr const char* line_form = "{:>8} {:>7} {:<15} {:>9} {:>9} {:>9} {:>9} {}\n";
constexpr const char* word_of[] = {"uses", "idle", "exited", "?"};

const char* text_of(process_life life) {
  return word_of[static_cast<int>(life)];
}

std::string size_or(std::optional<std::uint64_t> bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

std::string name_or(const std::optional<std::string>& name) {
  return name ? escape_for_text(*name) : "?";
}

std::optional<bool> spills(const hypomnesis::spill_info& of) {
  if (!has(of.state, spill_state::measurable)) return std::nullopt;
  return has(of.state, spill_state::now);
}

table::cell spill_cell(const hypomnesis::spill_info& of) {
  const auto spilling = spills(of);
  if (!spilling) return {"?", tone::faint};
  return *spilling ? table::cell{"SPILL", tone::bad} : table::cell{"no"};
}

// Returns the first values and the peaks of each process as a table, for a terminal.
std::string peaks_table(const watched& all, const style& as) {
  table out({{"PID", align::right},
             {"NAME", align::left, true, 6},
             {"VRAM", align::right},
             {"PEAK", align::right},
             {"SHARED", align::right},
             {"PEAK", align::right}});
  for (const auto& each : all.all())
    out.add({{fmt::to_string(each.pid)},
             {each.name ? escape_for_text(*each.name, as.ascii_only) : "?"},
             {size_or(each.used.baseline)},
             {size_or(each.used.peak)},
             {size_or(each.shared.baseline)},
             {size_or(each.shared.peak)}});
  return "hmn watch: first values and peaks\n" + out.text(as);
}

}  // namespace

std::string change_text(std::optional<std::int64_t> bytes) {
  if (!bytes) return "?";
  if (*bytes == 0) return "+0 B";
  const auto size =
      *bytes < 0 ? 0 - static_cast<std::uint64_t>(*bytes) : static_cast<std::uint64_t>(*bytes);
  return (*bytes < 0 ? "-" : "+") + (size < mib ? fmt::format("{} B", size) : format_bytes(size));
}

std::optional<std::string> watch_table(const watch_moment& at, const std::vector<watched_row>& rows,
                                       const style& as) {
  const std::string change = as.ascii_only ? "d" : "\u0394";
  table out({{"TIME", align::right},
             {"PID", align::right},
             {"NAME", align::left, true, 6},
             {"VRAM", align::right},
             {change + "VRAM", align::right},
             {"SHARED", align::right},
             {change + "SHARED", align::right},
             {"SPILL"}});
  for (const auto& each : rows) {
    const bool has_values = each.life == process_life::uses;
    const auto value = [&](std::string text) { return cell{has_values ? std::move(text) : "-"}; };
    out.add({{at.text},
             {fmt::to_string(each.pid)},
             {each.name ? escape_for_text(*each.name, as.ascii_only) : "?"},
             {has_values ? size_or(each.used) : text_of(each.life)},
             value(change_text(each.used_delta)),
             value(size_or(each.shared)),
             value(change_text(each.shared_delta)),
             spill_cell(at.spill)});
  }
  out.set_gap(1);
  if (!out.fits(as.width)) return std::nullopt;
  out.set_gap(2);
  return out.text(as);
}

std::string watch_header(bool ascii_only) {
  const std::string change = ascii_only ? "d" : "\u0394";
  return fmt::format(fmt::runtime(line_form), "TIME", "PID", "NAME", "VRAM", change + "VRAM",
                     "SHARED", change + "SHARED", "SPILL");
}

std::string watch_line(const watch_moment& at, const watched_row& of) {
  const auto spilling = spills(at.spill);
  const char* const spill_word = !spilling ? "?" : *spilling ? "SPILL" : "no";
  if (of.life != process_life::uses)
    return fmt::format(fmt::runtime(line_form), at.text, of.pid, name_or(of.name), text_of(of.life),
                       "-", "-", "-", spill_word);
  return fmt::format(fmt::runtime(line_form), at.text, of.pid, name_or(of.name), size_or(of.used),
                     change_text(of.used_delta), size_or(of.shared), change_text(of.shared_delta),
                     spill_word);
}

std::string watch_json(const watch_moment& at, const watched_row& of) {
  json_object out;
  out.add("kind", "sample")
      .add("t_ms", at.ms)
      .add("pid", of.pid)
      .add("name", of.name)
      .add("state", of.life == process_life::unknown ? std::nullopt
                                                     : std::optional(std::string(text_of(of.life))))
      .add("used_bytes", of.used)
      .add("used_delta_bytes", of.used_delta)
      .add("shared_used_bytes", of.shared)
      .add("shared_delta_bytes", of.shared_delta)
      .add("spilling", spills(at.spill));
  return out.text() + "\n";
}

std::string watch_summary(const watched& all, const hypomnesis::spill_info& spill,
                          const style& as) {
  auto text = spill_text("hmn watch", spill, as.ascii_only);
  if (all.all().empty()) return text;
  if (as.height > 0) {
    text += peaks_table(all, as);
    return all.forgotten() == 0
               ? text
               : text + fmt::format("and {} more that exited earlier\n", all.forgotten());
  }
  constexpr const char* form = "{:<18} {:>7} {:<15} {:>13} {:>9} {:>15} {:>11}\n";
  text += fmt::format(fmt::runtime(form), "hmn watch: per-PID", "PID", "NAME", "BASELINE VRAM",
                      "PEAK VRAM", "BASELINE SHARED", "PEAK SHARED");
  for (const auto& each : all.all())
    text += fmt::format(fmt::runtime(form), "", each.pid, name_or(each.name),
                        size_or(each.used.baseline), size_or(each.used.peak),
                        size_or(each.shared.baseline), size_or(each.shared.peak));
  if (all.forgotten() > 0)
    text += fmt::format("{:<18} and {} more that exited earlier\n", "", all.forgotten());
  return text;
}

std::string watch_summary_json(const watched& all, const hypomnesis::spill_info& spill,
                               const std::vector<hypomnesis::episode>& episodes) {
  std::vector<json_object> list;
  for (const auto& each : all.all()) {
    json_object one;
    one.add("pid", each.pid)
        .add("name", each.name)
        .add("baseline_used_bytes", each.used.baseline)
        .add("peak_used_bytes", each.used.peak)
        .add("baseline_shared_bytes", each.shared.baseline)
        .add("peak_shared_bytes", each.shared.peak);
    list.push_back(one);
  }
  json_object out;
  out.add("kind", "summary");
  add_spill_json(spill, episodes, out);
  out.add("per_pid", list).add("forgotten", all.forgotten());
  return out.text() + "\n";
}

}  // namespace hmn::cli
