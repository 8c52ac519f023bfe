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

// Schedule of the search for new clients. Each process is searched within `every_ns`; over several
// readings in that time, each searches about an equal share. The search takes at most `percent` of
// a core. If that does not suffice, it goes through the processes from pid to pid over several
// readings: it compares their numbers of descriptors, and searches one in `turns` of them.

enum class Search {
  none,   // only the known clients are read
  count,  // all descriptors if there are more or fewer than before
  all,    // all descriptors
};

class ScanSchedule {
 public:
  // 100 percent: the search is not limited.
  ScanSchedule(std::uint64_t every_ns, std::uint32_t percent) noexcept
      : every_ns_(every_ns), percent_(percent) {}

  // Begins a walk over `known` processes.
  void begin(std::uint64_t now_ns, std::size_t known) noexcept;
  // Whether this walk lists the processes; if so, the time that took is passed to listed().
  [[nodiscard]] bool may_list() const noexcept;
  void listed(std::uint64_t used_ns) noexcept;
  // Called once per walk for each known process, in order of pids. `is_client`: it has clients.
  [[nodiscard]] Search of_known(std::uint32_t pid, std::uint64_t looked_ns, bool is_client,
                                Search otherwise) noexcept;
  // Whether this walk searches a process that is not known yet.
  [[nodiscard]] bool may_add() const noexcept;
  // Counts the processor time of a search in a process without clients.
  void used(std::uint64_t used_ns) noexcept;
  void end() noexcept;

  [[nodiscard]] bool is_limited() const noexcept { return percent_ < 100 && every_ns_ != 0; }
  // Whether something seen at that time is older than allowed.
  [[nodiscard]] bool is_outdated(std::uint64_t seen_ns) const noexcept {
    return last_ns_ - seen_ns > every_ns_;
  }
  // Whether readings are so rare that each one's share of the search would be large.
  [[nodiscard]] bool is_slow(std::uint64_t now_ns) const noexcept;

 private:
  [[nodiscard]] std::int64_t share_of(std::uint64_t time_ns) const noexcept;
  [[nodiscard]] bool is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept;
  [[nodiscard]] bool is_overdue(std::uint64_t looked_ns) const noexcept;

  std::uint64_t every_ns_;
  std::uint32_t percent_;
  std::uint64_t last_ns_ = 0;  // 0: no walk yet
  std::uint64_t latest_ns_ = 0;
  double credit_ = 0;         // processes that this walk may search
  std::uint32_t cursor_ = 0;  // last pid that was searched
  std::uint32_t last_pid_ = 0;

  bool is_first_ = true;
  std::int64_t allowed_ns_ = 0;      // processor time that is left
  std::int64_t new_allowed_ns_ = 0;  // that this walk may take for processes that are not known
  std::uint64_t listed_ns_ = 0;
  std::uint64_t listing_ns_ = 0;  // processor time of a listing
  bool is_spent_ = false;         // in this walk
  bool is_behind_ = false;        // spent before all processes had their turn
  std::uint32_t resume_ = 0;      // last pid before the time was spent
  std::uint32_t turn_ = 0;        // of the passes over all processes
};

// Scope of one walk. Every walk reads the known clients and scans new processes and those that are
// scheduled: each process is scanned completely once within `rescan_ns`, if the allowed processor
// time suffices. The first walk is always complete.
enum class Extent {
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
  std::uint32_t remembered = 0;   // not scanned now, except as `extent` requires
  std::uint64_t oldest_look = 0;  // time of the oldest of those scans, or of the list of processes
  bool is_outdated = false;       // longer ago than `rescan_ns`
  int error = 0;                  // of the last unreadable one
  int no_tree = 0;                // errno if /proc itself cannot be listed
  bool is_hidden = false;         // those of other users are hidden (mount option hidepid)
  bool has_own = false;           // the caller's own is among them, and was readable

  [[nodiscard]] bool is_complete() const noexcept {
    return unreadable == 0 && not_reached == 0 && waiting == 0 && !is_outdated && no_tree == 0 &&
           !is_hidden;
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
                std::uint64_t deadline_ns, ClientList& out, Extent how = Extent::rolling);
  // Scope for the rate of readings: rolling if there are several within `rescan_ns`.
  [[nodiscard]] Extent suited_to(std::uint64_t now_ns) const noexcept {
    return schedule_.is_slow(now_ns) ? Extent::complete : Extent::rolling;
  }
  // Scans one process ("self", "123"). Returns 0 or errno: ESRCH if it does not exist.
  int scan_one(std::string_view who, std::uint32_t pid, const CardList& cards, bool may_wake,
               ClientList& out);
  void forget() noexcept;

 private:
  struct Held {
    std::uint32_t descriptor = 0;
    Slot card = 0;
  };
  struct Process {
    std::uint32_t pid = 0;
    std::uint32_t held_count = 0;
    std::uint32_t other_count = 0;
    std::size_t first_held = 0;
    std::size_t first_other = 0;
    std::uint64_t inode = 0;  // of its folder fd; differs for another process with the pid
    std::uint64_t looked_ns = 0;
    int error = 0;  // why it was not fully scanned
    bool is_kernel_thread = false;
  };
  // What a walk leaves to the next one.
  struct Memory {
    std::vector<Process> processes;  // by pid
    std::vector<Held> held_ones;
    std::vector<std::uint32_t> others;  // descriptors of no card

    void clear() noexcept {
      processes.clear();
      held_ones.clear();
      others.clear();
    }
  };
  struct Walk {
    const CardList& cards;
    bool may_wake;
    ClientList& out;
    std::uint64_t now_ns;
    Extent how;
  };
  struct Look {
    const Walk& w;
    Process& p;
    const platform::Directory& from;
    std::span<const std::uint32_t> others;  // descriptors of no card, as long as they stay open
    const platform::Directory* links = nullptr;  // its folder fd, while being listed
  };

  int list_pids(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t used_ns() const noexcept;
  [[nodiscard]] std::uint32_t find_own_pid() const;
  bool hides_others();
  Process start(std::uint32_t pid) const noexcept;
  // Returns false if the process is gone.
  bool take(Process& p, const Process* before, const Walk& w);
  void remember(Process& p, const Process& before);
  void carry_over(const Process& before);
  void count(const Process& p, const Walk& w, Coverage& seen) const noexcept;
  void visit(Process& p, std::string_view who, const Process* before, const Walk& w);
  void look_through(Look& l);
  void look_at(Look& l, std::string_view name);
  void look_at_unknown(Look& l, std::string_view name, int error);
  [[nodiscard]] bool holds_as_many(const Process& before) const noexcept;
  bool revisit(Process& p, const Process& before, const Walk& w);
  bool read_known(Look l, const Process& before);
  void keep(Look& l, std::string_view name, const Card& of);
  void keep_other(Look& l, std::string_view name);
  platform::ErrnoOr<std::string_view> read_text(const Look& l, std::string_view name);
  void add_known(Look& l, std::string_view name, const Card& of);
  void note_kernel_thread(const Look& l);

  std::string proc_root_;
  ScanSchedule schedule_;
  std::vector<std::uint32_t> pids_;
  std::uint64_t listed_ns_ = 0;
  bool is_hidden_ = false;
  std::uint32_t own_pid_ = 0;  // in the namespace of the tree; 0: unknown
  std::array<Memory, 2> memories_;
  Memory* known_ = &memories_[0];  // of the last walk
  Memory* fresh_ = &memories_[1];  // of this one
  std::array<char, 16384> text_;
};

}  // namespace hmn::drm
