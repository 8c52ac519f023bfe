// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/spill_reading.hpp"

#include <algorithm>

#include "core/reason.hpp"
#include "model/compose.hpp"

namespace hmn {
namespace {

failure because(status code, source from, const char* message) {
  return {code, from, {}, message};
}

// Totals over the processes that use a device.
struct rows {
  std::uint32_t count = 0;
  bool lack_evicted = false;
  bool lack_host = false;
  std::optional<std::uint64_t> evicted;
  std::optional<std::uint64_t> host;  // includes device memory outside it

  static void add(std::optional<std::uint64_t>& to, bool& lacks, std::optional<std::uint64_t> part,
                  std::uint64_t repeated) noexcept {
    if (part) {
      std::uint64_t sum = 0;
      const bool fits =
          !__builtin_add_overflow(to.value_or(0), *part - std::min(*part, repeated), &sum);
      to = fits ? sum : UINT64_MAX;
    }
    lacks = lacks || !part;
  }
  void add(const usage& u) noexcept {
    ++count;
    add(evicted, lack_evicted, u.evicted, u.repeated.evicted);
    std::uint64_t repeated = u.repeated.host_pool;
    std::optional<std::uint64_t> away = u.host_pool;
    // i915 counts an evicted buffer in its own region, as not resident.
    if (away && !u.evicted && u.committed && u.resident && *u.committed > *u.resident) {
      *away += *u.committed - *u.resident;
      repeated += u.repeated.not_resident;
    }
    add(host, lack_host, away, repeated);
  }
};

rows rows_of(const snapshot& from, std::uint32_t index) {
  rows all;
  for (const usage& u : of_device(from.usages, index)) {
    if (!is_stale(u.notes)) all.add(u);
  }
  return all;
}

constexpr std::uint32_t any_field = ~std::uint32_t{0};

failure reason_or(const snapshot& from, const device& of, std::uint32_t about,
                  const failure& otherwise) {
  const std::uint32_t field = about == subject::pools ? pool_field::used : any_field;
  const snapshot_diagnostic* const known = find_reason(from, about, of, field);
  return known != nullptr ? known->value.why : otherwise;
}

struct subject_of_spill {
  const snapshot& from;
  std::uint32_t index;
  const device& who;
  const pool& main;
  const pool* host;

  [[nodiscard]] bool has_host() const noexcept { return host != nullptr && host->used; }
};

// Returns why spilling can never occur or be detected here; nullptr if it can.
const char* why_never(const subject_of_spill& s) noexcept {
  if (s.main.kind != pool_kind::vram || s.who.memory_kind == memory_kind::unified) {
    return "the device allocates from the host's RAM: it has no memory of its own that could spill";
  }
  if (s.who.vendor != vendor::nvidia || s.host != nullptr) return nullptr;
  return "NVIDIA's driver does not move device memory to the host here, an allocation fails "
         "instead; managed-memory migration is not reported";
}

result<spill_sample> sample_of(const subject_of_spill& s, const rows& all) {
  const auto reason = [&](const char* otherwise) {
    return reason_or(s.from, s.who, subject::pools,
                     because(status::unsupported, s.main.from, otherwise));
  };
  if (is_stale(s.main.notes)) return reason("the device's values are old");
  if (!s.main.used) return reason("used memory is not reported by the driver");
  spill_sample out;
  out.monotonic_ns = s.from.monotonic_ns;
  out.from = s.main.from;
  out.notes = s.main.notes;
  out.dedicated = *s.main.used;
  out.limit = s.main.total;
  // Committed memory of Windows processes does not show its location.
  const bool rows_count = s.host == nullptr || s.host->from != source::dxgi;
  if (s.has_host()) {
    out.shared = *s.host->used;
    out.notes |= s.host->notes;
  } else if (all.host && rows_count) {
    out.shared = *all.host;
    if (all.lack_host) out.notes |= note::lower_bound;
  } else if (rows_count && (s.from.collect & subject::processes) != 0 && all.count == 0) {
    return reason_or(s.from, s.who, subject::processes,
                     because(status::empty, s.main.from,
                             "the driver reports the host memory of processes only, and none uses "
                             "the device"));
  } else {
    return reason("host memory of the device is not reported by the driver");
  }
  out.evicted = all.evicted;
  if (all.evicted && (all.lack_evicted || s.from.unreadable_processes > 0)) {
    out.notes |= note::lower_bound;
  }
  out.is_idle = all.count == 0 && (s.from.collect & subject::processes) != 0 &&
                find_reason(s.from, subject::processes, s.who, any_field) == nullptr;
  return out;
}

}  // namespace

spill_reading spill_reading_of(const snapshot& from, std::uint32_t index) {
  const snapshot_device* const found = from.device_by_index(index);
  if (found == nullptr) return {snapshot::no_device(index)};
  const device& who = *found->identity;
  const pool* const main = from.main_pool(index);
  if (main == nullptr) {
    return {reason_or(from, who, subject::pools,
                      because(who.state == state::asleep ? status::asleep : status::empty, who.from,
                              "the device's memory was not read"))};
  }
  const subject_of_spill s{from, index, who, *main, from.find_pool(index, pool_kind::host)};
  if (const char* const never = why_never(s)) {
    return {because(status::unsupported, main->from, never), true, false};
  }
  const rows all = rows_of(from, index);
  spill_reading out{sample_of(s, all)};
  out.needs_processes =
      !s.has_host() || all.count == 0 || all.evicted || from.unreadable_processes > 0;
  return out;
}

}  // namespace hmn
