// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "backends/amd_tool/source.hpp"
#include "model/compose.hpp"

namespace hmn::amd_tool {

result<void> amd_source::load_processes(reading& r) {
  if (rows_) return *rows_;
  rows_ = load(r);
  if (!*rows_ || d_.processes.empty()) return *rows_;
  now_.processes.clear();
  now_.lists.clear();
  rows_ = put(d_.processes, now_, r);
  return *rows_;
}

result<const card*> amd_source::card_with_processes(slot number, reading& r) {
  if (const auto found = card_of(number, r); !found) return found;
  if (result<void> loaded = load_processes(r); !loaded) return loaded.why();
  return card_of(number, r);
}

// Rows without a card belong to the only one that there is.
bool amd_source::is_of(const process_row& row, const card& c) const {
  if (row.cards == 0) return false;
  return row.card ? *row.card == c.index : now_.cards.size() == 1;
}

usage amd_source::usage_of(const process_row& row, const card& c, slot number, reading& r) const {
  usage u;
  u.pid = row.pid;
  u.from = d_.tool.fail.from;
  u.accounting = accounting::allocated;
  u.kinds = usage_kind::compute;
  if (!d_.processes.empty()) u.kinds.reset();  // amd-smi also lists processes that use graphics
  u.used = row.used;
  u.host_pool = row.host;
  if (row.is_estimated) u.notes |= note::estimated;
  std::string_view flaw = row.flaw;
  reason stated = row.stated;
  const field_amount& total = c[field::vram_total];
  if (u.used && total.has_value() && *u.used > total.whole) {
    u.used.reset();
    flaw = "it prints more memory than the GPU has";
    stated = reason::implausible;
  }
  if (!u.used) {
    if (flaw.empty()) flaw = "it prints no value";
    const bool is_refused = flaw.find("rights") != flaw.npos;
    diagnose_use(with_reason(stated, fail(is_refused ? status::permission : status::unsupported,
                                          {d_.tool.name,
                                           " does not report the memory of this process: ", flaw})),
                 row.pid, number, r);
  }
  // Prefer the host's program name: rocm-smi prints it in lower case.
  if (is_running(row.pid)) return u;
  if (!is_in_initial_pid_namespace()) u.notes |= note::foreign_pid;
  if (row.name.empty()) return u;
  u.name_state = name_state::resolved;
  u.name = row.name.view();
  return u;
}

// Succeeds if the rows of a card are all that use it.
result<void> amd_source::whole_list_of(const card& c) const {
  bool is_listed = d_.processes.empty() && !is_plain_;
  for (const process_list& list : now_.lists) {
    if (list.card.value_or(c.index) != c.index) continue;
    is_listed = true;
    if (list.why == status::ok) continue;
    failure why = fail(
        list.why, {d_.tool.name, " does not list all processes of this GPU: ", list.flaw.view()});
    if (why.code == status::backend) why.stated = reason::not_understood;
    return why;
  }
  if (!is_listed)
    return fail(status::unsupported,
                {d_.tool.name, " prints no list of the processes of this GPU"});
  if (now_.is_truncated)
    return fail(status::limit, {d_.tool.name, " lists more processes than are read"});
  const auto unplaced = std::ranges::count_if(now_.processes, [&](const process_row& row) {
    return !row.card && now_.cards.size() > 1 && row.cards != 0;
  });
  if (unplaced == 0) return {};
  return fail(status::unsupported,
              {d_.tool.name, " does not report on which GPU ", unplaced, " process(es) are"});
}

result<void> amd_source::processes(slot number, std::vector<usage>& out, reading& r) {
  const auto found = card_with_processes(number, r);
  if (!found) return found.why();
  const card& c = **found;
  for (const process_row& row : now_.processes) {
    if (is_of(row, c)) out.push_back(usage_of(row, c, number, r));
  }
  const result<void> whole = whole_list_of(c);
  if (whole) return {};
  if (!out.empty()) diagnose(whole.why(), subject::processes, 0, number, r);
  return mark_incomplete(out, whole.why());
}

result<void> amd_source::process(slot number, std::uint32_t pid, bool, usage& out, reading& r) {
  const auto found = card_with_processes(number, r);
  if (!found) return found.why();
  const card& c = **found;
  const result<void> whole = whole_list_of(c);
  for (const process_row& row : now_.processes) {
    if (row.pid != pid || !is_of(row, c)) continue;
    out = usage_of(row, c, number, r);
    if (!whole) note_incomplete(out);
    return {};
  }
  if (!whole) return whole;
  // Absence proves nothing: in a container the process may be listed under another pid.
  return fail(status::no_process, {d_.tool.name, " lists no process ", pid, " on this GPU"});
}

}  // namespace hmn::amd_tool
