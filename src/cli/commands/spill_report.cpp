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

std::string format_seconds(std::uint64_t ns) {
  return fmt::format("{:.1f}s", static_cast<double>(ns) / ns_per_s);
}

std::string format_episodes_line(const hypomnesis::spill_info& info, const char* dash) {
  if (info.episode_count == 0)
    return fmt::format("episodes       0 {} no spill observed{}\n", dash,
                       has(info.notes, note::lower_bound) ? " in the part that is visible" : "");
  return fmt::format("episodes       {} {} total {}, longest {}, first {} into run\n",
                     info.episode_count, dash, format_seconds(info.total_ns),
                     format_seconds(info.longest_ns.value_or(0)),
                     escape_for_text(info.first_label.value_or("")));
}

std::vector<std::string_view> list_rule_names(spill_rule rules) {
  std::vector<std::string_view> names;
  if (has(rules, spill_rule::shared)) names.emplace_back("shared");
  if (has(rules, spill_rule::evicted)) names.emplace_back("evicted");
  return names;
}

JsonObject make_episode_object(const hypomnesis::episode& episode) {
  JsonObject object;
  object.add("start_label", episode.start_label)
      .add("end_label", episode.end_label)
      .add("peak_shared_bytes", episode.peak_shared_bytes)
      .add("observations", episode.observation_count)
      .add("duration_ms", episode.duration_ns / ns_per_ms)
      .add("number", episode.number)
      .add("rules", list_rule_names(episode.rules))
      .add("peak_evicted_bytes", episode.peak_evicted_bytes);
  return object;
}

std::string format_bytes_or_unknown(const std::optional<std::uint64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : "?";
}

}  // namespace

std::string format_sample_time(std::uint64_t ms, std::uint32_t interval_ms) {
  return fmt::format("+{:.{}f}s", static_cast<double>(ms) / 1000,
                     count_decimals(interval_ms / 1e3));
}

std::vector<hypomnesis::episode> list_episodes(const hypomnesis::spill& detector) {
  std::vector<hypomnesis::episode> episodes;
  const auto info = detector.info();
  for (auto number = info.first_episode; number < info.episode_count; ++number)
    if (auto episode = attempt([&] { return detector.episode(number); }))
      episodes.push_back(*std::move(episode));
  return episodes;
}

std::string format_spill(std::string_view prefix, const hypomnesis::spill_info& info,
                         bool ascii_only) {
  if (!has(info.state, spill_state::measurable))
    return fmt::format("{}: spill not measurable: {}\n", prefix, escape_for_text(info.message));
  const std::string indent(prefix.size() + 2, ' ');
  const char* const dash = ascii_only ? "-" : "\u2014";
  const auto mark = accuracy_mark(info.notes);
  auto text = fmt::format("{}: peak dedicated {}{}", prefix, mark,
                          format_bytes_or_unknown(info.peak_dedicated_bytes));
  if (info.limit_bytes) text += " / " + format_bytes(*info.limit_bytes);
  text += fmt::format("\n{}peak shared    {}{} (baseline {})\n", indent, mark,
                      format_bytes_or_unknown(info.peak_shared_bytes),
                      format_bytes_or_unknown(info.baseline_shared_bytes));
  if (info.peak_evicted_bytes)
    text += fmt::format("{}peak evicted   {} (baseline {})\n", indent,
                        format_bytes_or_unknown(info.peak_evicted_bytes),
                        format_bytes_or_unknown(info.baseline_evicted_bytes));
  text += indent + format_episodes_line(info, dash);
  if (info.skipped_count > 0)
    text += fmt::format("{}not measured   {} of {} times{}{}\n", indent, info.skipped_count,
                        info.skipped_count + info.observation_count,
                        info.message.empty() ? "" : ": ", escape_for_text(info.message));
  return text;
}

void MemoryBounds::add(const hypomnesis::pool& pool, const std::string& label) {
  if (pool.total_bytes) total_bytes = pool.total_bytes;
  if (pool.used_bytes) peak_used_bytes = std::max(peak_used_bytes.value_or(0), *pool.used_bytes);
  if (!pool.free_bytes || (min_free_bytes && *min_free_bytes <= *pool.free_bytes)) return;
  min_free_bytes = pool.free_bytes;
  min_free_label = label;
}

std::string format_bounds(std::string_view prefix, const MemoryBounds& bounds) {
  const std::string indent(prefix.size() + 2, ' ');
  std::string text;
  if (bounds.peak_used_bytes)
    text += fmt::format("{}peak used      {} / {}, sampled\n", indent,
                        format_bytes(*bounds.peak_used_bytes),
                        format_bytes_or_unknown(bounds.total_bytes));
  if (bounds.min_free_bytes)
    text += fmt::format("{}least free     {}, {} into run\n", indent,
                        format_bytes(*bounds.min_free_bytes), bounds.min_free_label);
  return text;
}

void add_bounds_json(const MemoryBounds& bounds, JsonObject& object) {
  object.add("peak_used_bytes", bounds.peak_used_bytes)
      .add("least_free_bytes", bounds.min_free_bytes);
}

void add_spill_json(const hypomnesis::spill_info& info,
                    const std::vector<hypomnesis::episode>& episodes, JsonObject& object) {
  const bool is_measurable = has(info.state, spill_state::measurable);
  std::vector<JsonObject> list;
  for (const auto& episode : episodes) list.push_back(make_episode_object(episode));
  object.add("measurable", is_measurable)
      .add("spilled",
           is_measurable ? std::optional(has(info.state, spill_state::ever)) : std::nullopt)
      .add("observations", info.observation_count)
      .add("baseline_shared_bytes", info.baseline_shared_bytes)
      .add("peak_shared_bytes", info.peak_shared_bytes)
      .add("peak_dedicated_bytes", info.peak_dedicated_bytes)
      .add("dedicated_limit_bytes", info.limit_bytes)
      .add("total_spill_duration_ms",
           is_measurable ? std::optional(info.total_ns / ns_per_ms) : std::nullopt)
      .add("episodes", list)
      .add("episode_count", info.episode_count)
      .add("skipped", info.skipped_count)
      .add("baseline_evicted_bytes", info.baseline_evicted_bytes)
      .add("peak_evicted_bytes", info.peak_evicted_bytes)
      .add("notes", note_words(info.notes))
      .add("reason", info.message.empty() ? std::nullopt : std::optional(info.message));
}

}  // namespace hmn::cli
