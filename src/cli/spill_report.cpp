// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/spill_report.hpp"

#include <fmt/format.h>

#include "cli/escape.hpp"
#include "cli/handles.hpp"
#include "cli/size.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

std::string seconds(std::uint64_t ns) {
  return fmt::format("{:.1f}s", static_cast<double>(ns) / ns_per_s);
}

std::string episodes_line(const hmn_spill_info& of, const char* dash) {
  if (of.episode_count == 0) return fmt::format("episodes       0 {} no spill observed\n", dash);
  return fmt::format("episodes       {} {} total {}, longest {}, first {} into run\n",
                     of.episode_count, dash, seconds(of.total_ns), seconds(of.longest_ns),
                     escape_for_text(of.first_label));
}

std::vector<std::string_view> rule_names(hmn_flags rules) {
  std::vector<std::string_view> names;
  if ((rules & HMN_SPILL_BY_SHARED) != 0) names.emplace_back("shared");
  if ((rules & HMN_SPILL_BY_EVICTED) != 0) names.emplace_back("evicted");
  return names;
}

json_object episode_json(const hmn_episode& of) {
  json_object out;
  out.add("start_label", of.start_label)
      .add("end_label", known(of, HMN_EPISODE_HAS_END, std::string(of.end_label)))
      .add("peak_shared_bytes", of.peak_shared_bytes)
      .add("observations", of.observation_count)
      .add("duration_ms", of.duration_ns / ns_per_ms)
      .add("number", of.number)
      .add("rules", rule_names(of.rules))
      .add("peak_evicted_bytes", known(of, HMN_EPISODE_HAS_PEAK_EVICTED, of.peak_evicted_bytes));
  return out;
}

}  // namespace

std::string moment_text(std::uint64_t ms) {
  return fmt::format("+{:.1f}s", static_cast<double>(ms) / 1000);
}

std::string spill_text(std::string_view who, const hmn_spill_info& of, bool ascii_only) {
  if ((of.state & HMN_SPILL_MEASURABLE) == 0)
    return fmt::format("{}: spill not measurable: {}\n", who, escape_for_text(of.message));
  const std::string indent(who.size() + 2, ' ');
  const char* const dash = ascii_only ? "-" : "\u2014";
  auto text = fmt::format("{}: peak dedicated {}", who, size_text(of.peak_dedicated_bytes));
  if (has(of, HMN_SPILL_INFO_HAS_LIMIT)) text += " / " + size_text(of.limit_bytes);
  text += fmt::format("\n{}peak shared    {} (baseline {})\n", indent,
                      size_text(of.peak_shared_bytes), size_text(of.baseline_shared_bytes));
  if (has(of, HMN_SPILL_INFO_HAS_PEAK_EVICTED))
    text += fmt::format("{}peak evicted   {} (baseline {})\n", indent,
                        size_text(of.peak_evicted_bytes), size_text(of.baseline_evicted_bytes));
  text += indent + episodes_line(of, dash);
  if (of.skipped_count > 0)
    text += fmt::format("{}not measured   {} of {} times{}{}\n", indent, of.skipped_count,
                        of.skipped_count + of.observation_count, of.message[0] ? ": " : "",
                        escape_for_text(of.message));
  return text;
}

void add_spill_json(const hmn_spill_info& of, const std::vector<hmn_episode>& episodes,
                    json_object& to) {
  const bool measurable = (of.state & HMN_SPILL_MEASURABLE) != 0;
  const auto observed = [&](std::uint64_t bytes) {
    return known(of, HMN_SPILL_INFO_HAS_OBSERVED, bytes);
  };
  std::vector<json_object> list;
  for (const auto& one : episodes) list.push_back(episode_json(one));
  to.add("measurable", measurable)
      .add("spilled", measurable ? std::optional((of.state & HMN_SPILL_EVER) != 0) : std::nullopt)
      .add("observations", of.observation_count)
      .add("baseline_shared_bytes", observed(of.baseline_shared_bytes))
      .add("peak_shared_bytes", observed(of.peak_shared_bytes))
      .add("peak_dedicated_bytes", observed(of.peak_dedicated_bytes))
      .add("dedicated_limit_bytes", known(of, HMN_SPILL_INFO_HAS_LIMIT, of.limit_bytes))
      .add("total_spill_duration_ms",
           measurable ? std::optional(of.total_ns / ns_per_ms) : std::nullopt)
      .add("episodes", list)
      .add("episode_count", of.episode_count)
      .add("skipped", of.skipped_count)
      .add("baseline_evicted_bytes",
           known(of, HMN_SPILL_INFO_HAS_PEAK_EVICTED, of.baseline_evicted_bytes))
      .add("peak_evicted_bytes", known(of, HMN_SPILL_INFO_HAS_PEAK_EVICTED, of.peak_evicted_bytes))
      .add("reason", of.message[0] != 0 ? std::optional(std::string(of.message)) : std::nullopt);
}

}  // namespace hmn::cli
