// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/reason.hpp"

#include <algorithm>

#include "core/answer.hpp"
#include "core/usable.hpp"

namespace hmn {
namespace {

constexpr int of_this_subject = 2;

bool concerns_field(const diagnostic& d, FieldSet field) noexcept {
  if (d.about == subject::metrics) return d.field == field;
  const bool is_usable = d.about == subject::pools && field == pool_field::usable;
  return (d.field & (is_usable ? field | pool_field::free : field)) != 0;
}

// Returns how well a diagnostic of the device, or of none, explains the missing field; 0: not at
// all.
int relevance(const snapshot_diagnostic& each, std::uint32_t about, const device& of,
              FieldSet field) noexcept {
  const diagnostic& d = each.value;
  const bool is_of_process = d.pid && d.about != subject::self;
  if ((d.notes & note::trace) != 0 || d.why.code == status::ok || is_of_process) return 0;
  const bool is_of_all = d.field == 0;
  if (!is_of_all && !(d.about == about && concerns_field(d, field))) return 0;
  // What is unattributed follows from the list of the device's processes.
  const bool is_rest = about == subject::pools && field == pool_field::unattributed;
  if (is_rest && d.about == subject::processes && each.device_index) return of_this_subject;
  if (d.about == about) return (each.device_index ? 4 : of_this_subject) + (is_of_all ? 0 : 1);
  return d.about == subject::devices && d.why.from == of.from ? 1 : 0;
}

}  // namespace

failure reason_of_state(const device& of) {
  switch (of.state) {
    case state::asleep:
      return {status::asleep, of.from, {}, "the device is asleep"};
    case state::lost:
      return {status::device_lost, of.from, {}, "the device is gone"};
    case state::hung:
      return answered_too_late(of.from);
    case state::unreadable:
      return {status::backend, of.from, {}, "the device cannot be read"};
    default:
      return {status::unsupported, of.from, {}, "not supported by this device or driver"};
  }
}

const snapshot_diagnostic* find_reason(const snapshot& from, std::uint32_t about, const device& of,
                                       FieldSet field) noexcept {
  const snapshot_diagnostic* best = nullptr;
  int highest = 1;
  for (const std::size_t device : {std::size_t{0}, std::size_t{of.index} + 1}) {
    std::uint32_t n = device < from.why->latest.size() ? from.why->latest[device] : 0;
    while (n != 0) {
      const snapshot_diagnostic& each = from.why->diagnostics[n - 1];
      n = each.before;
      const int its = relevance(each, about, of, field);
      if (its < highest) continue;  // of equals the first wins, which comes last here
      best = &each;
      highest = its;
    }
  }
  return best;
}

const diagnostic* find_reason(const std::vector<diagnostic>& from, std::uint32_t about,
                              FieldSet field) noexcept {
  const auto found = std::ranges::find_if(
      from, [&](const diagnostic& d) { return d.about == about && concerns_field(d, field); });
  return found == from.end() ? nullptr : &*found;
}

snapshot_diagnostic reason_for(const snapshot& from, std::uint32_t about, const device& of,
                               FieldSet field) {
  if ((from.postponed & about) != 0) {
    return {{failed(status::empty, "not read at this interval of the sampler"),
             0,
             about,
             field,
             {},
             {},
             {}},
            of.index};
  }
  const snapshot_diagnostic* const known = find_reason(from, about, of, field);
  const bool is_direct = known != nullptr && relevance(*known, about, of, field) >= of_this_subject;
  const bool has_state = of.state != state::ready && of.state != state::unknown;
  if (known != nullptr && (is_direct || !has_state)) return *known;
  const pool* const main = from.find_pool(of.index, pool_kind::main);
  const bool is_of_main = about == subject::pools && field == pool_field::usable && main != nullptr;
  failure why = is_of_main ? why_not_usable(*main, of) : reason_of_state(of);
  return {{why, 0, about, field, {}, {}, {}}, of.index};
}

namespace {

failure why_without_device(const snapshot& from, std::uint32_t about) {
  const auto found =
      std::ranges::find_if(from.why->diagnostics, [about](const snapshot_diagnostic& each) {
        const diagnostic& d = each.value;
        return d.about == about && (d.notes & note::trace) == 0 && d.why.code != status::ok;
      });
  if (found != from.why->diagnostics.end()) return found->value.why;
  return failed(status::unsupported, "not supported by this system");
}

}  // namespace

failure why_empty(const snapshot& from, std::uint32_t about, const device* of) {
  if (((from.collect | from.postponed) & about) == 0) {
    return failed(status::empty, "the snapshot was taken without it");
  }
  failure why =
      of != nullptr ? reason_for(from, about, *of, 0).value.why : why_without_device(from, about);
  why.stated = reason_for(why);
  why.code = status::empty;
  return why;
}

}  // namespace hmn
