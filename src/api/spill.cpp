// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t max_episode_capacity = 65536;

Result<void> read_thresholds(const hmn_spill_options* input, SpillSettings& thresholds) {
  hmn_spill_options options{};
  if (Result<void> ok = read_input(input, options); !ok) return ok;
  if (Result<void> ok = check_flags(options.flags); !ok) return ok;
  if (Result<void> ok = check_reserved(options.reserved0); !ok) return ok;
  if (options.episode_capacity > max_episode_capacity) {
    return make_failure(Status::range, {"episode_capacity: ", options.episode_capacity,
                                        " is above ", max_episode_capacity});
  }
  thresholds.dedicated = options.dedicated_threshold_bytes;
  if (options.episode_capacity != 0) thresholds.capacity = options.episode_capacity;
  if (options.growth_bytes != 0) thresholds.growth = options.growth_bytes;
  return {};
}

std::optional<std::uint64_t> value_if_set(hmn_flags flags, hmn_flags bit, std::uint64_t value) {
  return (flags & bit) != 0 ? std::optional(value) : std::nullopt;
}

Result<void> read_sample(const hmn_spill_sample* input, SpillSample& out) {
  if (input == nullptr) return make_null_failure("sample is NULL");
  hmn_spill_sample sample{};
  if (Result<void> ok = read_input(input, sample); !ok) return ok;
  constexpr hmn_flags known_flags = HMN_SPILL_SAMPLE_HAS_LIMIT | HMN_SPILL_SAMPLE_HAS_EVICTED;
  if (Result<void> ok = check_flags(sample.flags, known_flags); !ok) return ok;
  out.limit = value_if_set(sample.flags, HMN_SPILL_SAMPLE_HAS_LIMIT, sample.limit_bytes);
  out.evicted = value_if_set(sample.flags, HMN_SPILL_SAMPLE_HAS_EVICTED, sample.evicted_bytes);
  if (!out.limit && sample.limit_bytes != 0) {
    return make_failure(Status::argument,
                        {"limit_bytes: ", sample.limit_bytes, " is set without its flag"});
  }
  if (!out.evicted && sample.evicted_bytes != 0) {
    return make_failure(Status::argument,
                        {"evicted_bytes: ", sample.evicted_bytes, " is set without its flag"});
  }
  out.monotonic_ns = sample.monotonic_ns != 0 ? sample.monotonic_ns : platform::monotonic_ns();
  out.dedicated = sample.dedicated_bytes;
  out.shared = sample.shared_bytes;
  return {};
}

Result<void> check_spill(hmn_spill* handle) {
  return check_handle(handle, "spill detector");
}

hmn_status run_with_spill(hmn_spill* handle, hmn_error* error,
                          FunctionRef<Result<void>(Spill&)> body) noexcept {
  return run_guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_spill(handle); !ok) return ok;
    return body(object(handle));
  });
}

std::string_view label_or_empty(const char* label) noexcept {
  return label != nullptr ? label : "";
}

void copy_totals(const SpillTotals& totals, hmn_spill_info& out) {
  out.state = (totals.observations != 0 ? hmn_flags{HMN_SPILL_STATE_MEASURABLE} : 0U) |
              (totals.rules != 0 ? hmn_flags{HMN_SPILL_STATE_NOW} : 0U) |
              (totals.episodes != 0 ? hmn_flags{HMN_SPILL_STATE_EVER} : 0U);
  out.rules = totals.rules;
  out.observation_count = totals.observations;
  out.episode_count = totals.episodes;
  out.total_ns = totals.total_ns;
  hmn_fields& present = out.present;
  set_if_known(present, HMN_SPILL_INFO_HAS_LIMIT, out.limit_bytes, totals.limit);
  set_if_known(present, HMN_SPILL_INFO_HAS_EVICTED, out.evicted_bytes, totals.last.evicted);
  set_if_known(present, HMN_SPILL_INFO_HAS_PEAK_EVICTED, out.peak_evicted_bytes,
               totals.peak_evicted);
  if (totals.peak_evicted) out.baseline_evicted_bytes = totals.baseline_evicted.value_or(0);
  if (totals.observations == 0) return;
  present |= HMN_SPILL_INFO_HAS_OBSERVED;
  out.notes = totals.last.notes;
  out.backend = static_cast<std::uint32_t>(totals.last.source);
  out.dedicated_bytes = totals.last.dedicated;
  out.shared_bytes = totals.last.shared;
  out.peak_dedicated_bytes = totals.peak_dedicated;
  out.peak_shared_bytes = totals.peak_shared;
  out.baseline_shared_bytes = totals.baseline_shared;
  if (totals.episodes == 0) return;
  present |= HMN_SPILL_INFO_HAS_EPISODE;
  out.longest_ns = totals.longest_ns;
  out.longest_episode = totals.longest_episode;
  copy_text(out.first_label, totals.first_label, out.notes);
}

