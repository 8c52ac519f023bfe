// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "model/message_text.hpp"

namespace hmn::api {
namespace {

constexpr std::uint32_t largest_episode_capacity = 65536;

Result<void> read_thresholds(const hmn_spill_options* options, SpillThresholds& by) {
  hmn_spill_options o{};
  if (Result<void> ok = read_input(options, o); !ok) return ok;
  if (Result<void> ok = check_flags(o.flags); !ok) return ok;
  if (Result<void> ok = check_reserved(o.reserved0); !ok) return ok;
  if (o.episode_capacity > largest_episode_capacity) {
    return failed(Status::range, {"episode_capacity: ", o.episode_capacity, " is above ",
                                  largest_episode_capacity});
  }
  by.dedicated = o.dedicated_threshold_bytes;
  if (o.episode_capacity != 0) by.capacity = o.episode_capacity;
  if (o.growth_bytes != 0) by.growth = o.growth_bytes;
  return {};
}

std::optional<std::uint64_t> reported(hmn_flags flags, hmn_flags bit, std::uint64_t value) {
  return (flags & bit) != 0 ? std::optional(value) : std::nullopt;
}

Result<void> read_sample(const hmn_spill_sample* given, SpillSample& out) {
  if (given == nullptr) return null_argument("sample is NULL");
  hmn_spill_sample s{};
  if (Result<void> ok = read_input(given, s); !ok) return ok;
  constexpr hmn_flags known = HMN_SPILL_SAMPLE_HAS_LIMIT | HMN_SPILL_SAMPLE_HAS_EVICTED;
  if (Result<void> ok = check_flags(s.flags, known); !ok) return ok;
  out.limit = reported(s.flags, HMN_SPILL_SAMPLE_HAS_LIMIT, s.limit_bytes);
  out.evicted = reported(s.flags, HMN_SPILL_SAMPLE_HAS_EVICTED, s.evicted_bytes);
  if (!out.limit && s.limit_bytes != 0) {
    return failed(Status::argument, {"limit_bytes: ", s.limit_bytes, " is set without its flag"});
  }
  if (!out.evicted && s.evicted_bytes != 0) {
    return failed(Status::argument,
                  {"evicted_bytes: ", s.evicted_bytes, " is set without its flag"});
  }
  out.monotonic_ns = s.monotonic_ns != 0 ? s.monotonic_ns : platform::monotonic_ns();
  out.dedicated = s.dedicated_bytes;
  out.shared = s.shared_bytes;
  return {};
}

Result<void> check_spill(hmn_spill* handle) {
  return check_usable(handle, "spill detector");
}

hmn_status with_spill(hmn_spill* handle, hmn_error* error,
                      FunctionRef<Result<void>(Spill&)> body) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_spill(handle); !ok) return ok;
    return body(object(handle));
  });
}

std::string_view text_of(const char* label) noexcept {
  return label != nullptr ? label : "";
}

void give_totals(const SpillTotals& t, hmn_spill_info& out) {
  out.state = (t.observations != 0 ? hmn_flags{HMN_SPILL_STATE_MEASURABLE} : 0U) |
              (t.rules != 0 ? hmn_flags{HMN_SPILL_STATE_NOW} : 0U) |
              (t.episodes != 0 ? hmn_flags{HMN_SPILL_STATE_EVER} : 0U);
  out.rules = t.rules;
  out.observation_count = t.observations;
  out.episode_count = t.episodes;
  out.total_ns = t.total_ns;
  hmn_fields& has = out.present;
  give(has, HMN_SPILL_INFO_HAS_LIMIT, out.limit_bytes, t.limit);
  give(has, HMN_SPILL_INFO_HAS_EVICTED, out.evicted_bytes, t.last.evicted);
  give(has, HMN_SPILL_INFO_HAS_PEAK_EVICTED, out.peak_evicted_bytes, t.peak_evicted);
  if (t.peak_evicted) out.baseline_evicted_bytes = t.baseline_evicted.value_or(0);
  if (t.observations == 0) return;
  has |= HMN_SPILL_INFO_HAS_OBSERVED;
  out.notes = t.last.notes;
  out.backend = static_cast<std::uint32_t>(t.last.from);
  out.dedicated_bytes = t.last.dedicated;
  out.shared_bytes = t.last.shared;
  out.peak_dedicated_bytes = t.peak_dedicated;
  out.peak_shared_bytes = t.peak_shared;
  out.baseline_shared_bytes = t.baseline_shared;
  if (t.episodes == 0) return;
  has |= HMN_SPILL_INFO_HAS_EPISODE;
  out.longest_ns = t.longest_ns;
  out.longest_episode = t.longest;
  copy_text(out.first_label, t.first_label, out.notes);
}

