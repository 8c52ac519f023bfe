// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/latest_board.hpp"

#include <memory>

#include "model/record.hpp"
#include "platform/clock.hpp"

namespace hmn {
namespace {

template <class Record, class T>
void publish_record(const Record* record, std::uint64_t now, Latest<T>& target) noexcept {
  T value = {};
  if (record != nullptr) {
    copy_to_c(*record, value);
    value.age_ns = now > record->age_ns ? now - record->age_ns : 1;
  }
  target.store(value);
}

}  // namespace

LatestBoard::~LatestBoard() {
  for (Chunk* chunk = first_.next.load(std::memory_order_relaxed); chunk != nullptr;) {
    const std::unique_ptr<Chunk> owner(chunk);
    chunk = owner->next.load(std::memory_order_relaxed);
  }
}

LatestBoard::Entry& LatestBoard::find_or_add_entry(std::uint32_t device_index) {
  Chunk* chunk = &first_;
  for (; device_index >= devices_per_chunk; device_index -= devices_per_chunk) {
    Chunk* next = chunk->next.load(std::memory_order_relaxed);
    if (next == nullptr) {
      next = std::make_unique<Chunk>().release();
      chunk->next.store(next, std::memory_order_release);
    }
    chunk = next;
  }
  return chunk->entries[device_index];
}

// Publishes the values with their age at the end of the snapshot.
void LatestBoard::publish(const Snapshot& snapshot) {
  const std::uint64_t now = snapshot.end_ns;
  for (const SnapshotDevice& device : snapshot.devices) {
    Entry& entry = find_or_add_entry(device.identity->index);
    publish_record(snapshot.main_pool(device.identity->index), now, entry.main_pool);
    publish_record(device.telemetry ? &*device.telemetry : nullptr, now, entry.telemetry);
    entry.is_known.store(true, std::memory_order_release);
  }
  has_any_.store(true, std::memory_order_release);
}

template <class T>
LatestBoard::Answer LatestBoard::read_record(const LatestBoard& board, std::uint32_t device_index,
                                             Latest<T> Entry::*member, T& out) noexcept {
  const Chunk* chunk = &board.first_;
  for (; chunk != nullptr && device_index >= devices_per_chunk; device_index -= devices_per_chunk) {
    chunk = chunk->next.load(std::memory_order_acquire);
  }
  if (chunk == nullptr || !chunk->entries[device_index].is_known.load(std::memory_order_acquire)) {
    return board.has_any_.load(std::memory_order_acquire) ? Answer::no_device : Answer::none;
  }
  if (!(chunk->entries[device_index].*member).load(out) || out.age_ns == 0) return Answer::none;
  const std::uint64_t now = platform::continuous_ns();
  out.age_ns = now > out.age_ns ? now - out.age_ns : 0;
  return Answer::available;
}

LatestBoard::Answer LatestBoard::main_pool(std::uint32_t device_index,
                                           hmn_pool& out) const noexcept {
  return read_record(*this, device_index, &Entry::main_pool, out);
}

LatestBoard::Answer LatestBoard::telemetry(std::uint32_t device_index,
                                           hmn_telemetry& out) const noexcept {
  return read_record(*this, device_index, &Entry::telemetry, out);
}

}  // namespace hmn
