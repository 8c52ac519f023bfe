// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/snapshot.hpp"
#include "model/tables.hpp"

namespace hmn {

// Value stored by one thread and loaded by any number of others, without a lock. The writer fills
// the hidden one of two copies, so that a reader never waits and retries only after two stores
// during its load.
template <class T>
class Latest {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void store(const T& value) noexcept {
    Words source_words{};
    std::memcpy(source_words.data(), &value, sizeof value);
    std::uint32_t next = version_.load(std::memory_order_relaxed) + 1;
    if (next == 0) next = 2;
    // Release: a reader that sees a word of this copy also sees that the previous one was
    // published.
    for (std::size_t i = 0; i < count; ++i) {
      copies_[next & 1U][i].store(source_words[i], std::memory_order_release);
    }
    version_.store(next, std::memory_order_release);
  }

  // Returns false before the first store.
  bool load(T& out) const noexcept {
    Words target_words;
    std::uint32_t version = version_.load(std::memory_order_acquire);
    for (;;) {
      if (version == 0) return false;
      for (std::size_t i = 0; i < count; ++i) {
        target_words[i] = copies_[version & 1U][i].load(std::memory_order_acquire);
      }
      const std::uint32_t current = version_.load(std::memory_order_acquire);
      if (current == version) break;
      version = current;
    }
    std::memcpy(static_cast<void*>(&out), target_words.data(), sizeof out);
    return true;
  }

 private:
  // Words of a size that is lock-free on every processor.
  static constexpr std::size_t count =
      (sizeof(T) + sizeof(std::uintptr_t) - 1) / sizeof(std::uintptr_t);
  using Words = std::array<std::uintptr_t, count>;

  std::array<std::array<std::atomic<std::uintptr_t>, count>, 2> copies_{};
  std::atomic<std::uint32_t> version_{0};
};

// Values of the latest snapshot, by device, in the caller's structs, since they are read far more
// often than published. One thread publishes; any number of others read, lock-free and without
// waiting.
class LatestBoard {
 public:
  enum class Answer { available, none, no_device };

  LatestBoard() = default;
  LatestBoard(const LatestBoard&) = delete;
  LatestBoard& operator=(const LatestBoard&) = delete;
  ~LatestBoard();

  void publish(const Snapshot& snapshot);
  [[nodiscard]] Answer main_pool(std::uint32_t device_index, hmn_pool& out) const noexcept;
  [[nodiscard]] Answer telemetry(std::uint32_t device_index, hmn_telemetry& out) const noexcept;

 private:
  // A stored record's age_ns is the time at which the driver was read, and becomes an age when the
  // record is read; 0: not in the snapshot.
  struct Entry {
    std::atomic<bool> is_known{false};
    Latest<hmn_pool> main_pool;
    Latest<hmn_telemetry> telemetry;
  };
  // Chunks are never moved: indexes only grow.
  static constexpr std::uint32_t devices_per_chunk = 8;
  struct Chunk {
    std::array<Entry, devices_per_chunk> entries;
    std::atomic<Chunk*> next{nullptr};
  };

  [[nodiscard]] Entry& find_or_add_entry(std::uint32_t device_index);
  template <class T>
  static Answer read_record(const LatestBoard& board, std::uint32_t device_index,
                            Latest<T> Entry::*member, T& out) noexcept;

  std::atomic<bool> has_any_{false};
  Chunk first_;
};

}  // namespace hmn
