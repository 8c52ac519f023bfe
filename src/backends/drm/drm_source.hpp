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
struct asked_process {
  std::uint32_t pid = 0;
  bool is_self = false;
  std::uint64_t reading = 0;  // number of the one that took the newest walk, for all cards; 0: none
  int error = 0;              // of that walk
  walk_pair walks;

  // Called before a walk. Makes the newest walk the older one if it is at least `apart_ns` old.
  void begin(std::uint64_t now_ns, std::uint64_t apart_ns) noexcept {
    const std::uint64_t taken_ns = walks.now().taken_ns;
    if (taken_ns != 0 && now_ns - taken_ns >= apart_ns) walks.turn();
  }
};

class asked_processes {
 public:
  // Returns the entry of a process. If full, the least recently queried one is dropped.
  asked_process& of(std::uint32_t pid, bool self) {
    asked_process* found = &all_.front();
    for (asked_process& a : all_) {
      if (a.pid == pid && a.is_self == self) return a;
      if (a.walks.now().taken_ns < found->walks.now().taken_ns) found = &a;
    }
    found->pid = pid;
    found->is_self = self;
    found->reading = found->walks.now().taken_ns = found->walks.before().taken_ns = 0;
    return *found;
  }
  void forget() noexcept {
    for (asked_process& a : all_) a.pid = 0;
  }

 private:
  std::array<asked_process, 8> all_;
};

// The source of all DRM drivers, so that there is one list of cards, and one walk over /proc per
// reading.
class drm_source final : public device_source {
 public:
  explicit drm_source(const settings& s);

  // False if all drivers are off.
  [[nodiscard]] bool has_drivers() const noexcept { return card_list_.has_drivers(); }

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out, reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;
  bool finish(reading& r) override;
  void close() noexcept override;
  source_state describe(source which) const override;

 private:
  friend class card_visit;

  void list();
  [[nodiscard]] device identity_of(const card& c, reading& r);
  void diagnose_hidden(const card& c, reading& r) const;
  [[nodiscard]] static failure why_asleep(const card& c);
  // Notes a query that would keep the card awake; false if the card is skipped.
  bool may_ask(const card& c, bool keeps_awake) noexcept;
  [[nodiscard]] bool has_nothing_to_do(const card& c, reading& r);
  void diagnose_coverage(reading& r) const;
  void trace_walk(reading& r) const;
  [[nodiscard]] failure why_not_reached() const;
  [[nodiscard]] failure why_hidden() const;
  [[nodiscard]] failure why_unreadable() const;
  // Fails where the walk missed processes that it could have seen.
  [[nodiscard]] result<void> missed() const;
  result<void> find(slot number, const card*& out) const;
  // Walks over /proc, once per reading.
  result<void> walk(reading& r);
  // The same for the descriptors of one process.
  const asked_process& walk_one(std::uint32_t pid, bool self);
  result<void> fill_one(const card& c, std::uint32_t pid, bool self, usage& out, reading& r);
  [[nodiscard]] failure why_not_listed(const card& c, const asked_process& asked) const;
  void finish_row(const card& c, usage& row, reading& r, std::uint32_t about, int error) const;
  void add_engines(const card& c, std::vector<metric>& out, reading& r);

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  card_list card_list_;
  scanner scanner_;
  std::uint32_t rescan_percent_;
  walk_pair walks_;
  asked_processes asked_;
  std::vector<usage> one_rows_;
  std::vector<std::uint32_t> pids_;
  load_sum loads_;
  engine_totals engines_;
  card_backoff backoff_;
  int list_error_ = 0;
  std::uint64_t cards_ = 0;  // fingerprint of the card list
  bool was_listed_ = false;

  std::uint64_t reading_ = 0;  // number of this reading

  bool has_walked_ = false;
  coverage seen_;
};

class card_visit final : public visit {
 public:
  static constexpr bool quiet = true;  // missing values are not reported

  card_visit(drm_source& in, const card& of, reading& r, bool is_quiet = false)
      : in_(in), of_(of), reading_(r), is_quiet_(is_quiet) {}

  const card& of() const noexcept override { return of_; }
  std::span<const card> all() const noexcept override { return in_.card_list_.all(); }
  const std::string& sys_root() const noexcept override { return in_.sys_root_; }
  bool is_asleep() const noexcept override { return of_.is_asleep && !in_.may_wake_; }
  std::string node_path(node::kind what) const override {
    return in_.card_list_.node_path(of_, what);
  }
  std::uint64_t deadline_ns() const noexcept override { return reading_.deadline_ns(); }
  result<card_use> clients() override;
  result<card_load> load() override;
  bool wants_diagnostics() const noexcept override {
    return !is_quiet_ && reading_.wants_diagnostics();
  }
  void diagnose(const failure& why, std::uint32_t about, FieldSet fields) override;

 private:
  result<void> walk();
  [[nodiscard]] failure why_no_load() const;

  drm_source& in_;
  const card& of_;
  reading& reading_;
  bool is_quiet_;
};

}  // namespace hmn::drm
