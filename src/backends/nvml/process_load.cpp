// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/process_load.hpp"

#include <algorithm>

#include "model/plausible.hpp"

namespace hmn::nvml {
namespace {

// The driver samples one to six times per second and may keep old samples: a shorter window misses
// a busy process, a longer one includes the past.
constexpr std::uint64_t look_back_us = 2'000'000;
constexpr unsigned most_samples = 4096;
constexpr unsigned slack = 8;

const process_sample* newest_of(std::span<const process_sample> all, std::uint32_t pid,
                                std::uint64_t since_us) {
  const process_sample* found = nullptr;
  for (const process_sample& s : all) {
    const bool fits = s.pid == pid && s.time_us > since_us;
    if (fits && (found == nullptr || s.time_us > found->time_us)) found = &s;
  }
  return found;
}

}  // namespace

// The first call returns the number; there may be more by the second.
code process_load::ask(const topic& t, const session& s, const known_device& of,
                       std::uint64_t since_us) {
  code c = insufficient_size;
  for (int attempt = 0; attempt < 3 && c == insufficient_size; ++attempt) {
    row_count rows{static_cast<unsigned>(samples_.size())};
    process_sample* const samples = samples_.empty() ? nullptr : samples_.data();
    c = call(t, s.fn.process_use, of.h, samples, &rows, since_us);
    const unsigned count = rows.value;
    if (c == success && samples != nullptr) {
      const bool fits = count <= samples_.size();
      if (fits) samples_.resize(count);
      return fits && std::ranges::all_of(samples_, &process_sample::pid) ? success : unusable;
    }

    if (c == insufficient_size || c == success) {
      if (count == 0) return unusable;
      c = insufficient_size;
      samples_.resize(std::min(count, most_samples) + slack);
    }
  }
  return c;
}

code process_load::read(const topic& t, const session& s, const known_device& of,
                        std::span<usage> rows) {
  constexpr std::uint32_t field = usage_field::busy_percent;
  const char* const name = s.fn.process_use.name();
  if (rows.empty()) return success;
  if (t.r.is_quick()) {
    t.left_out(s.fn.process_use, field);
    return success;
  }
  if (of.mig_on) {
    t.missing(not_offered, name, field);
    return success;
  }
  const std::uint64_t since_us = platform::unix_ns() / ns_per_us - look_back_us;
  samples_.clear();
  const code c = ask(t, s, of, since_us);
  if (c == not_found) samples_.clear();  // nothing was active
  if (c != success && c != not_found) t.missing(c, name, field);
  if (c != success && c != not_found && c != unusable) {
    return c == gpu_is_lost || c == reset_required ? c : success;
  }
  const std::uint64_t now_ns = platform::unix_ns();
  for (usage& row : rows) {
    const process_sample* const sample = newest_of(samples_, row.pid, since_us);
    if (sample == nullptr && c == unusable) continue;  // it may be one that was not written
    if (sample != nullptr) {
      const auto why = doubt_time(source::nvml, "a sample", as_ns(sample->time_us), now_ns);
      if (why) {
        t.of_process(row.pid).diagnose(*why, field);
        continue;
      }
    }
    const std::uint32_t percent = sample != nullptr ? sample->sm : 0;
    row.busy_percent = percent;
    row.window_ns = look_back_us * ns_per_us;
  }
  return success;
}

}  // namespace hmn::nvml
