// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/reason.hpp"

#include <algorithm>

#include "core/answer.hpp"
#include "core/usable.hpp"

namespace hmn {
namespace {

constexpr int subject_relevance = 2;

bool concerns_field(const Diagnostic& diagnostic, FieldSet field) noexcept {
  if (diagnostic.subject == subject::metrics) {
    const auto instance = missing_metric_instance(diagnostic.field);
    return missing_metric_id(diagnostic.field) == missing_metric_id(field) &&
           (!instance || instance == missing_metric_instance(field));
  }
  const bool is_usable = diagnostic.subject == subject::pools && field == pool_field::usable;
  return (diagnostic.field & (is_usable ? field | pool_field::free : field)) != 0;
}

bool concerns_pool(const Diagnostic& diagnostic, const ReasonKey& key) noexcept {
  return !diagnostic.pool || !key.pool || *diagnostic.pool == *key.pool;
}

bool concerns_process(const Diagnostic& diagnostic, const ReasonKey& key) noexcept {
  return !diagnostic.pid || diagnostic.subject == subject::self || diagnostic.pid == key.pid;
}

// Returns how well a diagnostic of the device, or of none, explains the missing field; 0: not at
// all.
int rate_relevance(const SnapshotDiagnostic& entry, const ReasonKey& key,
                   const Device* owner) noexcept {
  const Diagnostic& diagnostic = entry.value;
  if ((diagnostic.notes & note::trace) != 0 || diagnostic.failure.code == Status::ok) return 0;
  if (!concerns_process(diagnostic, key) || !concerns_pool(diagnostic, key)) return 0;
  const bool is_about_all_fields = diagnostic.field == 0;
  if (!is_about_all_fields &&
      !(diagnostic.subject == key.subject && concerns_field(diagnostic, key.field)))
    return 0;
  // Unattributed memory is computed from the list of the device's processes.
  const bool is_unattributed =
      key.subject == subject::pools && key.field == pool_field::unattributed;
  if (is_unattributed && diagnostic.subject == subject::processes && entry.device_index)
    return subject_relevance;
  if (diagnostic.subject == key.subject) {
    return (entry.device_index ? 4 : subject_relevance) + (is_about_all_fields ? 0 : 1);
  }
  return diagnostic.subject == subject::devices && owner != nullptr &&
                 diagnostic.failure.source == owner->source
             ? 1
             : 0;
}

}  // namespace

Failure state_failure(const Device& device) {
  switch (device.state) {
    case State::asleep:
      return {Status::asleep, device.source, {}, "the device is asleep"};
    case State::lost:
      return {Status::device_lost, device.source, {}, "the device is gone"};
    case State::hung:
      return timeout_failure(device.source);
    case State::unreadable:
      return {Status::backend, device.source, {}, "the device cannot be read"};
    default:
      return {Status::unsupported, device.source, {}, "not supported by this device or driver"};
  }
}

const SnapshotDiagnostic* find_reason(const Snapshot& snapshot, const ReasonKey& key,
                                      const Device* owner) noexcept {
  const SnapshotDiagnostic* best = nullptr;
  int best_score = 1;
  const auto search = [&](std::size_t list) {
    std::uint32_t position =
        list < snapshot.explanations->latest.size() ? snapshot.explanations->latest[list] : 0;
    while (position != 0) {
      const SnapshotDiagnostic& entry = snapshot.explanations->diagnostics[position - 1];
      position = entry.previous;
      const int score = rate_relevance(entry, key, owner);
      if (score < best_score) continue;  // among equals the first one wins, which is visited last
      best = &entry;
      best_score = score;
    }
  };
  search(0);
  if (owner != nullptr) search(std::size_t{owner->index} + 1);
  return best;
}

const Diagnostic* find_reason(const std::vector<Diagnostic>& diagnostics, std::uint32_t subject,
                              FieldSet field) noexcept {
  const auto it = std::ranges::find_if(diagnostics, [&](const Diagnostic& diagnostic) {
    return diagnostic.subject == subject && concerns_field(diagnostic, field);
  });
  return it == diagnostics.end() ? nullptr : &*it;
}

namespace {

Failure explain_missing(const Snapshot& snapshot, const ReasonKey& key, const Device* owner) {
  if ((snapshot.postponed & key.subject) != 0) {
    return make_failure(Status::empty, "not read at this interval of the sampler");
  }
  if (owner == nullptr) return make_failure(Status::unsupported, "not supported by this system");
  const bool is_about_main = key.subject == subject::pools && key.field == pool_field::usable;
  const Pool* const main =
      is_about_main ? snapshot.find_pool(owner->index, PoolKind::main) : nullptr;
  const bool is_other_pool = main != nullptr && key.pool && *key.pool != PoolKey{main->kind, 0};
  return main != nullptr && !is_other_pool ? unusable_failure(*main, *owner)
                                           : state_failure(*owner);
}

}  // namespace

SnapshotDiagnostic explain_absence(const Snapshot& snapshot, const ReasonKey& key,
                                   const Device* owner) {
  const SnapshotDiagnostic* const match =
      (snapshot.postponed & key.subject) == 0 ? find_reason(snapshot, key, owner) : nullptr;
  const bool is_direct =
      match != nullptr && rate_relevance(*match, key, owner) >= subject_relevance;
  const bool has_state =
      owner != nullptr && owner->state != State::ready && owner->state != State::unknown;
  if (match != nullptr && (is_direct || !has_state)) return *match;
  Diagnostic diagnostic;
  diagnostic.failure = explain_missing(snapshot, key, owner);
  diagnostic.subject = key.subject;
  diagnostic.field = key.field;
  diagnostic.pool = key.pool;
  if (key.pid != 0) diagnostic.pid = key.pid;
  return {diagnostic, owner != nullptr ? std::optional(owner->index) : std::nullopt};
}

Failure explain_empty(const Snapshot& snapshot, std::uint32_t subject, const Device* device) {
  if (((snapshot.collect | snapshot.postponed) & subject) == 0) {
    return make_failure(Status::empty, "the snapshot was taken without it");
  }
  Failure failure = explain_absence(snapshot, {.subject = subject}, device).value.failure;
  failure.reason = resolve_reason(failure);
  failure.code = Status::empty;
  return failure;
}

}  // namespace hmn
