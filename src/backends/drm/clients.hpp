// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Result of a walk over /proc: which process holds which client of which card, and its usage.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/drm/fdinfo.hpp"
#include "model/function_ref.hpp"
#include "model/metric.hpp"

namespace hmn::drm {

// Identifies a driver's client of a card. Several descriptors, also of several processes, may share
// one client, whose memory must count once.
struct client_key {
  enum class kind : std::uint32_t {
    none,   // no id
    pasid,  // amdgpu before client ids
    id,
  };
  kind by = kind::none;
  slot card = 0;
  std::uint64_t value = 0;

  friend auto operator<=>(const client_key&, const client_key&) = default;
};

struct engine_sample {
  text<24> name;
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;
  std::uint64_t capacity = 1;
};

struct client {
  client_key key;
  std::uint32_t pid = 0;
  bool is_reported = false;        // its text was readable
  bool is_held_elsewhere = false;  // also by another process
  bool is_garbled = false;         // its text has no memory because it is cut, or makes no sense
  int error = 0;                   // why its text was not readable
  client_use use;
  std::size_t first_engine = 0;
  std::size_t engine_count = 0;
};

class client_list {
 public:
  void clear() noexcept;
  // Adds a descriptor of `pid` on a card; pids come in order. `info` nullptr: not parsed. A client
  // that the process already has counts once.
  void add(const card& of, std::uint32_t pid, const fdinfo* info);
  // Adds a descriptor whose text could not be read: it may or may not belong to a known client.
  void add_unread(const card& of, std::uint32_t pid, int error);
  // Removes the descriptors of `pid` that were added last: they may be incomplete.
  void drop_last(std::uint32_t pid) noexcept;
  void mark_last_partial(std::uint32_t pid) noexcept;
  // Finds the clients that several processes hold. Call once all are added.
  void finish();
  // Notes a descriptor of a suspended card, which was not read.
  void add_asleep(slot card) { asleep_.push_back(card); }

  [[nodiscard]] bool met_asleep(slot card) const noexcept;

  [[nodiscard]] std::span<const client> all() const noexcept { return clients_; }
  [[nodiscard]] std::span<const engine_sample> engines_of(const client& c) const noexcept {
    return std::span(engines_).subspan(c.first_engine, c.engine_count);
  }
  [[nodiscard]] std::span<const client> of_pid(std::uint32_t pid) const noexcept;
  // Visits the clients of one card, by key. `again`: has the same key as the one before.
  void each_by_key(slot card, function_ref<void(const client&, bool again)> visit) const;
  // Returns a client with the key, else nullptr.
  [[nodiscard]] const client* find(const client_key& key) const noexcept;

  std::uint64_t taken_ns = 0;      // start of the walk
  std::uint64_t suspended_ns = 0;  // at that time: platform::suspended_ns()

 private:
  void begin(std::uint32_t pid) noexcept;
  void keep_engines(const fdinfo& info, client& c);

  std::vector<client> clients_;  // in the order found
  std::vector<std::uint32_t> by_key_;
  std::vector<engine_sample> engines_;
  std::vector<slot> asleep_;
  std::size_t first_of_pid_ = 0;
  std::uint32_t last_pid_ = 0;
};

// The newest walk, and an older one that loads are relative to; empty if taken_ns is 0.
class walk_pair {
 public:
  walk_pair() noexcept = default;
  walk_pair(const walk_pair&) = delete;
  walk_pair& operator=(const walk_pair&) = delete;

  [[nodiscard]] client_list& now() const noexcept { return *now_; }
  [[nodiscard]] client_list& before() const noexcept { return *before_; }
  // Makes the newest one the older one; the newest has to be taken again.
  void turn() noexcept { std::swap(now_, before_); }

 private:
  std::array<client_list, 2> lists_;
  client_list* now_ = &lists_[0];
  client_list* before_ = &lists_[1];
};

// Merges the clients of one process on one card into one row. Percentages are since `before` if it
// has the clients, too. Of memory that several clients share, the largest part counts: they may
// list the same buffers. That, and clients whose text could not be read, makes the values lower
// bounds. Returns the usage_field bits of values that only part of the memory or of the clients
// has, and of a load that cannot be computed.
FieldSet fill_row(const client_list& now, const client_list& before, slot card, std::uint32_t pid,
                  usage& out);
// Returns 0, or why the text of one of them could not be read; EBADMSG: it makes no sense.
int error_of(const client_list& now, slot card, std::uint32_t pid);
// Lists the pids that hold a client of the card, in the order found.
void pids_on(const client_list& now, slot card, std::vector<std::uint32_t>& out);
// Counts each client once.
card_use use_of(const client_list& now, slot card);
// Loads by name of engine, with space for as many engines as one client can have.
class load_sum {
 public:
  void add(const engine_load& more) noexcept;
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] std::span<const engine_load> all() const noexcept { return {all_.data(), count_}; }

 private:
  std::array<engine_load, 16> all_;
  std::size_t count_ = 0;
};

// Leaves `out` empty if there is nothing to compare.
void loads_of(const client_list& now, const client_list& before, slot card, load_sum& out);

// Engines of a card by class, from fdinfo of all clients: load, number, and a busy time that only
// grows, though clients end and their counters vanish.
class engine_totals {
 public:
  // Saves the gain from `before` to `now`, before `before` is dropped. `loads` is overwritten.
  void keep(const client_list& now, const client_list& before, std::span<const card> cards,
            load_sum& loads);
  void forget() noexcept { kept_.clear(); }

  // `load` is since `before`.
  void write(const client_list& before, const card& of, const card_load& load,
             std::vector<metric>& out);

 private:
  struct total {
    slot card = 0;
    std::uint32_t engine = 0;
    std::uint64_t busy_ns = 0;
  };

  // Returns the total. A new one starts with what the clients had used by `then`.
  total& until(const client_list& then, slot card, std::uint32_t engine);

  std::vector<total> kept_;
};

}  // namespace hmn::drm
