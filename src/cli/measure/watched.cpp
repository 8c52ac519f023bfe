// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/watched.hpp"

#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>

namespace hmn::cli {
namespace {

using hypomnesis::format_bytes;

constexpr std::uint64_t hint_from = std::uint64_t{256} << 20U;

std::string text_of(const std::optional<std::string>& name) {
  return name.value_or("?");
}

bool is_another(const std::optional<std::uint64_t>& before,
                const std::optional<std::uint64_t>& now) {
  return before && now && *before != *now;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t pid) {
  return std::find(list.begin(), list.end(), pid) != list.end();
}

}  // namespace

std::optional<std::int64_t> value_history::add(std::optional<std::uint64_t> now) {
  if (!now) return std::nullopt;
  const auto change = static_cast<std::int64_t>(*now - last.value_or(*now));
  if (!baseline) baseline = now;
  peak = std::max(peak.value_or(0), *now);
  last = now;
  return change;
}

watched_process& watched::of(std::uint32_t pid) {
  for (auto& each : all_)
    if (each.pid == pid) return each;
  watched_process fresh;
  fresh.pid = pid;
  return all_.emplace_back(std::move(fresh));
}

std::optional<std::string> watched::name_of(std::uint32_t pid) const {
  for (const auto& each : all_)
    if (each.pid == pid) return each.name;
  return std::nullopt;
}

watched_row watched::add(const process_values& now) {
  auto& known = of(now.pid);
  watched_row row;
  row.pid = now.pid;
  if (is_another(known.start_unix_ns, now.start_unix_ns) || is_another(known.start, now.start)) {
    row.message = fmt::format("pid={} is another process now ({} -> {}); baseline reset", now.pid,
                              text_of(known.name), text_of(now.name));
    known = watched_process{};
    known.pid = now.pid;
  }
  if (now.start_unix_ns) known.start_unix_ns = now.start_unix_ns;
  if (now.start) known.start = now.start;
  known.is_foreign = now.is_foreign;
  if (now.name) known.name = now.name;
  row.name = known.name;
  if (now.is_fresh) {
    row.used = now.used;
    row.shared = now.shared;
  }
  row.used_delta = known.used.add(row.used);
  row.shared_delta = known.shared.add(row.shared);
  const bool has_grown = known.used.has_grown_by(hint_from) || known.shared.has_grown_by(hint_from);
  if (!now.name && has_grown && !known.was_hinted && row.message.empty()) {
    known.was_hinted = true;
    const auto growth = std::max(known.used.last.value_or(0) - known.used.baseline.value_or(0),
                                 known.shared.last.value_or(0) - known.shared.baseline.value_or(0));
    row.message = fmt::format("unresolved pid={} grew +{} since attach; run as root to identify it",
                              now.pid, format_bytes(growth));
  }
  return row;
}

watched_row watched::add_absent(std::uint32_t pid, std::optional<bool> has_ended,
                                std::optional<std::uint64_t> start) {
  auto& known = of(pid);
  watched_row row;
  row.pid = pid;
  row.name = known.name;
  if (known.is_foreign || !has_ended)
    row.life = process_life::unknown;
  else if (*has_ended || (known.start && known.start != start))
    row.life = process_life::exited;
  else
    row.life = process_life::idle;
  if (has_ended == false && !known.start) known.start = start;
  return row;
}

void watched::forget_beyond(const std::vector<std::uint32_t>& followed) {
  while (all_.size() > most) {
    const auto oldest = std::find_if(all_.begin(), all_.end(), [&](const watched_process& each) {
      return !contains(followed, each.pid);
    });
    if (oldest == all_.end()) return;
    all_.erase(oldest);
    ++forgotten_;
  }
}

std::vector<std::uint32_t> choose_top(const std::vector<process_values>& rows,
                                      std::uint32_t count) {
  std::vector<std::uint32_t> chosen;
  for (const auto& row : rows)
    if (row.is_candidate && chosen.size() < count && !contains(chosen, row.pid))
      chosen.push_back(row.pid);
  return chosen;
}

}  // namespace hmn::cli
