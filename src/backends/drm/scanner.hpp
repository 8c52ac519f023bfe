// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The walk over /proc/<pid>/fd for descriptors of DRM devices. Which descriptors a process has is
// remembered; what a remembered descriptor says is checked, so that a pid or a descriptor that is
// used again is at worst seen late, never taken for another.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/card_list.hpp"
#include "backends/drm/clients.hpp"
#include "backends/drm/scan_schedule.hpp"
#include "platform/file.hpp"

namespace hmn::drm {

// How much of it one walk does. Every walk reads the known clients, looks into new processes, and
// into those whose turn it is: each process has its turn within `rescan_ns`, and all of its
// descriptors are looked at then. A first walk is complete, whatever it is asked for.
enum class extent {
  rolling,   // nothing more: a new client of a known process is seen within `rescan_ns`
  complete,  // looks into every process with another number of descriptors than before, so that a
             // new client is seen now, unless the process closed as many as it opened; where the
             // number is not told, lists those of all. What is missed is seen within `rescan_ns`
};

// What a walk could see.
struct coverage {
  std::uint32_t processes = 0;    // that could hold a descriptor: kernel threads do not count
  std::uint32_t unreadable = 0;   // the system refused, or nothing was left to open them with
  std::uint32_t not_reached = 0;  // before the deadline
  std::uint32_t remembered = 0;   // not looked through now, but for what `extent` says
  std::uint64_t oldest_look = 0;  // when the first of those was, monotonic
  int error = 0;                  // of the last unreadable one
  int no_tree = 0;                // errno: /proc itself cannot be listed
  bool is_hidden = false;         // those of other users (mount option hidepid)

  [[nodiscard]] bool is_complete() const noexcept {
    return unreadable == 0 && not_reached == 0 && no_tree == 0 && !is_hidden;
  }
};

class scanner {
 public:
  scanner(std::string proc_root, std::uint64_t rescan_ns)
      : proc_root_(std::move(proc_root)), schedule_(rescan_ns) {}

  // Every process. `may_wake`: descriptors of sleeping cards are read as well.
  coverage scan(const card_list& cards, bool may_wake, std::uint64_t now_ns,
                std::uint64_t deadline_ns, client_list& out, extent how = extent::rolling);
  // What suits the pace of the readings: rolling where there are several within `rescan_ns`.
  [[nodiscard]] extent suited_to(std::uint64_t now_ns) const noexcept {
    return schedule_.is_slow(now_ns) ? extent::complete : extent::rolling;
  }
  // One process ("self", "123"); 0 or errno: ESRCH when there is none.
  int scan_one(std::string_view who, std::uint32_t pid, const card_list& cards, bool may_wake,
               client_list& out);
  void forget() noexcept;

  // Whether `card` was met asleep in the last walk, so that its clients were not read.
  [[nodiscard]] bool met_asleep(slot card) const noexcept;

 private:
  struct held {
    std::uint32_t descriptor = 0;
    slot card = 0;
  };
  struct process {
    std::uint32_t pid = 0;
    std::uint32_t held_count = 0;
    std::uint32_t other_count = 0;
    std::size_t first_held = 0;
    std::size_t first_other = 0;
    std::uint64_t inode = 0;  // of its folder fd; another process with the pid has another one
    std::uint64_t looked_ns = 0;
    int error = 0;  // why not all of it was seen
    bool is_kernel_thread = false;
  };
  // One walk.
  struct walk {
    const card_list& cards;
    bool may_wake;
    client_list& out;
    std::uint64_t now_ns;
    extent how;
  };
  // At one process.
  struct look {
    const walk& w;
    process& p;
    const platform::directory& from;
    std::span<const std::uint32_t> others;  // known to be of no card, as long as they stay open
    const platform::directory* links = nullptr;  // its folder fd, while that is listed
  };

  int list_pids();
  bool hides_others();
  process start(std::uint32_t pid) const noexcept;
  // False: the process is gone.
  bool take(process& p, const process* before, const walk& w);
  void remember(process& p, const process& before);
  void carry_over(const process& before);
  void count(const process& p, const walk& w, coverage& seen) const noexcept;
  void visit(process& p, std::string_view who, const process* before, const walk& w);
  void look_through(look& l);
  void look_at(look& l, std::string_view name);
  void look_at_unknown(look& l, std::string_view name, int error);
  [[nodiscard]] bool holds_as_many(const process& before) const noexcept;
  bool revisit(process& p, const process& before, const walk& w);
  bool read_known(look l, const process& before);
  void keep(look& l, std::string_view name, const card& of);
  void keep_other(look& l, std::string_view name);
  platform::errno_or<std::string_view> read_text(const look& l, std::string_view name);
  void add_known(look& l, std::string_view name, const card& of);
  void note_kernel_thread(const look& l);

  std::string proc_root_;
  scan_schedule schedule_;
  std::vector<std::uint32_t> pids_;
  std::vector<process> known_, fresh_;  // by pid
  std::vector<held> held_, fresh_held_;
  std::vector<std::uint32_t> others_, fresh_others_;  // descriptors of no card
  std::vector<slot> asleep_;
  std::array<char, 16384> text_;
};

}  // namespace hmn::drm
