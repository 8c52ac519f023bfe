// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/process_peaks.hpp"

#include <algorithm>

namespace hmn::cli {
namespace {

using hypomnesis::name_status;
using hypomnesis::note;
using hypomnesis::status_code;

constexpr std::size_t most_kept = 16384;
// Limit of queries for processes never seen on the device: each costs the driver its lists, without
// a result where it keeps no accounts.
constexpr std::size_t most_idle_asked = 64;
constexpr std::size_t most_idle_tried = 8;
// Difference between the clocks of the process start and of the driver.
constexpr std::uint64_t slack_ns = 2'000'000'000;

constexpr const char* no_accounts = "the driver keeps no account of what a process has held";
constexpr const char* not_all =
    "not every process that was seen has an account, or could be asked for";

bool is_alive(const std::vector<process_tree::member>& members, std::uint32_t pid) {
  return std::any_of(members.begin(), members.end(),
                     [pid](const auto& each) { return each.pid == pid; });
}

}  // namespace

bool is_account_only(const hypomnesis::usage& row) noexcept {
  return row.peak_used_bytes && !row.used_bytes && !row.kinds;
}

void process_peaks::add(const process_tree::member& who, const hypomnesis::usage* row) {
  const auto found = all_.find(who.pid);
  if (found == all_.end() && all_.size() >= most_kept) {
    is_partial_ = is_partial_ || row != nullptr;
    return;
  }
  seen& known = all_[who.pid];
  if (found != all_.end() && known.start != who.start) {
    is_partial_ = is_partial_ || known.has_used;
    known = seen();
  }
  known.start = who.start;
  if (row == nullptr) return;
  known.has_used = true;
  known.has_account = known.has_account || row->peak_used_bytes;
  known.used_bytes = std::max(known.used_bytes, row->used_bytes.value_or(0));
}

// Rejects accounts of another process with the same pid.
process_peaks::told process_peaks::judge(const question& asked, const hypomnesis::usage& row,
                                         const seen& known) {
  if (has(row.notes, hypomnesis::note::stale)) return {};
  const bool may_have_ended =
      row.name_state == name_status::exited || row.name_state == name_status::unknown;
  const bool is_ours = (may_have_ended || is_alive(asked.members, row.pid)) &&
                       (row.start_unix_ns ? *row.start_unix_ns + slack_ns >= asked.started_unix_ns
                                          : !is_account_only(row));
  if (!is_ours) return nothing_of(known);
  if (!row.peak_used_bytes || *row.peak_used_bytes < known.used_bytes) return {};
  return {answer::bytes, *row.peak_used_bytes, row.backend};
}

process_peaks::told process_peaks::ask(const question& asked, std::uint32_t pid,
                                       const seen& known) {
  try {
    return judge(asked, asked.in.library().usage(asked.device_index, pid), known);
  } catch (const hypomnesis::error& why) {
    return why.status() == status_code::no_process ? nothing_of(known) : told();
  }
}

kept_peak process_peaks::end(const question& asked) const {
  kept_peak out;
  const auto uses = [](const auto& each) { return each.second.has_used; };
  const bool was_used = std::any_of(all_.begin(), all_.end(), uses);
  const bool has_accounts = std::any_of(all_.begin(), all_.end(),
                                        [](const auto& each) { return each.second.has_account; });
  out.why = no_accounts;
  if (was_used && !has_accounts) return out;
  bool is_whole = !is_partial_;
  std::size_t idle = 0;
  const std::size_t most_idle = has_accounts ? most_idle_asked : most_idle_tried;
  for (auto each = all_.begin(); each != all_.end() && is_whole; ++each) {
    const auto& [pid, known] = *each;
    const bool is_asked =
        (known.has_used || ++idle <= most_idle) && std::chrono::steady_clock::now() < asked.until;
    const told one = is_asked ? ask(asked, pid, known) : told();
    is_whole = one.what != answer::unknown;
    if (one.what != answer::bytes) continue;
    ++out.processes;
    out.backend = one.backend;
    out.largest_bytes = std::max(out.largest_bytes.value_or(0), one.bytes);
  }
  if (is_whole) return out;
  out.largest_bytes.reset();
  if (has_accounts || out.processes > 0) out.why = not_all;
  return out;
}

}  // namespace hmn::cli
