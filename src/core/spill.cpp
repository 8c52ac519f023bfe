// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/spill.hpp"

#include <algorithm>
#include <utility>

#include "core/reason.hpp"
#include "model/message_text.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void raise_peak(std::optional<std::uint64_t>& peak, std::optional<std::uint64_t> value) noexcept {
  if (value) peak = std::max(peak.value_or(0), *value);
}

// Tests against 85 % of the limit by default; a limit below 100 bytes disables the rule.
bool is_full(const SpillSample& s, std::uint64_t threshold) noexcept {
  if (threshold == 0) threshold = s.limit.value_or(0) / 100 * 85;
  return threshold != 0 && s.dedicated >= threshold;
}

}  // namespace

std::uint32_t SpillHistory::rules_of(const SpillSample& s) const noexcept {
  std::uint32_t rules = 0;
  if (is_full(s, by_.dedicated) && s.shared >= saturating_sum(all_.baseline_shared, by_.growth)) {
    rules |= spill_rule::shared;
  }
  if (s.evicted && *s.evicted >= saturating_sum(*all_.baseline_evicted, by_.growth)) {
    rules |= spill_rule::evicted;
  }
  return rules;
}

void SpillHistory::note(const SpillSample& s) {
  if (all_.observations++ == 0) all_.baseline_shared = s.shared;
  if (!all_.baseline_evicted && s.is_idle) all_.baseline_evicted = 0;
  if (!all_.baseline_evicted) all_.baseline_evicted = s.evicted;
  if (s.limit) all_.limit = s.limit;
  all_.last = s;
  all_.peak_dedicated = std::max(all_.peak_dedicated, s.dedicated);
  all_.peak_shared = std::max(all_.peak_shared, s.shared);
  raise_peak(all_.peak_evicted, s.evicted);
}

void SpillHistory::open(const SpillSample& s, const SpillLabel& label) {
  SpillEpisode fresh;
  fresh.start_ns = fresh.last_ns = s.monotonic_ns;
  fresh.start_label = label;
  if (kept_.size() < by_.capacity) {
    kept_.push_back(fresh);
  } else {
    kept_[place_of(all_.episodes)] = fresh;
  }
  if (all_.episodes++ == 0) all_.first_label = label;
}

void SpillHistory::extend(const SpillSample& s) {
  SpillEpisode& e = last();
  const std::uint64_t now = std::max(s.monotonic_ns, e.last_ns);
  all_.total_ns += now - e.last_ns;
  e.last_ns = now;
  e.rules |= all_.rules;
  ++e.observations;
  e.peak_shared = std::max(e.peak_shared, s.shared);
  raise_peak(e.peak_evicted, s.evicted);
  if (e.duration_ns() <= all_.longest_ns) return;
  all_.longest_ns = e.duration_ns();
  all_.longest = all_.episodes - 1;
}

void SpillHistory::add(const SpillSample& s, const SpillLabel& label) {
  const bool was_open = all_.rules != 0;
  // Reserve first, the only step that can fail.
  if (kept_.size() == kept_.capacity()) kept_.reserve(std::max(std::size_t{8}, 2 * kept_.size()));
  note(s);
  all_.rules = rules_of(s);
  if (all_.rules != 0) {
    if (!was_open) open(s, label);
    extend(s);
  } else if (was_open) {
    last().end_ns = std::max(s.monotonic_ns, last().last_ns);
    last().end_label = label;
  }
}

const SpillEpisode* SpillHistory::episode(std::uint64_t number) const noexcept {
  if (number >= all_.episodes || number < first_kept()) return nullptr;
  return &kept_[place_of(number)];
}

namespace {

Failure because(Status code, Source from, const char* message) {
  return {code, from, {}, message};
}

// Totals over the processes that use a device.
struct Rows {
  std::uint32_t count = 0;
  bool lack_evicted = false;
  bool lack_host = false;
  std::optional<UsageSum> evicted;
  std::optional<UsageSum> host;
  std::optional<UsageSum> outside;  // device memory that is not in the device, and not in `host`

  // Returns what is in the host's RAM, none of which may be shared between the two.
  [[nodiscard]] std::uint64_t away() const noexcept {
    return saturating_sum(host->at_least(), outside ? outside->at_least() : 0);
  }
  [[nodiscard]] bool is_exact() const noexcept {
    return !lack_host && host->is_exact() && (!outside || outside->is_exact());
  }

