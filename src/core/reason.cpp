// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/reason.hpp"

#include <algorithm>

#include "core/answer.hpp"
#include "core/usable.hpp"

namespace hmn {
namespace {

constexpr int of_this_subject = 2;

bool concerns_field(const Diagnostic& d, FieldSet field) noexcept {
  if (d.about == subject::metrics) {
    const auto instance = instance_of_missing(d.field);
    return id_of_missing(d.field) == id_of_missing(field) &&
           (!instance || instance == instance_of_missing(field));
  }
  const bool is_usable = d.about == subject::pools && field == pool_field::usable;
  return (d.field & (is_usable ? field | pool_field::free : field)) != 0;
}

bool concerns_pool(const Diagnostic& d, const ReasonKey& key) noexcept {
  return !d.pool || !key.pool || *d.pool == *key.pool;
}

bool concerns_process(const Diagnostic& d, const ReasonKey& key) noexcept {
  return !d.pid || d.about == subject::self || d.pid == key.pid;
}

// Returns how well a diagnostic of the device, or of none, explains the missing field; 0: not at
// all.
int relevance(const SnapshotDiagnostic& each, const ReasonKey& key, const Device* owner) noexcept {
  const Diagnostic& d = each.value;
  if ((d.notes & note::trace) != 0 || d.why.code == Status::ok) return 0;
  if (!concerns_process(d, key) || !concerns_pool(d, key)) return 0;
  const bool is_of_all = d.field == 0;
  if (!is_of_all && !(d.about == key.about && concerns_field(d, key.field))) return 0;
  // What is unattributed follows from the list of the device's processes.
  const bool is_rest = key.about == subject::pools && key.field == pool_field::unattributed;
  if (is_rest && d.about == subject::processes && each.device_index) return of_this_subject;
  if (d.about == key.about) {
    return (each.device_index ? 4 : of_this_subject) + (is_of_all ? 0 : 1);
  }
  return d.about == subject::devices && owner != nullptr && d.why.from == owner->from ? 1 : 0;
}

}  // namespace

Failure reason_of_state(const Device& of) {
  switch (of.state) {
    case State::asleep:
      return {Status::asleep, of.from, {}, "the device is asleep"};
    case State::lost:
      return {Status::device_lost, of.from, {}, "the device is gone"};
    case State::hung:
      return answered_too_late(of.from);
    case State::unreadable:
      return {Status::backend, of.from, {}, "the device cannot be read"};
    default:
      return {Status::unsupported, of.from, {}, "not supported by this device or driver"};
  }
}

const SnapshotDiagnostic* find_reason(const Snapshot& from, const ReasonKey& key,
                                      const Device* owner) noexcept {
  const SnapshotDiagnostic* best = nullptr;
  int highest = 1;
  const auto search = [&](std::size_t place) {
    std::uint32_t n = place < from.why->latest.size() ? from.why->latest[place] : 0;
    while (n != 0) {
      const SnapshotDiagnostic& each = from.why->diagnostics[n - 1];
      n = each.before;
      const int its = relevance(each, key, owner);
      if (its < highest) continue;  // of equals the first wins, which comes last here
      best = &each;
      highest = its;
    }
  };
  search(0);
  if (owner != nullptr) search(std::size_t{owner->index} + 1);
  return best;
}

const Diagnostic* find_reason(const std::vector<Diagnostic>& from, std::uint32_t about,
                              FieldSet field) noexcept {
  const auto found = std::ranges::find_if(
      from, [&](const Diagnostic& d) { return d.about == about && concerns_field(d, field); });
  return found == from.end() ? nullptr : &*found;
}

namespace {

Failure why_missing(const Snapshot& from, const ReasonKey& key, const Device* owner) {
  if ((from.postponed & key.about) != 0) {
    return failed(Status::empty, "not read at this interval of the sampler");
  }
  if (owner == nullptr) return failed(Status::unsupported, "not supported by this system");
  const bool is_of_main = key.about == subject::pools && key.field == pool_field::usable;
  const Pool* const main = is_of_main ? from.find_pool(owner->index, PoolKind::main) : nullptr;
  const bool is_other = main != nullptr && key.pool && *key.pool != PoolKey{main->kind, 0};
  return main != nullptr && !is_other ? why_not_usable(*main, *owner) : reason_of_state(*owner);
}

}  // namespace

SnapshotDiagnostic reason_for(const Snapshot& from, const ReasonKey& key, const Device* owner) {
  const SnapshotDiagnostic* const known =
      (from.postponed & key.about) == 0 ? find_reason(from, key, owner) : nullptr;
  const bool is_direct = known != nullptr && relevance(*known, key, owner) >= of_this_subject;
  const bool has_state =
      owner != nullptr && owner->state != State::ready && owner->state != State::unknown;
  if (known != nullptr && (is_direct || !has_state)) return *known;
  Diagnostic d;
  d.why = why_missing(from, key, owner);
  d.about = key.about;
  d.field = key.field;
  d.pool = key.pool;
  if (key.pid != 0) d.pid = key.pid;
  return {d, owner != nullptr ? std::optional(owner->index) : std::nullopt};
}

Failure why_empty(const Snapshot& from, std::uint32_t about, const Device* of) {
  if (((from.collect | from.postponed) & about) == 0) {
    return failed(Status::empty, "the snapshot was taken without it");
  }
  Failure why = reason_for(from, {.about = about}, of).value.why;
  why.stated = reason_for(why);
  why.code = Status::empty;
  return why;
}

}  // namespace hmn
