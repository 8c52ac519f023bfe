// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/latest_board.hpp"

#include <memory>

#include "model/record.hpp"
#include "platform/clock.hpp"

namespace hmn {
namespace {

template <class Record, class T>
void publish_one(const Record* of, std::uint64_t now, Latest<T>& to) noexcept {
  T value = {};
  if (of != nullptr) {
    copy_out(*of, value);
    value.age_ns = now > of->age_ns ? now - of->age_ns : 1;
  }
  to.store(value);
}

}  // namespace

LatestBoard::~LatestBoard() {
  for (Chunk* c = first_.next.load(std::memory_order_relaxed); c != nullptr;) {
    const std::unique_ptr<Chunk> ended(c);
    c = ended->next.load(std::memory_order_relaxed);
  }
}

LatestBoard::Entry& LatestBoard::entry_of(std::uint32_t device_index) {
  Chunk* c = &first_;
  for (; device_index >= devices_of_chunk; device_index -= devices_of_chunk) {
    Chunk* next = c->next.load(std::memory_order_relaxed);
    if (next == nullptr) {
      next = std::make_unique<Chunk>().release();
      c->next.store(next, std::memory_order_release);
    }
    c = next;
  }
  return c->entries[device_index];
}

// Publishes the values with their age at the end of the snapshot.
void LatestBoard::publish(const Snapshot& from) {
  const std::uint64_t now = from.ended_ns;
  for (const SnapshotDevice& d : from.devices) {
    Entry& to = entry_of(d.identity->index);
    publish_one(from.main_pool(d.identity->index), now, to.main_pool);
    publish_one(d.telemetry ? &*d.telemetry : nullptr, now, to.telemetry);
    to.is_known.store(true, std::memory_order_release);
  }
  has_any_.store(true, std::memory_order_release);
}

template <class T>
LatestBoard::Answer LatestBoard::look(const LatestBoard& at, std::uint32_t device_index,
                                      Latest<T> Entry::*which, T& out) noexcept {
  const Chunk* c = &at.first_;
  for (; c != nullptr && device_index >= devices_of_chunk; device_index -= devices_of_chunk) {
    c = c->next.load(std::memory_order_acquire);
  }
  if (c == nullptr || !c->entries[device_index].is_known.load(std::memory_order_acquire)) {
    return at.has_any_.load(std::memory_order_acquire) ? Answer::no_device : Answer::none;
  }
  if (!(c->entries[device_index].*which).load(out) || out.age_ns == 0) return Answer::none;
  const std::uint64_t now = platform::continuous_ns();
  out.age_ns = now > out.age_ns ? now - out.age_ns : 0;
  return Answer::here;
}

LatestBoard::Answer LatestBoard::main_pool(std::uint32_t device_index,
                                           hmn_pool& out) const noexcept {
  return look(*this, device_index, &Entry::main_pool, out);
}

LatestBoard::Answer LatestBoard::telemetry(std::uint32_t device_index,
                                           hmn_telemetry& out) const noexcept {
  return look(*this, device_index, &Entry::telemetry, out);
}

}  // namespace hmn
