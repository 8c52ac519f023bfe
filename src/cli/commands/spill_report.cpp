// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/spill_report.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

#include "cli/measure/session.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/table.hpp"
#include "cli/text/unicode.hpp"
#include "cli/text/words.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;
using hypomnesis::note;
using hypomnesis::spill_rule;
using hypomnesis::spill_state;

std::string seconds(std::uint64_t ns) {
  return fmt::format("{:.1f}s", static_cast<double>(ns) / ns_per_s);
}

std::string episodes_line(const hypomnesis::spill_info& of, const char* dash) {
  if (of.episode_count == 0)
    return fmt::format("episodes       0 {} no spill observed{}\n", dash,
                       has(of.notes, note::lower_bound) ? " in the part that is visible" : "");
  return fmt::format("episodes       {} {} total {}, longest {}, first {} into run\n",
                     of.episode_count, dash, seconds(of.total_ns),
                     seconds(of.longest_ns.value_or(0)),
                     escape_for_text(of.first_label.value_or("")));
}

std::vector<std::string_view> rule_names(spill_rule rules) {
  std::vector<std::string_view> names;
  if (has(rules, spill_rule::shared)) names.emplace_back("shared");
  if (has(rules, spill_rule::evicted)) names.emplace_back("evicted");
  return names;
}

JsonObject episode_json(const hypomnesis::episode& of) {
  JsonObject out;
  out.add("start_label", of.start_label)
      .add("end_label", of.end_label)
      .add("peak_shared_bytes", of.peak_shared_bytes)
      .add("observations", of.observation_count)
      .add("duration_ms", of.duration_ns / ns_per_ms)
      .add("number", of.number)
      .add("rules", rule_names(of.rules))
      .add("peak_evicted_bytes", of.peak_evicted_bytes);
  return out;
}

std::string bytes_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

}  // namespace

std::string moment_text(std::uint64_t ms, std::uint32_t interval_ms) {
  return fmt::format("+{:.{}f}s", static_cast<double>(ms) / 1000, decimals_of(interval_ms / 1e3));
}

std::vector<hypomnesis::episode> episodes_of(const hypomnesis::spill& detector) {
  std::vector<hypomnesis::episode> all;
  const auto of = detector.info();
  for (auto number = of.first_episode; number < of.episode_count; ++number)
    if (auto one = attempt([&] { return detector.episode(number); }))
      all.push_back(*std::move(one));
  return all;
}

std::string spill_text(std::string_view who, const hypomnesis::spill_info& of, bool ascii_only) {
  if (!has(of.state, spill_state::measurable))
    return fmt::format("{}: spill not measurable: {}\n", who, escape_for_text(of.message));
  const std::string indent(who.size() + 2, ' ');
  const char* const dash = ascii_only ? "-" : "\u2014";
  const auto mark = mark_of(of.notes);
  auto text =
      fmt::format("{}: peak dedicated {}{}", who, mark, bytes_text(of.peak_dedicated_bytes));
  if (of.limit_bytes) text += " / " + format_bytes(*of.limit_bytes);
  text += fmt::format("\n{}peak shared    {}{} (baseline {})\n", indent, mark,
                      bytes_text(of.peak_shared_bytes), bytes_text(of.baseline_shared_bytes));
  if (of.peak_evicted_bytes)
    text += fmt::format("{}peak evicted   {} (baseline {})\n", indent,
                        bytes_text(of.peak_evicted_bytes), bytes_text(of.baseline_evicted_bytes));
  text += indent + episodes_line(of, dash);
  if (of.skipped_count > 0)
    text += fmt::format("{}not measured   {} of {} times{}{}\n", indent, of.skipped_count,
                        of.skipped_count + of.observation_count, of.message.empty() ? "" : ": ",
                        escape_for_text(of.message));
  return text;
}

void MemoryBounds::add(const hypomnesis::pool& now, const std::string& label) {
  if (now.total_bytes) total_bytes = now.total_bytes;
  if (now.used_bytes) peak_used_bytes = std::max(peak_used_bytes.value_or(0), *now.used_bytes);
  if (!now.free_bytes || (least_free_bytes && *least_free_bytes <= *now.free_bytes)) return;
  least_free_bytes = now.free_bytes;
  least_free_label = label;
}

std::string bounds_text(std::string_view who, const MemoryBounds& of) {
  const std::string indent(who.size() + 2, ' ');
  std::string text;
  if (of.peak_used_bytes)
    text += fmt::format("{}peak used      {} / {}, sampled\n", indent,
                        format_bytes(*of.peak_used_bytes), bytes_text(of.total_bytes));
  if (of.least_free_bytes)
    text += fmt::format("{}least free     {}, {} into run\n", indent,
                        format_bytes(*of.least_free_bytes), of.least_free_label);
  return text;
}

void add_bounds_json(const MemoryBounds& of, JsonObject& to) {
  to.add("peak_used_bytes", of.peak_used_bytes).add("least_free_bytes", of.least_free_bytes);
}

void add_spill_json(const hypomnesis::spill_info& of,
                    const std::vector<hypomnesis::episode>& episodes, JsonObject& to) {
  const bool measurable = has(of.state, spill_state::measurable);
  std::vector<JsonObject> list;
  for (const auto& one : episodes) list.push_back(episode_json(one));
  to.add("measurable", measurable)
      .add("spilled", measurable ? std::optional(has(of.state, spill_state::ever)) : std::nullopt)
      .add("observations", of.observation_count)
      .add("baseline_shared_bytes", of.baseline_shared_bytes)
      .add("peak_shared_bytes", of.peak_shared_bytes)
      .add("peak_dedicated_bytes", of.peak_dedicated_bytes)
      .add("dedicated_limit_bytes", of.limit_bytes)
      .add("total_spill_duration_ms",
           measurable ? std::optional(of.total_ns / ns_per_ms) : std::nullopt)
      .add("episodes", list)
      .add("episode_count", of.episode_count)
      .add("skipped", of.skipped_count)
      .add("baseline_evicted_bytes", of.baseline_evicted_bytes)
      .add("peak_evicted_bytes", of.peak_evicted_bytes)
      .add("notes", note_words(of.notes))
      .add("reason", of.message.empty() ? std::nullopt : std::optional(of.message));
}

}  // namespace hmn::cli