  // `part` of a row, or the sum over its clients.
  static void add(std::optional<UsageSum>& to, bool& lacks, std::optional<std::uint64_t> part,
                  const UsageSum* clients) noexcept {
    lacks = lacks || !part;
    if (!part) return;
    if (!to) to.emplace();
    if (clients != nullptr) {
      to->add(*clients);
    } else {
      to->add(*part, {}, true);
    }
  }
  void add(const Usage& u) noexcept {
    ++count;
    const Usage::ClientTotals* const of = u.clients ? &*u.clients : nullptr;
    add(evicted, lack_evicted, u.evicted, of != nullptr ? &of->evicted : nullptr);
    add(host, lack_host, u.host_pool, of != nullptr ? &of->host_pool : nullptr);
    // i915 counts an evicted buffer in its own region, as not resident.
    if (u.host_pool && !u.evicted && u.committed && u.resident && *u.committed > *u.resident) {
      add(outside, lack_host, *u.committed - *u.resident,
          of != nullptr ? &of->not_resident : nullptr);
    }
  }
};

Rows rows_of(const Snapshot& from, std::uint32_t index) {
  Rows all;
  for (const Usage& u : of_device(from.usages, index)) {
    if (!is_stale(u.notes)) all.add(u);
  }
  return all;
}

constexpr FieldSet any_field = ~FieldSet{0};

Failure reason_or(const Snapshot& from, const Device& of, std::uint32_t about,
                  const Failure& otherwise) {
  const FieldSet field = about == subject::pools ? pool_field::used : any_field;
  const SnapshotDiagnostic* const known = find_reason(from, {.about = about, .field = field}, &of);
  return known != nullptr ? known->value.why : otherwise;
}

struct SubjectOfSpill {
  const Snapshot& from;
  std::uint32_t index;
  const Device& who;
  const Pool& main;
  const Pool* host;

  [[nodiscard]] bool has_host() const noexcept { return host != nullptr && host->used; }
};

// Returns why spilling can never occur or be detected here; nullptr if it can.
const char* why_never(const SubjectOfSpill& s) noexcept {
  if (s.main.kind != PoolKind::vram || s.who.memory_kind == MemoryKind::unified) {
    return "the device allocates from the host's RAM: it has no memory of its own that could spill";
  }
  if (s.who.vendor != vendor::nvidia || s.host != nullptr) return nullptr;
  return "NVIDIA's driver does not move device memory to the host here, an allocation fails "
         "instead; managed-memory migration is not reported";
}

Result<SpillSample> sample_of(const SubjectOfSpill& s, const Rows& all) {
  const auto reason = [&](const char* otherwise) {
    return reason_or(s.from, s.who, subject::pools,
                     because(Status::unsupported, s.main.from, otherwise));
  };
  if (is_stale(s.main.notes)) return reason("the device's values are old");
  if (!s.main.used) return reason("used memory is not reported by the driver");
  SpillSample out;
  out.monotonic_ns = s.from.monotonic_ns;
  out.from = s.main.from;
  out.notes = s.main.notes;
  out.dedicated = *s.main.used;
  out.limit = s.main.total;
  // Committed memory of Windows processes does not show its location.
  const bool rows_count = s.host == nullptr || s.host->from != Source::dxgi;
  if (s.has_host()) {
    out.shared = *s.host->used;
    out.notes |= s.host->notes;
  } else if (all.host && rows_count) {
    out.shared = all.away();
    if (!all.is_exact()) out.notes |= note::lower_bound;
  } else if (rows_count && (s.from.collect & subject::processes) != 0 && all.count == 0) {
    return reason_or(s.from, s.who, subject::processes,
                     because(Status::empty, s.main.from,
                             "the driver reports the host memory of processes only, and none uses "
                             "the device"));
  } else {
    return reason("host memory of the device is not reported by the driver");
  }
  if (all.evicted) {
    out.evicted = all.evicted->at_least();
    const bool is_partial = all.lack_evicted || s.from.unreadable_processes > 0;
    if (is_partial || !all.evicted->is_exact()) out.notes |= note::lower_bound;
  }
  out.is_idle =
      all.count == 0 && (s.from.collect & subject::processes) != 0 &&
      find_reason(s.from, {.about = subject::processes, .field = any_field}, &s.who) == nullptr;
  return out;
}

}  // namespace

