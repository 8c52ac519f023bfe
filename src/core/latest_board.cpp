// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/latest_board.hpp"

#include <memory>

#include "model/record.hpp"
#include "platform/clock.hpp"

namespace hmn {
namespace {

template <class Record, class T>
void publish_one(const Record* of, std::uint64_t now, latest<T>& to) noexcept {
  T value = {};
  if (of != nullptr) {
    copy_out(*of, value);
    value.age_ns = now > of->age_ns ? now - of->age_ns : 1;
  }
  to.store(value);
}

}  // namespace

latest_board::~latest_board() {
  for (chunk* c = first_.next.load(std::memory_order_relaxed); c != nullptr;) {
    const std::unique_ptr<chunk> ended(c);
    c = ended->next.load(std::memory_order_relaxed);
  }
}

latest_board::entry& latest_board::entry_of(std::uint32_t device_index) {
  chunk* c = &first_;
  for (; device_index >= devices_of_chunk; device_index -= devices_of_chunk) {
    chunk* next = c->next.load(std::memory_order_relaxed);
    if (next == nullptr) {
      next = std::make_unique<chunk>().release();
      c->next.store(next, std::memory_order_release);
    }
    c = next;
  }
  return c->entries[device_index];
}

// Publishes the values with their age at the end of the snapshot.
void latest_board::publish(const snapshot& from) {
  const std::uint64_t now = from.ended_ns;
  for (const snapshot_device& d : from.devices) {
    entry& to = entry_of(d.identity->index);
    publish_one(from.main_pool(d.identity->index), now, to.main_pool);
    publish_one(d.telemetry ? &*d.telemetry : nullptr, now, to.telemetry);
    to.is_known.store(true, std::memory_order_release);
  }
  has_any_.store(true, std::memory_order_release);
}

template <class T>
latest_board::answer latest_board::look(const latest_board& at, std::uint32_t device_index,
                                        latest<T> entry::*which, T& out) noexcept {
  const chunk* c = &at.first_;
  for (; c != nullptr && device_index >= devices_of_chunk; device_index -= devices_of_chunk) {
    c = c->next.load(std::memory_order_acquire);
  }
  if (c == nullptr || !c->entries[device_index].is_known.load(std::memory_order_acquire)) {
    return at.has_any_.load(std::memory_order_acquire) ? answer::no_device : answer::none;
  }
  if (!(c->entries[device_index].*which).load(out) || out.age_ns == 0) return answer::none;
  const std::uint64_t now = platform::continuous_ns();
  out.age_ns = now > out.age_ns ? now - out.age_ns : 0;
  return answer::here;
}

latest_board::answer latest_board::main_pool(std::uint32_t device_index,
                                             hmn_pool& out) const noexcept {
  return look(*this, device_index, &entry::main_pool, out);
}

latest_board::answer latest_board::telemetry(std::uint32_t device_index,
                                             hmn_telemetry& out) const noexcept {
  return look(*this, device_index, &entry::telemetry, out);
}

}  // namespace hmn
