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
bool is_full(const SpillSample& sample, std::uint64_t threshold) noexcept {
  if (threshold == 0) threshold = sample.limit.value_or(0) / 100 * 85;
  return threshold != 0 && sample.dedicated >= threshold;
}

}  // namespace

std::uint32_t SpillHistory::match_rules(const SpillSample& sample) const noexcept {
  std::uint32_t rules = 0;
  if (is_full(sample, thresholds_.dedicated) &&
      sample.shared >= saturating_sum(totals_.baseline_shared, thresholds_.growth)) {
    rules |= spill_rule::shared;
  }
  if (sample.evicted &&
      *sample.evicted >= saturating_sum(*totals_.baseline_evicted, thresholds_.growth)) {
    rules |= spill_rule::evicted;
  }
  return rules;
}

void SpillHistory::update_totals(const SpillSample& sample) {
  if (totals_.observations++ == 0) totals_.baseline_shared = sample.shared;
  if (!totals_.baseline_evicted && sample.is_idle) totals_.baseline_evicted = 0;
  if (!totals_.baseline_evicted) totals_.baseline_evicted = sample.evicted;
  if (sample.limit) totals_.limit = sample.limit;
  totals_.last = sample;
  totals_.peak_dedicated = std::max(totals_.peak_dedicated, sample.dedicated);
  totals_.peak_shared = std::max(totals_.peak_shared, sample.shared);
  raise_peak(totals_.peak_evicted, sample.evicted);
}

void SpillHistory::start_episode(const SpillSample& sample, const SpillLabel& label) {
  SpillEpisode episode;
  episode.start_ns = episode.last_ns = sample.monotonic_ns;
  episode.start_label = label;
  if (episodes_.size() < thresholds_.capacity) {
    episodes_.push_back(episode);
  } else {
    episodes_[find_position(totals_.episodes)] = episode;
  }
  if (totals_.episodes++ == 0) totals_.first_label = label;
}

void SpillHistory::extend_episode(const SpillSample& sample) {
  SpillEpisode& episode = last_episode();
  const std::uint64_t now = std::max(sample.monotonic_ns, episode.last_ns);
  totals_.total_ns += now - episode.last_ns;
  episode.last_ns = now;
  episode.rules |= totals_.rules;
  ++episode.observations;
  episode.peak_shared = std::max(episode.peak_shared, sample.shared);
  raise_peak(episode.peak_evicted, sample.evicted);
  if (episode.duration_ns() <= totals_.longest_ns) return;
  totals_.longest_ns = episode.duration_ns();
  totals_.longest_episode = totals_.episodes - 1;
}

void SpillHistory::add(const SpillSample& sample, const SpillLabel& label) {
  const bool was_open = totals_.rules != 0;
  // Reserve first, the only step that can fail.
  if (episodes_.size() == episodes_.capacity())
    episodes_.reserve(std::max(std::size_t{8}, 2 * episodes_.size()));
  update_totals(sample);
  totals_.rules = match_rules(sample);
  if (totals_.rules != 0) {
    if (!was_open) start_episode(sample, label);
    extend_episode(sample);
  } else if (was_open) {
    last_episode().end_ns = std::max(sample.monotonic_ns, last_episode().last_ns);
    last_episode().end_label = label;
  }
}

const SpillEpisode* SpillHistory::episode(std::uint64_t number) const noexcept {
  if (number >= totals_.episodes || number < first_episode()) return nullptr;
  return &episodes_[find_position(number)];
}

namespace {

Failure make_failure(Status code, Source source, const char* message) {
  return {code, source, {}, message};
}

// Totals over the processes that use a device.
struct ProcessTotals {
  std::uint32_t count = 0;
  bool lacks_evicted = false;
  bool lacks_host = false;
  std::optional<UsageSum> evicted;
  std::optional<UsageSum> host;
  // Device memory that is neither on the device nor in `host`.
  std::optional<UsageSum> not_resident;

  // Returns the bytes in the host's RAM; `host` and `not_resident` have none in common.
  [[nodiscard]] std::uint64_t bytes_in_host() const noexcept {
    return saturating_sum(host->lower_bound(), not_resident ? not_resident->lower_bound() : 0);
  }
  [[nodiscard]] bool is_exact() const noexcept {
    return !lacks_host && host->is_exact() && (!not_resident || not_resident->is_exact());
  }

