// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Walk over /proc/<pid>/fd for descriptors of DRM devices. It remembers each process's descriptors
// and checks their texts, so that a reused pid or descriptor is at worst noticed late, and never
// mistaken for another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/card_list.hpp"
#include "backends/drm/clients.hpp"
#include "platform/file.hpp"

namespace hmn::drm {

// Schedule of the search for new clients. Each process is searched within `interval_ns`; over
// several readings in that time, each searches about an equal share. The search takes at most
// `percent` of a core. If that does not suffice, it goes through the processes from pid to pid over
// several readings: it compares their numbers of descriptors, and searches one in `passes` of them.

enum class Search {
  none,   // only the known clients are read
  count,  // all descriptors if there are more or fewer than before
  all,    // all descriptors
};

class ScanSchedule {
 public:
  // 100 percent: the search is not limited.
  ScanSchedule(std::uint64_t interval_ns, std::uint32_t percent) noexcept
      : interval_ns_(interval_ns), percent_(percent) {}

  // Begins a walk over `known_count` known processes.
  void begin(std::uint64_t now_ns, std::size_t known_count) noexcept;
  // Whether this walk lists the processes; if so, the time that took is passed to count_listing().
  [[nodiscard]] bool may_list() const noexcept;
  void count_listing(std::uint64_t used_ns) noexcept;
  // Called once per walk for each known process, in order of pids. `is_client`: it has clients.
  [[nodiscard]] Search choose_search(std::uint32_t pid, std::uint64_t searched_ns, bool is_client,
                                     Search default_search) noexcept;
  // Whether this walk searches a process that is not known yet.
  [[nodiscard]] bool may_add() const noexcept;
  // Counts the processor time of a search in a process without clients.
  void count_search(std::uint64_t used_ns) noexcept;
  void end() noexcept;

  [[nodiscard]] bool is_limited() const noexcept { return percent_ < 100 && interval_ns_ != 0; }
  // Whether something seen at that time is older than allowed.
  [[nodiscard]] bool is_outdated(std::uint64_t seen_ns) const noexcept {
    return last_ns_ - seen_ns > interval_ns_;
  }
  // Whether readings are so rare that each one's share of the search would be large.
  [[nodiscard]] bool is_slow(std::uint64_t now_ns) const noexcept;

 private:
  [[nodiscard]] std::int64_t allowed_share(std::uint64_t time_ns) const noexcept;
  [[nodiscard]] bool is_due(std::uint32_t pid, std::uint64_t searched_ns) noexcept;
  [[nodiscard]] bool is_overdue(std::uint64_t searched_ns) const noexcept;

  std::uint64_t interval_ns_;
  std::uint32_t percent_;
  std::uint64_t last_ns_ = 0;  // 0: no walk yet
  std::uint64_t next_ns_ = 0;
  double credit_ = 0;         // processes that this walk may search
  std::uint32_t cursor_ = 0;  // last pid that was searched
  std::uint32_t last_pid_ = 0;

  bool is_first_ = true;
  std::int64_t allowed_ns_ = 0;      // processor time that is left
  std::int64_t new_allowed_ns_ = 0;  // that this walk may take for processes that are not known
  std::uint64_t last_listing_ns_ = 0;
  std::uint64_t listing_used_ns_ = 0;  // processor time of a listing
  bool is_spent_ = false;              // in this walk
  bool is_behind_ = false;             // spent before all processes had their search
  std::uint32_t resume_pid_ = 0;       // last pid before the time was spent
  std::uint32_t pass_ = 0;             // of the passes over all processes
};

// Scope of one walk. Every walk reads the known clients and scans new processes and those that are
// scheduled: each process is scanned completely once within `rescan_ns`, if the allowed processor
// time suffices. The first walk is always complete.
enum class ScanScope {
  rolling,   // nothing more: a new client of a known process is seen within `rescan_ns`
  complete,  // also processes with another number of descriptors than before, so that a new client
             // is seen now, unless as many were closed; if the number is unknown, all of them.
             // Anything missed is seen within `rescan_ns`
};

// What a walk has seen and what it has missed, which decides whether absence proves anything.
struct Coverage {
  std::uint32_t processes = 0;    // that could hold a descriptor: not kernel threads
  std::uint32_t unreadable = 0;   // access refused, or out of descriptors
  std::uint32_t not_reached = 0;  // not reached before the deadline
  std::uint32_t waiting = 0;      // new ones, left to later walks
  std::uint32_t remembered = 0;   // not scanned now, except as ScanScope requires
  // Time of the oldest of those scans, or of the list of processes.
  std::uint64_t oldest_search_ns = 0;
  bool is_outdated = false;   // longer ago than `rescan_ns`
  int error = 0;              // of the last unreadable one
  int tree_error = 0;         // errno if /proc itself cannot be listed
  bool hides_others = false;  // those of other users are hidden (mount option hidepid)
  bool has_own = false;       // the caller's own is among them, and was readable

