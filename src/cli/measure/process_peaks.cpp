// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/process_peaks.hpp"

#include <algorithm>

#include "cli/measure/freshness.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::name_status;
using hypomnesis::status_code;

constexpr std::size_t most_kept = 16384;
// Limit of queries for processes never seen on the device: each costs the driver its lists, without
// a result where it keeps no accounts.
constexpr std::size_t most_idle_read = 64;
constexpr std::size_t most_idle_tried = 8;

constexpr const char* no_accounts = "the driver keeps no account of a process's peak";
constexpr const char* not_all = "a process that was seen has no account, or it could not be read";

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
  if (is_fresh(*row)) known.used_bytes = std::max(known.used_bytes, row->used_bytes.value_or(0));
}

// Rejects accounts of another process with the same pid.
process_peaks::account process_peaks::account_in(const request& of, const hypomnesis::usage& row,
                                                 const seen& known) {
  if (!is_fresh(row)) return {};
  const bool may_have_ended =
      row.name_state == name_status::exited || row.name_state == name_status::unknown;
  const bool began_with_command = row.start_unix_ns
                                      ? has_started_by(of.started_unix_ns, *row.start_unix_ns)
                                      : !is_account_only(row);
  if (!began_with_command || !(may_have_ended || is_alive(of.members, row.pid)))
    return none_of(known);
  if (!row.peak_used_bytes || *row.peak_used_bytes < known.used_bytes) return {};
  return {kind::bytes, *row.peak_used_bytes, row.backend, {}};
}

process_peaks::account process_peaks::read(const request& of, std::uint32_t pid,
                                           const seen& known) {
  try {
    return account_in(of, of.in.library().usage(of.device_index, pid), known);
  } catch (const hypomnesis::error& why) {
    if (why.status() == status_code::no_process) return none_of(known);
    account failed;
    if (why.status() != status_code::unsupported) failed.why = why.what();
    return failed;
  }
}

kept_peak process_peaks::end(const request& of) const {
  kept_peak out;
  const auto uses = [](const auto& each) { return each.second.has_used; };
  const bool was_used = std::any_of(all_.begin(), all_.end(), uses);
  const bool has_accounts = std::any_of(all_.begin(), all_.end(),
                                        [](const auto& each) { return each.second.has_account; });
  out.why = no_accounts;
  if (was_used && !has_accounts) return out;
  bool is_whole = !is_partial_;
  std::size_t idle = 0;
  const std::size_t most_idle = has_accounts ? most_idle_read : most_idle_tried;
  for (auto each = all_.begin(); each != all_.end() && is_whole; ++each) {
    const auto& [pid, known] = *each;
    const bool is_read =
        (known.has_used || ++idle <= most_idle) && std::chrono::steady_clock::now() < of.until;
    const account one = is_read ? read(of, pid, known) : account();
    is_whole = one.what != kind::unknown;
    if (!one.why.empty()) out.why = one.why;
    if (one.what != kind::bytes) continue;
    ++out.processes;
    out.backend = one.backend;
    out.largest_bytes = std::max(out.largest_bytes.value_or(0), one.bytes);
  }
  if (is_whole) return out;
  out.largest_bytes.reset();
  if (out.why == no_accounts && (has_accounts || out.processes > 0)) out.why = not_all;
  return out;
}

}  // namespace hmn::cli