  // `part` of a row, or the sum over its clients.
  static void add(std::optional<UsageSum>& sum, bool& lacks, std::optional<std::uint64_t> part,
                  const UsageSum* clients) noexcept {
    lacks = lacks || !part;
    if (!part) return;
    if (!sum) sum.emplace();
    if (clients != nullptr) {
      sum->add(*clients);
    } else {
      sum->add(*part, {}, true);
    }
  }
  void add(const Usage& row) noexcept {
    ++count;
    const Usage::ClientTotals* const client_totals = row.clients ? &*row.clients : nullptr;
    add(evicted, lacks_evicted, row.evicted,
        client_totals != nullptr ? &client_totals->evicted : nullptr);
    add(host, lacks_host, row.host_pool,
        client_totals != nullptr ? &client_totals->host_pool : nullptr);
    // i915 counts an evicted buffer in its own region, as not resident.
    if (row.host_pool && !row.evicted && row.committed && row.resident &&
        *row.committed > *row.resident) {
      add(not_resident, lacks_host, *row.committed - *row.resident,
          client_totals != nullptr ? &client_totals->not_resident : nullptr);
    }
  }
};

ProcessTotals sum_processes(const Snapshot& snapshot, std::uint32_t index) {
  ProcessTotals totals;
  for (const Usage& row : select_device(snapshot.usages, index)) {
    if (!is_stale(row.notes)) totals.add(row);
  }
  return totals;
}

constexpr FieldSet any_field = ~FieldSet{0};

Failure find_reason_or(const Snapshot& snapshot, const Device& device, std::uint32_t subject,
                       const Failure& fallback) {
  const FieldSet field = subject == subject::pools ? pool_field::used : any_field;
  const SnapshotDiagnostic* const diagnostic =
      find_reason(snapshot, {.subject = subject, .field = field}, &device);
  return diagnostic != nullptr ? diagnostic->value.failure : fallback;
}

// The parts of a snapshot that decide whether a device can spill, looked up once.
struct DeviceView {
  const Snapshot& snapshot;
  std::uint32_t index;
  const Device& device;
  const Pool& main;
  const Pool* host;

  [[nodiscard]] bool has_host() const noexcept { return host != nullptr && host->used; }
};

// Returns why spilling can never occur or be detected here; nullptr if it can.
const char* find_obstacle(const DeviceView& view) noexcept {
  if (view.main.kind != PoolKind::vram || view.device.memory_kind == MemoryKind::unified) {
    return "the device allocates from the host's RAM: it has no memory of its own that could spill";
  }
  if (view.device.vendor != vendor::nvidia || view.host != nullptr) return nullptr;
  return "NVIDIA's driver does not move device memory to the host here, an allocation fails "
         "instead; managed-memory migration is not reported";
}

Result<SpillSample> make_sample(const DeviceView& view, const ProcessTotals& totals) {
  const auto explain = [&](const char* fallback) {
    return find_reason_or(view.snapshot, view.device, subject::pools,
                          make_failure(Status::unsupported, view.main.source, fallback));
  };
  if (is_stale(view.main.notes)) return explain("the device's values are old");
  if (!view.main.used) return explain("used memory is not reported by the driver");
  SpillSample sample;
  sample.monotonic_ns = view.snapshot.monotonic_ns;
  sample.source = view.main.source;
  sample.notes = view.main.notes;
  sample.dedicated = *view.main.used;
  sample.limit = view.main.total;
  // Windows does not report where a process's committed memory is.
  const bool can_use_totals = view.host == nullptr || view.host->source != Source::dxgi;
  if (view.has_host()) {
    sample.shared = *view.host->used;
    sample.notes |= view.host->notes;
  } else if (totals.host && can_use_totals) {
    sample.shared = totals.bytes_in_host();
    if (!totals.is_exact()) sample.notes |= note::lower_bound;
  } else if (can_use_totals && (view.snapshot.collect & subject::processes) != 0 &&
             totals.count == 0) {
    return find_reason_or(
        view.snapshot, view.device, subject::processes,
        make_failure(Status::empty, view.main.source,
                     "the driver reports the host memory of processes only, and none uses "
                     "the device"));
  } else {
    return explain("host memory of the device is not reported by the driver");
  }
  if (totals.evicted) {
    sample.evicted = totals.evicted->lower_bound();
    const bool is_partial = totals.lacks_evicted || view.snapshot.unreadable_processes > 0;
    if (is_partial || !totals.evicted->is_exact()) sample.notes |= note::lower_bound;
  }
  sample.is_idle = totals.count == 0 && (view.snapshot.collect & subject::processes) != 0 &&
                   find_reason(view.snapshot, {.subject = subject::processes, .field = any_field},
                               &view.device) == nullptr;
  return sample;
}

}  // namespace

