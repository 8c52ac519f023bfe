// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/latest.hpp"
#include "core/snapshot.hpp"
#include "model/tables.hpp"

namespace hmn {

// Values of the latest snapshot, by device, as the caller gets them: they are read far more often
// than published. One thread publishes, any number of others read, lock-free and without waiting.
class latest_board {
 public:
  enum class answer { here, none, no_device };

  latest_board() = default;
  latest_board(const latest_board&) = delete;
  latest_board& operator=(const latest_board&) = delete;
  ~latest_board();

  void publish(const snapshot& from);
  [[nodiscard]] answer main_pool(std::uint32_t device_index, hmn_pool& out) const noexcept;
  [[nodiscard]] answer telemetry(std::uint32_t device_index, hmn_telemetry& out) const noexcept;

 private:
  // Until they are read, the records have the time at which the driver was asked as their age; 0:
  // not in the snapshot.
  struct entry {
    std::atomic<bool> is_known{false};
    latest<hmn_pool> main_pool;
    latest<hmn_telemetry> telemetry;
  };
  // Chunks are never moved: indexes only grow.
  static constexpr std::uint32_t devices_of_chunk = 8;
  struct chunk {
    std::array<entry, devices_of_chunk> entries;
    std::atomic<chunk*> next{nullptr};
  };

  [[nodiscard]] entry& entry_of(std::uint32_t device_index);
  template <class T>
  static answer look(const latest_board& at, std::uint32_t device_index, latest<T> entry::*which,
                     T& out) noexcept;

  std::atomic<bool> has_any_{false};
  chunk first_;
};

}  // namespace hmn
