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
struct ClientKey {
  enum class Kind : std::uint32_t {
    none,   // no id
    pasid,  // amdgpu before client ids
    id,
  };
  Kind kind = Kind::none;
  Slot card = 0;
  std::uint64_t value = 0;

  friend auto operator<=>(const ClientKey&, const ClientKey&) = default;
};

struct EngineSample {
  Text<24> name;
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;
  std::uint64_t capacity = 1;
};

struct Client {
  ClientKey key;
  std::uint32_t pid = 0;
  bool is_reported = false;        // its text was readable
  bool is_held_elsewhere = false;  // also by another process
  bool is_garbled = false;         // its text has no memory because it is cut, or makes no sense
  int error = 0;                   // why its text was not readable
  ClientUse use;
  std::size_t first_engine = 0;
  std::size_t engine_count = 0;
};

class ClientList {
 public:
  void clear() noexcept;
  // Adds a descriptor of `pid` on a card; pids come in order. `info` nullptr: not parsed. A client
  // that the process already has counts once.
  void add(const Card& card, std::uint32_t pid, const Fdinfo* info);
  // Adds a descriptor whose text could not be read: it may or may not belong to a known client.
  void add_unread(const Card& card, std::uint32_t pid, int error);
  // Removes the descriptors of `pid` that were added last: they may be incomplete.
  void drop_last(std::uint32_t pid) noexcept;
  void mark_last_partial(std::uint32_t pid) noexcept;
  // Finds the clients that several processes hold. Call once all are added.
  void finish();
  // Notes a descriptor of a suspended card, which was not read.
  void add_asleep(Slot card) { asleep_.push_back(card); }

  [[nodiscard]] bool has_asleep(Slot card) const noexcept;

  [[nodiscard]] std::span<const Client> all() const noexcept { return clients_; }
  [[nodiscard]] std::span<const EngineSample> client_engines(const Client& client) const noexcept {
    return std::span(engines_).subspan(client.first_engine, client.engine_count);
  }
  [[nodiscard]] std::span<const Client> process_clients(std::uint32_t pid) const noexcept;
  // Visits the clients of one card, by key. `is_repeated`: has the same key as the one before.
  void for_each_by_key(Slot card, FunctionRef<void(const Client&, bool is_repeated)> visit) const;
  // Returns a client with the key, else nullptr.
  [[nodiscard]] const Client* find(const ClientKey& key) const noexcept;

  std::uint64_t start_ns = 0;      // start of the walk
  std::uint64_t suspended_ns = 0;  // at that time: platform::suspended_ns()

 private:
  void begin_process(std::uint32_t pid) noexcept;
  void store_engines(const Fdinfo& info, Client& client);

  std::vector<Client> clients_;  // in the order found
  std::vector<std::uint32_t> key_order_;
  std::vector<EngineSample> engines_;
  std::vector<Slot> asleep_;
  std::size_t first_of_process_ = 0;
  std::uint32_t last_pid_ = 0;
};

// The newest walk, and an older one that loads are relative to; empty if start_ns is 0.
class WalkPair {
 public:
  WalkPair() noexcept = default;
  WalkPair(const WalkPair&) = delete;
  WalkPair& operator=(const WalkPair&) = delete;

  [[nodiscard]] ClientList& newest() const noexcept { return *newest_; }
  [[nodiscard]] ClientList& baseline() const noexcept { return *baseline_; }
  // Makes the newest one the older one; the newest has to be taken again.
  void rotate() noexcept { std::swap(newest_, baseline_); }

 private:
  std::array<ClientList, 2> lists_;
  ClientList* newest_ = &lists_[0];
  ClientList* baseline_ = &lists_[1];
};

// Merges the clients of one process on one card into one row. Percentages are since `baseline` if
// it has the clients, too. Of memory that several clients share, the largest part counts: they may
// list the same buffers. That, and clients whose text could not be read, makes the values lower
// bounds. Returns the usage_field bits of values that only part of the memory or of the clients
// has, and of a load that cannot be computed.
FieldSet fill_row(const ClientList& newest, const ClientList& baseline, Slot card,
                  std::uint32_t pid, Usage& out);
// Returns 0, or why the text of one of them could not be read; EBADMSG: it makes no sense.
int find_error(const ClientList& newest, Slot card, std::uint32_t pid);
// Lists the pids that hold a client of the card, in the order found.
void find_card_pids(const ClientList& newest, Slot card, std::vector<std::uint32_t>& out);
// Counts each client once.
CardUse sum_card_use(const ClientList& newest, Slot card);
// Loads by name of engine, with space for as many engines as one client can have.
class EngineLoads {
 public:
  void add(const EngineLoad& load) noexcept;
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] std::span<const EngineLoad> all() const noexcept { return {all_.data(), count_}; }

 private:
  std::array<EngineLoad, 16> all_;
  std::size_t count_ = 0;
};

// Leaves `out` empty if there is nothing to compare.
void compute_loads(const ClientList& newest, const ClientList& baseline, Slot card,
                   EngineLoads& out);

// Engines of a card by class, from fdinfo of all clients: load, number, and a busy time that only
// grows, though clients end and their counters vanish.
class EngineTotals {
 public:
  // Saves the gain from `baseline` to `newest`, before `baseline` is dropped. `loads` is
  // overwritten.
  void accumulate(const ClientList& newest, const ClientList& baseline, std::span<const Card> cards,
                  EngineLoads& loads);
  void forget() noexcept { totals_.clear(); }

  // `load` is since `baseline`.
  void write(const ClientList& baseline, const Card& card, const CardLoad& load,
             std::vector<Metric>& out);

 private:
  struct Total {
    Slot card = 0;
    std::uint32_t engine = 0;
    std::uint64_t busy_ns = 0;
  };

  // Returns the total. A new one starts with what the clients had used in `baseline`.
  Total& find_or_add(const ClientList& baseline, Slot card, std::uint32_t engine);

  std::vector<Total> totals_;
};

}  // namespace hmn::drm