  [[nodiscard]] bool is_complete() const noexcept {
    return unreadable == 0 && not_reached == 0 && waiting == 0 && !is_outdated && tree_error == 0 &&
           !hides_others;
  }
};

class Scanner {
 public:
  // `percent`: most processor time of the search for new clients, of a core.
  Scanner(std::string proc_root, std::uint64_t rescan_ns, std::uint32_t percent)
      : proc_root_(std::move(proc_root)), schedule_(rescan_ns, percent) {}
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Scans every process. `may_wake`: also reads descriptors of sleeping cards.
  Coverage scan(const CardList& cards, bool may_wake, std::uint64_t now_ns,
                std::uint64_t deadline_ns, ClientList& out, ScanScope scope = ScanScope::rolling);
  // Scope for the rate of readings: rolling if there are several within `rescan_ns`.
  [[nodiscard]] ScanScope choose_scope(std::uint64_t now_ns) const noexcept {
    return schedule_.is_slow(now_ns) ? ScanScope::complete : ScanScope::rolling;
  }
  // Scans one process ("self", "123"). Returns 0 or errno: ESRCH if it does not exist.
  int scan_process(std::string_view name, std::uint32_t pid, const CardList& cards, bool may_wake,
                   ClientList& out);
  void forget() noexcept;

 private:
  struct CardDescriptor {
    std::uint32_t number = 0;
    Slot card = 0;
  };
  struct Process {
    std::uint32_t pid = 0;
    std::uint32_t descriptor_count = 0;
    std::uint32_t other_count = 0;
    std::size_t first_descriptor = 0;
    std::size_t first_other = 0;
    std::uint64_t inode = 0;  // of its folder fd; differs for another process with the pid
    std::uint64_t searched_ns = 0;
    int error = 0;  // why it was not fully scanned
    bool is_kernel_thread = false;
  };
  // What a walk leaves to the next one.
  struct ProcessTable {
    std::vector<Process> processes;  // by pid
    std::vector<CardDescriptor> descriptors;
    std::vector<std::uint32_t> others;  // descriptors of no card

    void clear() noexcept {
      processes.clear();
      descriptors.clear();
      others.clear();
    }
  };
  struct Walk {
    const CardList& cards;
    bool may_wake;
    ClientList& clients;
    std::uint64_t now_ns;
    ScanScope scope;
  };
  // One process being scanned in a walk, passed to the functions that inspect its descriptors.
  struct Inspection {
    const Walk& walk;
    Process& process;
    const platform::Directory& folder;
    std::span<const std::uint32_t> others;  // descriptors of no card, as long as they stay open
    const platform::Directory* links = nullptr;  // its folder fd, while being listed
  };

  int list_pids(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t used_ns() const noexcept;
  [[nodiscard]] std::uint32_t find_own_pid() const;
  bool hides_others();
  Process make_process(std::uint32_t pid) const noexcept;
  // Returns false if the process is gone.
  bool update_process(Process& process, const Process* previous, const Walk& walk);
  void remember(Process& process, const Process& previous);
  void carry_over(const Process& previous);
  void count(const Process& process, const Walk& walk, Coverage& coverage) const noexcept;
  void search_process(Process& process, std::string_view name, const Process* previous,
                      const Walk& walk);
  void inspect_descriptors(Inspection& inspection);
  void inspect_descriptor(Inspection& inspection, std::string_view name);
  void inspect_unknown(Inspection& inspection, std::string_view name, int error);
  [[nodiscard]] bool has_same_count(const Process& previous) const noexcept;
  bool reread_process(Process& process, const Process& previous, const Walk& walk);
  bool read_known(Inspection inspection, const Process& previous);
  void store_descriptor(Inspection& inspection, std::string_view name, const Card& card);
  void store_other(Inspection& inspection, std::string_view name);
  platform::ErrnoOr<std::string_view> read_text(const Inspection& inspection,
                                                std::string_view name);
  void add_client(Inspection& inspection, std::string_view name, const Card& card);
  void note_kernel_thread(const Inspection& inspection);

  std::string proc_root_;
  ScanSchedule schedule_;
  std::vector<std::uint32_t> pids_;
  std::uint64_t listed_ns_ = 0;
  bool is_hidden_ = false;
  std::uint32_t own_pid_ = 0;  // in the namespace of the tree; 0: unknown
  std::array<ProcessTable, 2> tables_;
  ProcessTable* previous_ = &tables_[0];  // of the last walk
  ProcessTable* current_ = &tables_[1];   // of this one
  std::array<char, 16384> text_;
};

}  // namespace hmn::drm
