// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/processes.hpp"

#include <algorithm>
#include <utility>

#include "model/compose.hpp"

namespace hmn::nvml {
namespace {

std::uint32_t kind_of(list_kind which) noexcept {
  return which == list_kind::graphics ? usage_kind::graphics : usage_kind::compute;
}

const list_call& call_of(const symbols& fn, list_kind which) noexcept {
  switch (which) {
    case list_kind::mps:
      return fn.mps;
    case list_kind::graphics:
      return fn.graphics;
    case list_kind::compute:
      break;
  }
  return fn.compute;
}

// Whether there is no such list at all.
bool is_absent(code c) noexcept {
  return c == not_supported || has_no_function(c);
}

std::optional<std::uint64_t> sum(std::optional<std::uint64_t> a,
                                 std::optional<std::uint64_t> b) noexcept {
  if (!a || !b || *a > UINT64_MAX - *b) return std::nullopt;
  return *a + *b;
}

std::optional<std::uint64_t> larger(std::optional<std::uint64_t> a,
                                    std::optional<std::uint64_t> b) noexcept {
  return a < b ? b : a;  // absent is less than any value
}

bool is_same_instance(const merged_process& a, const merged_process& b) noexcept {
  return a.gpu_instance == b.gpu_instance && a.compute_instance == b.compute_instance;
}

constexpr std::uint32_t process_fields = usage_field::used | usage_field::allocated;

void set_used(usage& out, std::uint64_t used) noexcept {
  out.used = used;
  out.allocated = used;
}

}  // namespace

bool list_outcome::has(list_kind which) const noexcept {
  const code c = results[static_cast<std::size_t>(which)];
  return c == success || (which == list_kind::mps && is_absent(c));
}

bool list_outcome::complete() const noexcept {
  return missed == 0 &&
         std::ranges::all_of(all_lists, [this](list_kind which) { return has(which); });
}

std::size_t list_outcome::worst() const noexcept {
  std::size_t found = 0;
  for (const list_kind which : all_lists) {
    const auto i = static_cast<std::size_t>(which);
    if (has(which)) continue;
    if (!is_absent(results[i])) return i;
    if (results[found] == success) found = i;
  }
  return found;
}

bool list_outcome::stop_after(list_kind which, code c) noexcept {
  if (!ends_it(c)) return false;
  const auto at = static_cast<std::size_t>(which);
  for (auto i = at + 1; i < results.size(); ++i) {
    results[i] = c;
    names[i] = names[at];
  }
  return true;
}

void process_merge::clear() noexcept {
  rows_.clear();
  lists_ = 0;
}

void process_merge::add(std::span<const listed_process> list, std::uint32_t kind,
                        std::optional<std::uint32_t> pid) {
  for (const listed_process& row : list) {
    if (pid && row.pid != *pid) continue;
    merged_process& p = rows_.emplace_back();
    p.pid = row.pid;
    p.kinds = kind;
    p.gpu_instance = row.gpu_instance;
    p.compute_instance = row.compute_instance;
    if (row.used != value_not_available) p.used = row.used;
    p.list = lists_;
    p.order = static_cast<std::uint32_t>(rows_.size());
  }
  ++lists_;
}

std::span<const merged_process> process_merge::finish() {
  sort_by(&merged_process::pid);
  collapse([](merged_process& p, const merged_process& other) {
    if (p.pid != other.pid || p.list != other.list) return false;
    p.used = is_same_instance(p, other) ? larger(p.used, other.used) : sum(p.used, other.used);
    return true;
  });
  collapse([](merged_process& p, const merged_process& other) {
    if (p.pid != other.pid) return false;
    p.kinds |= other.kinds;
    p.used = larger(p.used, other.used);
    return true;
  });
  sort_by(&merged_process::order);
  return rows_;
}

void process_merge::sort_by(std::uint32_t merged_process::*key) {
  // By the order, too, rather than stable: std::stable_sort takes memory.
  std::ranges::sort(rows_, {},
                    [key](const merged_process& p) { return std::pair(p.*key, p.order); });
}

void process_merge::collapse(join_rule join) {
  std::size_t end = 0;
  for (const merged_process& row : rows_) {
    if (end == 0 || !join(rows_[end - 1], row)) rows_[end++] = row;
  }
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(end), rows_.end());
}

code process_reader::read_list(const topic& t, session& s, const known_device& of, list_kind which,
                               list_outcome& outcome) {
  const auto i = static_cast<std::size_t>(which);
  const list_call& from = call_of(s.fn, which);
  outcome.names[i] = from.name();
  outcome.results[i] = list_.read(t, from, of.h, s.row_size[i]);
  outcome.missed += list_.missed();
  return outcome.results[i];
}

list_outcome process_reader::read(const topic& t, session& s, const known_device& of) {
  list_outcome outcome;
  merge_.clear();
  rows_ = {};
  for (const list_kind which : all_lists) {
    const code c = read_list(t, s, of, which, outcome);
    merge_.add(list_.rows(), kind_of(which));
    if (outcome.stop_after(which, c)) break;
  }
  rows_ = merge_.finish();
  return outcome;
}

list_outcome process_reader::find(const topic& t, session& s, const known_device& of,
                                  std::uint32_t pid, std::optional<merged_process>& found) {
  list_outcome outcome;
  merge_.clear();
  rows_ = {};
  for (const list_kind which : all_lists) {
    if (found) {
      outcome.results[static_cast<std::size_t>(which)] = success;
      continue;
    }
    const code c = read_list(t, s, of, which, outcome);
    found = find_in_list(pid, kind_of(which));
    if (!found) merge_.add(list_.rows(), kind_of(which));
    if (outcome.stop_after(which, c)) break;
  }
  return outcome;
}

std::optional<merged_process> process_reader::find_in_list(std::uint32_t pid, std::uint32_t kind) {
  one_.clear();
  one_.add(list_.rows(), kind, pid);
  const auto rows = one_.finish();
  if (rows.empty()) return std::nullopt;
  return rows.front();
}

void fill_usage(const topic& t, const known_device& of, const merged_process& from, usage& out) {
  out.pid = from.pid;
  out.from = source::nvml;
  out.accounting = accounting::allocated;
  out.kinds = from.kinds;
  if (from.gpu_instance != no_instance && from.compute_instance != no_instance) {
    out.instance = mig_instance{from.gpu_instance, from.compute_instance};
  } else {
    out.instance = of.identity.instance;
  }
  if (!from.used) {
    t.of_process(from.pid).report(
        status::unsupported, {"the driver lists the process without its memory"}, process_fields);
  } else {
    set_used(out, *from.used);
  }
}

void fill_zero(std::uint32_t pid, usage& out) noexcept {
  out.pid = pid;
  out.from = source::nvml;
  out.accounting = accounting::allocated;
  set_used(out, 0);
}

void diagnose_lists(const topic& t, const list_outcome& outcome, std::uint32_t fields) {
  if (!t.wants()) return;
  for (const list_kind which : all_lists) {
    const auto i = static_cast<std::size_t>(which);
    if (!outcome.has(which)) t.missing(outcome.results[i], outcome.names[i], fields);
  }
  if (outcome.missed == 0) return;
  t.report(status::limit, {outcome.missed, " more processes are listed than can be read"}, fields,
           reason::unknown, note::partial);
}

}  // namespace hmn::nvml