SpillReading spill_reading_of(const Snapshot& from, std::uint32_t index) {
  const SnapshotDevice* const found = from.device_by_index(index);
  if (found == nullptr) return {Snapshot::no_device(index)};
  const Device& who = *found->identity;
  const Pool* const main = from.main_pool(index);
  if (main == nullptr) {
    return {reason_or(from, who, subject::pools,
                      because(who.state == State::asleep ? Status::asleep : Status::empty, who.from,
                              "the device's memory was not read"))};
  }
  const SubjectOfSpill s{from, index, who, *main, from.find_pool(index, PoolKind::host)};
  if (const char* const never = why_never(s)) {
    return {because(Status::unsupported, main->from, never), true, false};
  }
  const Rows all = rows_of(from, index);
  SpillReading out{sample_of(s, all)};
  out.needs_processes =
      !s.has_host() || all.count == 0 || all.evicted || from.unreadable_processes > 0;
  return out;
}

namespace {

// Parts of spill::users_: the number of calls in progress, and the process that they are of.
constexpr std::uint64_t one_process = std::uint64_t{1} << 24U;
constexpr std::uint64_t count_users(std::uint64_t users) noexcept {
  return users % one_process;
}
constexpr bool is_from(std::uint64_t users, std::uint64_t process) noexcept {
  return users / one_process == process;
}

}  // namespace

// Holds the lock, and is counted from before it waits until after it has released it: if a fork
// finds nobody counted, the child's copy of the lock is free.
class Spill::Hold {
 public:
  explicit Hold(const Spill& of) noexcept : of_(of) {
    const std::uint64_t process = platform::process_generation();
    std::uint64_t users = of.users_.load();
    while (!of.users_.compare_exchange_weak(
        users, is_from(users, process) ? users + 1 : process * one_process + 1)) {
    }
    of.mutex_.lock();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    of_.mutex_.unlock();
    of_.users_.fetch_sub(1);
  }

 private:
  const Spill& of_;
};

Spill::Spill(std::shared_ptr<Context> from, std::uint32_t device_index, const SpillThresholds& by)
    : from_(std::move(from)),
      index_(device_index),
      history_(by),
      why_{Status::empty, Source::none, {}, "nothing was observed yet"} {}

bool Spill::is_forked() const noexcept {
  if (from_) return from_->is_forked();
  const std::uint64_t users = users_.load();
  return count_users(users) != 0 && !is_from(users, platform::process_generation());
}

Result<void> Spill::observe(std::string_view label) {
  SnapshotRequest what;
  what.collect = subject::pools;
  what.device_index = index_;
  what.without_hosts_part = true;
  {
    const Hold lock(*this);
    if (is_permanent_ || !from_) {
      ++skipped_;
      if (!from_)
        why_ = {Status::no_source, Source::none, {}, "the detector has no context: feed it"};
      return why_;
    }
    if (asks_processes_) what.collect |= subject::processes;
  }
  Result<std::unique_ptr<Snapshot>> taken = from_->take(what);
  if (taken) return observe(**taken, label);
  const Hold lock(*this);
  ++skipped_;
  why_ = taken.why();
  return why_;
}

Result<void> Spill::observe(const Snapshot& taken, std::string_view label) {
  SpillReading seen = spill_reading_of(taken, index_);
  const SpillLabel name(label);
  const Hold lock(*this);
  is_permanent_ = is_permanent_ || (from_ && seen.is_permanent);
  if (!seen.sample) {
    ++skipped_;
    why_ = seen.sample.why();
    return why_;
  }
  asks_processes_ = seen.needs_processes;
  history_.add(*seen.sample, name);
  why_ = {Status::ok, Source::none, {}, {}};
  return {};
}

void Spill::feed(const SpillSample& sample, std::string_view label) {
  const SpillLabel name(label);
  const Hold lock(*this);
  history_.add(sample, name);
  why_ = {Status::ok, Source::none, {}, {}};
}

SpillReport Spill::report() const {
  const Hold lock(*this);
  return {history_.totals(), skipped_, history_.first_kept(), why_};
}

std::optional<SpillEpisode> Spill::episode(std::uint64_t number) const {
  const Hold lock(*this);
  const SpillEpisode* const found = history_.episode(number);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

}  // namespace hmn
