// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a walk over /proc found: who holds which client of which card, and what it uses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/drm/card.hpp"
#include "backends/drm/driver.hpp"
#include "backends/drm/use.hpp"
#include "model/function_ref.hpp"

namespace hmn::drm {

// Which client of a card a descriptor is of: several descriptors, also of several processes, may be
// of one.
struct client_key {
  enum class kind : std::uint32_t {
    none,   // nothing tells it
    pasid,  // amdgpu before it had client ids
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
  bool is_told = false;            // it had a text that could be read
  bool is_held_elsewhere = false;  // by another process as well
  int error = 0;                   // why its text could not be read
  client_use use;
  std::size_t first_engine = 0;
  std::size_t engine_count = 0;
};

class client_list {
 public:
  void clear() noexcept;
  // In order of pids. A descriptor of `pid` on a card; `info` nullptr: it tells nothing. A client
  // that the process was seen with already counts once.
  void add(const card& of, std::uint32_t pid, const fdinfo* info);
  // One whose text could not be read: it may be of a client that is known, or not.
  void add_unread(const card& of, std::uint32_t pid, int error);
  // What was added of `pid`, when that was the last: away with it, or it may not be all.
  void drop_last(std::uint32_t pid) noexcept;
  void mark_last_partial(std::uint32_t pid) noexcept;
  // Once all were added: finds those that several processes hold.
  void finish();

  [[nodiscard]] std::span<const client> all() const noexcept { return clients_; }
  [[nodiscard]] std::span<const engine_sample> engines_of(const client& c) const noexcept {
    return std::span(engines_).subspan(c.first_engine, c.engine_count);
  }
  [[nodiscard]] std::span<const client> of_pid(std::uint32_t pid) const noexcept;
  // Those of one card; clients that several processes hold follow each other.
  void each_by_key(slot card, function_ref<void(const client&)> visit) const;
  // One of those with the key; nullptr: none.
  [[nodiscard]] const client* find(const client_key& key) const noexcept;

  std::uint64_t taken_ns = 0;  // when the walk began

 private:
  void begin(std::uint32_t pid) noexcept;
  void keep_engines(const fdinfo& info, client& c);

  std::vector<client> clients_;  // as they were met
  std::vector<std::uint32_t> by_key_;
  std::vector<engine_sample> engines_;
  std::size_t first_of_pid_ = 0;
  std::uint32_t last_pid_ = 0;
};

// The clients of one process on one card as one row. Percentages since `before`, where it knows the
// clients too. Those whose text could not be read are left out, and make the others a lower bound.
void fill_row(const client_list& now, const client_list& before, slot card, std::uint32_t pid,
              usage& out);
// 0, or why the text of one of them could not be read.
int error_of(const client_list& now, slot card, std::uint32_t pid);
// The pids that hold a client of the card, as they were met.
void pids_on(const client_list& now, slot card, std::vector<std::uint32_t>& out);
// Each client once.
card_use use_of(const client_list& now, slot card);
// By name of engine. Empty: nothing was there to compare.
void loads_of(const client_list& now, const client_list& before, slot card,
              std::vector<engine_load>& out);

}  // namespace hmn::drm