void copy_info(const Spill& s, hmn_spill_info& out) {
  const SpillReport r = s.report();
  out.device_index = s.device_index();
  give_totals(r.totals, out);
  out.skipped_count = r.skipped;
  out.first_episode = r.first_kept;
  out.status = static_cast<hmn_status>(r.why.code);
  copy_text(out.message, r.why.message, out.notes);
}

void copy_episode(std::uint64_t number, const SpillEpisode& e, hmn_episode& out) {
  out.rules = e.rules;
  out.number = number;
  out.observation_count = e.observations;
  out.peak_shared_bytes = e.peak_shared;
  out.start_monotonic_ns = e.start_ns;
  out.duration_ns = e.duration_ns();
  give(out.present, HMN_EPISODE_HAS_PEAK_EVICTED, out.peak_evicted_bytes, e.peak_evicted);
  give(out.present, HMN_EPISODE_HAS_END, out.end_monotonic_ns, e.end_ns);
  copy_text(out.start_label, e.start_label, out.notes);
  copy_text(out.end_label, e.end_label, out.notes);
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_spill_create(hmn_context* context, uint32_t device_index,
                            const hmn_spill_options* options, hmn_spill** out,
                            hmn_error* error) noexcept {
  clear_out(out);
  return guarded(error, [&]() -> Result<void> {
    if (context != nullptr) {
      if (Result<void> ok = check_context(context); !ok) return ok;
    }
    if (out == nullptr) return null_argument("out is NULL");
    SpillThresholds by;
    if (Result<void> ok = read_thresholds(options, by); !ok) return ok;
    *out = handle_of(
        std::make_unique<Spill>(context != nullptr ? shared(context) : nullptr, device_index, by));
    return {};
  });
}

void hmn_spill_destroy(hmn_spill* handle) noexcept {
  destroy(handle);
}

hmn_status hmn_spill_observe(hmn_spill* handle, const char* label, hmn_error* error) noexcept {
  return with_spill(handle, error, [&](Spill& s) { return s.observe(text_of(label)); });
}

hmn_status hmn_spill_observe_snapshot(hmn_spill* handle, const hmn_snapshot* taken,
                                      const char* label, hmn_error* error) noexcept {
  return with_spill(handle, error, [&](Spill& s) -> Result<void> {
    if (taken == nullptr) return null_argument("snapshot is NULL");
    return s.observe(object(taken), text_of(label));
  });
}

hmn_status hmn_spill_feed(hmn_spill* handle, const hmn_spill_sample* sample, const char* label,
                          hmn_error* error) noexcept {
  return with_spill(handle, error, [&](Spill& s) -> Result<void> {
    SpillSample given;
    if (Result<void> ok = read_sample(sample, given); !ok) return ok;
    s.feed(given, text_of(label));
    return {};
  });
}

hmn_status hmn_spill_read(hmn_spill* handle, hmn_spill_info* out, hmn_error* error) noexcept {
  return fill(out, error, [&](hmn_spill_info& full) -> Result<void> {
    if (Result<void> ok = check_spill(handle); !ok) return ok;
    copy_info(object(handle), full);
    return {};
  });
}

hmn_status hmn_spill_episode(hmn_spill* handle, uint64_t number, hmn_episode* out,
                             hmn_error* error) noexcept {
  return fill(out, error, [&](hmn_episode& full) -> Result<void> {
    if (Result<void> ok = check_spill(handle); !ok) return ok;
    const std::optional<hmn::SpillEpisode> found = object(handle).episode(number);
    if (!found) {
      return failed(Status::range,
                    {"number: episode ", number, " has not started yet, or was dropped"});
    }
    copy_episode(number, *found, full);
    return {};
  });
}