void copy_info(const Spill& spill, hmn_spill_info& out) {
  const SpillReport report = spill.report();
  out.device_index = spill.device_index();
  copy_totals(report.totals, out);
  out.skipped_count = report.skipped_count;
  out.first_episode = report.first_episode;
  out.status = static_cast<hmn_status>(report.failure.code);
  copy_text(out.message, report.failure.message, out.notes);
}

void copy_episode(std::uint64_t number, const SpillEpisode& episode, hmn_episode& out) {
  out.rules = episode.rules;
  out.number = number;
  out.observation_count = episode.observations;
  out.peak_shared_bytes = episode.peak_shared;
  out.start_monotonic_ns = episode.start_ns;
  out.duration_ns = episode.duration_ns();
  set_if_known(out.present, HMN_EPISODE_HAS_PEAK_EVICTED, out.peak_evicted_bytes,
               episode.peak_evicted);
  set_if_known(out.present, HMN_EPISODE_HAS_END, out.end_monotonic_ns, episode.end_ns);
  copy_text(out.start_label, episode.start_label, out.notes);
  copy_text(out.end_label, episode.end_label, out.notes);
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_spill_create(hmn_context* context, uint32_t device_index,
                            const hmn_spill_options* options, hmn_spill** out,
                            hmn_error* error) noexcept {
  clear_out(out);
  return run_guarded(error, [&]() -> Result<void> {
    if (context != nullptr) {
      if (Result<void> ok = check_context(context); !ok) return ok;
    }
    if (out == nullptr) return make_null_failure("out is NULL");
    SpillSettings thresholds;
    if (Result<void> ok = read_thresholds(options, thresholds); !ok) return ok;
    *out = make_handle(std::make_unique<Spill>(
        context != nullptr ? get_shared_context(context) : nullptr, device_index, thresholds));
    return {};
  });
}

void hmn_spill_destroy(hmn_spill* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_spill_observe(hmn_spill* handle, const char* label, hmn_error* error) noexcept {
  return run_with_spill(handle, error, [&](Spill& s) { return s.observe(label_or_empty(label)); });
}

hmn_status hmn_spill_observe_snapshot(hmn_spill* handle, const hmn_snapshot* snapshot,
                                      const char* label, hmn_error* error) noexcept {
  return run_with_spill(handle, error, [&](Spill& spill) -> Result<void> {
    if (snapshot == nullptr) return make_null_failure("snapshot is NULL");
    return spill.observe(object(snapshot), label_or_empty(label));
  });
}

hmn_status hmn_spill_feed(hmn_spill* handle, const hmn_spill_sample* sample, const char* label,
                          hmn_error* error) noexcept {
  return run_with_spill(handle, error, [&](Spill& spill) -> Result<void> {
    SpillSample full_sample;
    if (Result<void> ok = read_sample(sample, full_sample); !ok) return ok;
    spill.feed(full_sample, label_or_empty(label));
    return {};
  });
}

hmn_status hmn_spill_read(hmn_spill* handle, hmn_spill_info* out, hmn_error* error) noexcept {
  return fill(out, error, [&](hmn_spill_info& result) -> Result<void> {
    if (Result<void> ok = check_spill(handle); !ok) return ok;
    copy_info(object(handle), result);
    return {};
  });
}

hmn_status hmn_spill_episode(hmn_spill* handle, uint64_t number, hmn_episode* out,
                             hmn_error* error) noexcept {
  return fill(out, error, [&](hmn_episode& result) -> Result<void> {
    if (Result<void> ok = check_spill(handle); !ok) return ok;
    const std::optional<hmn::SpillEpisode> episode = object(handle).episode(number);
    if (!episode) {
      return make_failure(Status::range,
                          {"number: episode ", number, " has not started yet, or was dropped"});
    }
    copy_episode(number, *episode, result);
    return {};
  });
}
