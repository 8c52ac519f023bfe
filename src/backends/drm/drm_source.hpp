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
struct AskedProcess {
  std::uint32_t pid = 0;
  bool is_self = false;
  std::uint64_t reading = 0;  // number of the one that took the newest walk, for all cards; 0: none
  int error = 0;              // of that walk
  WalkPair walks;

  // Called before a walk. Makes the newest walk the older one if it is at least `apart_ns` old.
  void begin(std::uint64_t now_ns, std::uint64_t apart_ns) noexcept {
    const std::uint64_t taken_ns = walks.now().taken_ns;
    if (taken_ns != 0 && now_ns - taken_ns >= apart_ns) walks.turn();
  }
};

class AskedProcesses {
 public:
  // Returns the entry of a process. If full, the least recently queried one is dropped.
  AskedProcess& of(std::uint32_t pid, bool self) {
    AskedProcess* found = &all_.front();
    for (AskedProcess& a : all_) {
      if (a.pid == pid && a.is_self == self) return a;
      if (a.walks.now().taken_ns < found->walks.now().taken_ns) found = &a;
    }
    found->pid = pid;
    found->is_self = self;
    found->reading = found->walks.now().taken_ns = found->walks.before().taken_ns = 0;
    return *found;
  }
  void forget() noexcept {
    for (AskedProcess& a : all_) a.pid = 0;
  }

 private:
  std::array<AskedProcess, 8> all_;
};

// The source of all DRM drivers, so that there is one list of cards, and one walk over /proc per
// reading.
class DrmSource final : public DeviceSource {
 public:
  explicit DrmSource(const Settings& s);

  // False if all drivers are off.
  [[nodiscard]] bool has_drivers() const noexcept { return card_list_.has_drivers(); }

  Result<void> probe() override;
  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;
  bool finish(Reading& r) override;
  void close() noexcept override;
  SourceState describe(Source which) const override;

 private:
  friend class CardVisit;

  void list();
  [[nodiscard]] Device identity_of(const Card& c, Reading& r);
  void diagnose_hidden(const Card& c, Reading& r) const;
  [[nodiscard]] static Failure why_asleep(const Card& c);
  // Notes a query that would keep the card awake; false if the card is skipped.
  bool may_ask(const Card& c, bool keeps_awake) noexcept;
  [[nodiscard]] bool has_nothing_to_do(const Card& c, Reading& r);
  void diagnose_coverage(Reading& r) const;
  void trace_walk(Reading& r) const;
  [[nodiscard]] Failure why_not_reached() const;
  [[nodiscard]] Failure why_hidden() const;
  [[nodiscard]] Failure why_unreadable() const;
  // Fails where the walk missed processes that it could have seen.
  [[nodiscard]] Result<void> missed() const;
  Result<void> find(Slot number, const Card*& out) const;
  // Walks over /proc, once per reading.
  Result<void> walk(Reading& r);
  // The same for the descriptors of one process.
  const AskedProcess& walk_one(std::uint32_t pid, bool self);
  Result<void> fill_one(const Card& c, std::uint32_t pid, bool self, Usage& out, Reading& r);
  [[nodiscard]] Failure why_not_listed(const Card& c, const AskedProcess& asked) const;
  void finish_row(const Card& c, Usage& row, Reading& r, std::uint32_t about, int error) const;
  void add_engines(const Card& c, std::vector<Metric>& out, Reading& r);

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  CardList card_list_;
  Scanner scanner_;
  std::uint32_t rescan_percent_;
  WalkPair walks_;
  AskedProcesses asked_;
  std::vector<Usage> one_rows_;
  std::vector<std::uint32_t> pids_;
  LoadSum loads_;
  EngineTotals engines_;
  CardBackoff backoff_;
  int list_error_ = 0;
  std::uint64_t cards_ = 0;  // fingerprint of the card list
  bool was_listed_ = false;

  std::uint64_t reading_ = 0;  // number of this reading

  bool has_walked_ = false;
  Coverage seen_;
};

class CardVisit final : public Visit {
 public:
  static constexpr bool quiet = true;  // missing values are not reported

  CardVisit(DrmSource& in, const Card& of, Reading& r, bool is_quiet = false)
      : in_(in), of_(of), reading_(r), is_quiet_(is_quiet) {}

  const Card& of() const noexcept override { return of_; }
  std::span<const Card> all() const noexcept override { return in_.card_list_.all(); }
  const std::string& sys_root() const noexcept override { return in_.sys_root_; }
  bool is_asleep() const noexcept override { return of_.is_asleep && !in_.may_wake_; }
  std::string node_path(Node::Kind what) const override {
    return in_.card_list_.node_path(of_, what);
  }
  std::uint64_t deadline_ns() const noexcept override { return reading_.deadline_ns(); }
  Result<CardUse> clients() override;
  Result<CardLoad> load() override;
  bool wants_diagnostics() const noexcept override {
    return !is_quiet_ && reading_.wants_diagnostics();
  }
  void diagnose(const Failure& why, std::uint32_t about, FieldSet fields) override;

 private:
  Result<void> walk();
  [[nodiscard]] Failure why_no_load() const;

  DrmSource& in_;
  const Card& of_;
  Reading& reading_;
  bool is_quiet_;
};

}  // namespace hmn::drm
