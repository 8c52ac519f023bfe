// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/inspect.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/text/diagnostics.hpp"

namespace hmn::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds usual_patience(2000);

hypomnesis::context_options options_of(const session_settings& asked) {
  using hypomnesis::context_flag;
  hypomnesis::context_options out;
  out.flags = context_flag::environment;
  if (asked.trace) out.flags |= context_flag::trace;
  if (asked.record) out.flags |= context_flag::record;
  out.deadline = milliseconds(asked.deadline_ms != 0 ? asked.deadline_ms : asked.timeout_ms);
  out.open_deadline = milliseconds(asked.timeout_ms);
  return out;
}

failure refused(const std::string& machine, std::string_view why) {
  return failed(fmt::format("--machine \"{}\": {}", machine, why));
}

// Returns why a machine file is malformed. A reading of a process that it does not describe is not
// counted.
std::optional<std::string> why_malformed(const hypomnesis::context& in) {
  constexpr auto no_process = std::numeric_limits<std::uint32_t>::max();
  try {
    in.process_memory(no_process, hypomnesis::process_memory_field::resident);
  } catch (const hypomnesis::error& why) {
    if (why.status() == hypomnesis::status_code::argument) return why.what();
  }
  return std::nullopt;
}

}  // namespace

session::session(const session_settings& asked)
    : library_(options_of(asked)),
      ends_(clock::now() + milliseconds(asked.timeout_ms)),
      has_timeout_(asked.has_timeout),
      is_traced_(asked.trace),
      is_simulated_(!asked.machine.empty() || environment_value("HMN_SIMULATION").has_value()) {}

expected<session> session::open(const session_settings& asked) {
  session opened(asked);
  // An absent driver is no failure of the library; an unusable file named by the user is one.
  if (!asked.machine.empty()) {
    if (const auto why = why_unreadable(asked.machine)) return refused(asked.machine, *why);
    try {
      opened.library_.set_path(hypomnesis::path_kind::simulation, absolute_path(asked.machine));
    } catch (const hypomnesis::error& why) {
      return refused(asked.machine, why.what());
    }
  }
  if (!opened.is_simulated_)
    advice_in_notice = why_drivers_are_slow();
  else if (const auto why = why_malformed(opened.library_))
    return failed(*why);
  return opened;
}

milliseconds session::time_left() const {
  const auto left = std::chrono::duration_cast<milliseconds>(ends_ - clock::now());
  return std::max(left, milliseconds(1));
}

milliseconds session::patience() const {
  if (has_timeout_) return time_left();
  return std::min(time_left(), std::max(usual_patience, 2 * listing_));
}

hypomnesis::snapshot session::list(hypomnesis::part with) const {
  const auto begun = clock::now();
  hypomnesis::snapshot_options what;
  what.collect = with | hypomnesis::part::devices;
  what.deadline = time_left();
  auto found = library_.take(what);
  listing_ = std::chrono::duration_cast<milliseconds>(clock::now() - begun);
  return found;
}

hypomnesis::snapshot session::take(hypomnesis::snapshot_options what, milliseconds used) const {
  constexpr milliseconds least(200);
  const auto whole = patience();
  what.deadline = std::min(whole, std::max(whole - used, least));
  return library_.take(what);
}

hypomnesis::snapshot session::take_briefly(hypomnesis::snapshot_options what) const {
  constexpr milliseconds moment(250);
  what.deadline = std::min(patience(), std::max(moment, 2 * listing_));
  return library_.take(what);
}

hypomnesis::snapshot session::collect(const hypomnesis::snapshot_options& what) const {
  using hypomnesis::part;
  const waiting_notice notice;
  auto first = list(what.collect & (part::memory | part::system));
  if (is_traced_) print_trace(first);
  if (first.info().device_count == 0 && what.collect != everything) return first;
  if ((what.collect & ~(part::memory | part::system | part::devices)) == part{}) return first;
  auto whole = take(what);
  if (is_traced_) print_trace(whole);
  return whole;
}

std::optional<hypomnesis::backend_info> session::backend(hypomnesis::backend_id which) const {
  return attempt([&] { return library_.backend(which); });
}

std::optional<bool> session::has_ended(std::uint32_t pid) const {
  using hypomnesis::status_code;
  try {
    library_.process_memory(pid, hypomnesis::process_memory_field::resident);
  } catch (const hypomnesis::error& why) {
    if (why.status() == status_code::no_source) return std::nullopt;
    return why.status() == status_code::no_process;
  }
  return false;
}

std::optional<hypomnesis::backend_info> session::simulation() const {
  using hypomnesis::run_state;
  auto info = backend(hypomnesis::backend_id::simulated);
  if (info && (info->state == run_state::off || info->state == run_state::unknown)) info.reset();
  return info;
}

}  // namespace hmn::cli
