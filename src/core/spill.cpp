// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/spill.hpp"

#include <thread>
#include <utility>

#include "core/spill_reading.hpp"
#include "platform/process.hpp"

namespace hmn {

// Lock whose owner a child of fork() can recognize as gone.
class spill::hold {
 public:
  explicit hold(const spill& of) noexcept : word_(of.held_by_) {
    const std::uint64_t own = platform::process_generation();
    std::uint64_t holder = 0;
    while (!word_.compare_exchange_weak(holder, own, std::memory_order_acquire)) {
      holder = 0;
      std::this_thread::yield();
    }
  }
  hold(const hold&) = delete;
  hold& operator=(const hold&) = delete;
  ~hold() { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t>& word_;
};

spill::spill(std::shared_ptr<context> from, std::uint32_t device_index, const spill_thresholds& by)
    : from_(std::move(from)),
      index_(device_index),
      history_(by),
      why_{status::empty, source::none, {}, "nothing was observed yet"} {}

bool spill::is_forked() const noexcept {
  if (from_) return from_->is_forked();
  const std::uint64_t holder = held_by_.load(std::memory_order_acquire);
  return holder != 0 && holder != platform::process_generation();
}

result<void> spill::observe(std::string_view label) {
  snapshot_request what;
  what.collect = subject::pools;
  what.device_index = index_;
  what.without_hosts_part = true;
  {
    const hold lock(*this);
    if (is_for_ever_ || !from_) {
      ++skipped_;
      if (!from_)
        why_ = {status::no_source, source::none, {}, "the detector has no context: feed it"};
      return why_;
    }
    if (asks_processes_) what.collect |= subject::processes;
  }
  result<std::unique_ptr<snapshot>> taken = from_->take(what);
  if (taken) return observe(**taken, label);
  const hold lock(*this);
  ++skipped_;
  why_ = taken.why();
  return why_;
}

result<void> spill::observe(const snapshot& taken, std::string_view label) {
  spill_reading seen = spill_reading_of(taken, index_);
  const spill_label name(label);
  const hold lock(*this);
  is_for_ever_ = is_for_ever_ || (from_ && seen.is_for_ever);
  if (!seen.sample) {
    ++skipped_;
    why_ = seen.sample.why();
    return why_;
  }
  asks_processes_ = seen.needs_processes;
  history_.add(*seen.sample, name);
  why_ = {status::ok, source::none, {}, {}};
  return {};
}

void spill::feed(const spill_sample& sample, std::string_view label) {
  const spill_label name(label);
  const hold lock(*this);
  history_.add(sample, name);
  why_ = {status::ok, source::none, {}, {}};
}

spill_report spill::report() const {
  const hold lock(*this);
  return {history_.totals(), skipped_, history_.first_kept(), why_};
}

std::optional<spill_episode> spill::episode(std::uint64_t number) const {
  const hold lock(*this);
  const spill_episode* const found = history_.episode(number);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

}  // namespace hmn
