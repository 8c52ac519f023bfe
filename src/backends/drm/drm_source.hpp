// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/drm/card_list.hpp"
#include "backends/drm/clients.hpp"
#include "backends/drm/scanner.hpp"

namespace hmn::drm {

// What one process used at its last two queries, since load is the difference of both.
struct QueriedProcess {
  std::uint32_t pid = 0;
  bool is_self = false;
  std::uint64_t reading = 0;  // number of the one that took the newest walk, for all cards; 0: none
  int error = 0;              // of that walk
  WalkPair walks;

  // Called before a walk. Makes the newest walk the older one if it is at least `min_age_ns` old.
  void begin(std::uint64_t now_ns, std::uint64_t min_age_ns) noexcept {
    const std::uint64_t start_ns = walks.newest().start_ns;
    if (start_ns != 0 && now_ns - start_ns >= min_age_ns) walks.rotate();
  }
};

class QueriedProcesses {
 public:
  // Returns the entry of a process. If full, the least recently queried one is dropped.
  QueriedProcess& find_or_add(std::uint32_t pid, bool is_self) {
    QueriedProcess* oldest = &all_.front();
    for (QueriedProcess& process : all_) {
      if (process.pid == pid && process.is_self == is_self) return process;
      if (process.walks.newest().start_ns < oldest->walks.newest().start_ns) oldest = &process;
    }
    oldest->pid = pid;
    oldest->is_self = is_self;
    oldest->reading = oldest->walks.newest().start_ns = oldest->walks.baseline().start_ns = 0;
    return *oldest;
  }
  void forget() noexcept {
    for (QueriedProcess& process : all_) process.pid = 0;
  }

 private:
  std::array<QueriedProcess, 8> all_;
};

// The source of all DRM drivers, so that there is one list of cards, and one walk over /proc per
// reading.
class DrmSource final : public DeviceSource {
 public:
  explicit DrmSource(const Settings& settings);

  // False if all drivers are off.
  [[nodiscard]] bool has_drivers() const noexcept { return card_list_.has_drivers(); }

  Result<void> probe() override;
  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& out, Reading& reading) override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out,
                       Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  Result<void> process(Slot slot, std::uint32_t pid, bool is_self, Usage& out,
                       Reading& reading) override;
  bool finish(Reading& reading) override;
  void close() noexcept override;
  SourceState describe(Source source) const override;

 private:
  friend class CardVisit;

  void list_cards();
  [[nodiscard]] Device identify(const Card& card, Reading& reading);
  void diagnose_hidden(const Card& card, Reading& reading) const;
  [[nodiscard]] static Failure make_asleep_failure(const Card& card);
  // Notes a query that would keep the card awake; false if the card is skipped.
  bool begin_query(const Card& card, bool keeps_awake) noexcept;
  [[nodiscard]] bool is_idle(const Card& card, Reading& reading);
  void diagnose_coverage(Reading& reading) const;
  void trace_walk(Reading& reading) const;
  [[nodiscard]] Failure make_not_reached_failure() const;
  [[nodiscard]] Failure make_hidden_failure() const;
  [[nodiscard]] Failure make_unreadable_failure() const;
  // Fails where the walk missed processes that it could have seen.
  [[nodiscard]] Result<void> check_missed() const;
  Result<void> find(Slot slot, const Card*& card) const;
  // Walks over /proc, once per reading.
  Result<void> walk(Reading& reading);
  // The same for the descriptors of one process.
  const QueriedProcess& walk_process(std::uint32_t pid, bool is_self);
  Result<void> fill_process(const Card& card, std::uint32_t pid, bool is_self, Usage& out,
                            Reading& reading);
  [[nodiscard]] Failure make_not_listed_failure(const Card& card,
                                                const QueriedProcess& process) const;
  void finish_row(const Card& card, Usage& row, Reading& reading, std::uint32_t subject,
                  int error) const;
  void add_engines(const Card& card, std::vector<Metric>& out, Reading& reading);

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  CardList card_list_;
  Scanner scanner_;
  std::uint32_t rescan_percent_;
  WalkPair walks_;
  QueriedProcesses queried_processes_;
  std::vector<Usage> process_rows_;
  std::vector<std::uint32_t> pids_;
  EngineLoads loads_;
  EngineTotals engines_;
  CardBackoff backoff_;
  int list_error_ = 0;
  std::uint64_t cards_fingerprint_ = 0;  // fingerprint of the card list
  bool was_listed_ = false;

  std::uint64_t reading_ = 0;  // number of this reading

  bool has_walked_ = false;
  Coverage coverage_;
};

class CardVisit final : public Visit {
 public:
  static constexpr bool quiet = true;  // missing values are not reported

  CardVisit(DrmSource& source, const Card& card, Reading& reading, bool is_quiet = false)
      : source_(source), card_(card), reading_(reading), is_quiet_(is_quiet) {}

  const Card& card() const noexcept override { return card_; }
  std::span<const Card> cards() const noexcept override { return source_.card_list_.all(); }
  const std::string& sys_root() const noexcept override { return source_.sys_root_; }
  bool is_asleep() const noexcept override { return card_.is_asleep && !source_.may_wake_; }
  std::string node_path(Node::Kind kind) const override {
    return source_.card_list_.node_path(card_, kind);
  }
  std::uint64_t deadline_ns() const noexcept override { return reading_.deadline_ns(); }
  Result<CardUse> clients() override;
  Result<CardLoad> load() override;
  bool wants_diagnostics() const noexcept override {
    return !is_quiet_ && reading_.wants_diagnostics();
  }
  void diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields) override;

 private:
  Result<void> walk();
  [[nodiscard]] Failure make_no_load_failure() const;

  DrmSource& source_;
  const Card& card_;
  Reading& reading_;
  bool is_quiet_;
};

}  // namespace hmn::drm