SpillReading read_spill(const Snapshot& snapshot, std::uint32_t index) {
  const SnapshotDevice* const device = snapshot.find_device(index);
  if (device == nullptr) return {Snapshot::make_device_failure(index)};
  const Device& identity = *device->identity;
  const Pool* const main = snapshot.main_pool(index);
  if (main == nullptr) {
    return {find_reason_or(
        snapshot, identity, subject::pools,
        make_failure(identity.state == State::asleep ? Status::asleep : Status::empty,
                     identity.source, "the device's memory was not read"))};
  }
  const DeviceView view{snapshot, index, identity, *main,
                        snapshot.find_pool(index, PoolKind::host)};
  if (const char* const obstacle = find_obstacle(view)) {
    return {make_failure(Status::unsupported, main->source, obstacle), true, false};
  }
  const ProcessTotals totals = sum_processes(snapshot, index);
  SpillReading reading{make_sample(view, totals)};
  reading.needs_processes =
      !view.has_host() || totals.count == 0 || totals.evicted || snapshot.unreadable_processes > 0;
  return reading;
}

namespace {

// Parts of Spill::users_: the number of calls in progress, and the generation of their process.
constexpr std::uint64_t process_factor = std::uint64_t{1} << 24U;
constexpr std::uint64_t count_users(std::uint64_t users) noexcept {
  return users % process_factor;
}
constexpr bool is_of_process(std::uint64_t users, std::uint64_t process) noexcept {
  return users / process_factor == process;
}

}  // namespace

// Holds the lock, and is counted from before it waits until after it has released it: if no call is
// counted at a fork, the child's copy of the lock is free.
class Spill::CountedLock {
 public:
  explicit CountedLock(const Spill& spill) noexcept : spill_(spill) {
    const std::uint64_t process = platform::process_generation();
    std::uint64_t users = spill.users_.load();
    while (!spill.users_.compare_exchange_weak(
        users, is_of_process(users, process) ? users + 1 : process * process_factor + 1)) {
    }
    spill.mutex_.lock();
  }
  CountedLock(const CountedLock&) = delete;
  CountedLock& operator=(const CountedLock&) = delete;
  ~CountedLock() {
    spill_.mutex_.unlock();
    spill_.users_.fetch_sub(1);
  }

 private:
  const Spill& spill_;
};

Spill::Spill(std::shared_ptr<Context> context, std::uint32_t device_index,
             const SpillSettings& thresholds)
    : context_(std::move(context)),
      index_(device_index),
      history_(thresholds),
      failure_{Status::empty, Source::none, {}, "nothing was observed yet"} {}

bool Spill::is_forked() const noexcept {
  if (context_) return context_->is_forked();
  const std::uint64_t users = users_.load();
  return count_users(users) != 0 && !is_of_process(users, platform::process_generation());
}

Result<void> Spill::observe(std::string_view label) {
  SnapshotRequest request;
  request.collect = subject::pools;
  request.device_index = index_;
  request.skips_host_details = true;
  {
    const CountedLock lock(*this);
    if (is_permanent_ || !context_) {
      ++skipped_count_;
      if (!context_)
        failure_ = {Status::no_source, Source::none, {}, "the detector has no context: feed it"};
      return failure_;
    }
    if (reads_processes_) request.collect |= subject::processes;
  }
  Result<std::unique_ptr<Snapshot>> snapshot = context_->take(request);
  if (snapshot) return observe(**snapshot, label);
  const CountedLock lock(*this);
  ++skipped_count_;
  failure_ = snapshot.failure();
  return failure_;
}

Result<void> Spill::observe(const Snapshot& snapshot, std::string_view label) {
  SpillReading reading = read_spill(snapshot, index_);
  const SpillLabel name(label);
  const CountedLock lock(*this);
  is_permanent_ = is_permanent_ || (context_ && reading.is_permanent);
  if (!reading.sample) {
    ++skipped_count_;
    failure_ = reading.sample.failure();
    return failure_;
  }
  reads_processes_ = reading.needs_processes;
  history_.add(*reading.sample, name);
  failure_ = {Status::ok, Source::none, {}, {}};
  return {};
}

void Spill::feed(const SpillSample& sample, std::string_view label) {
  const SpillLabel name(label);
  const CountedLock lock(*this);
  history_.add(sample, name);
  failure_ = {Status::ok, Source::none, {}, {}};
}

SpillReport Spill::report() const {
  const CountedLock lock(*this);
  return {history_.totals(), skipped_count_, history_.first_episode(), failure_};
}

std::optional<SpillEpisode> Spill::episode(std::uint64_t number) const {
  const CountedLock lock(*this);
  const SpillEpisode* const episode = history_.episode(number);
  return episode != nullptr ? std::optional(*episode) : std::nullopt;
}

}  // namespace hmn
