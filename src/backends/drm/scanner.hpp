// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The walk over /proc/<pid>/fd for descriptors of DRM devices. Which descriptors a process has is
// remembered: known ones are read each time, the others are looked for again within `rescan_ns`.
// What a remembered descriptor says is checked, so that a pid or a descriptor that is used again is
// at worst seen late, never taken for another.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/clients.hpp"
#include "backends/drm/roster.hpp"
#include "platform/file.hpp"

namespace hmn::drm {

// What a walk could see.
struct coverage {
  std::uint32_t processes = 0;    // that could hold a descriptor: kernel threads do not count
  std::uint32_t unreadable = 0;   // the system refused, or nothing was left to open them with
  std::uint32_t not_reached = 0;  // before the deadline
  int error = 0;                  // of the last unreadable one
  int no_tree = 0;                // errno: /proc itself cannot be listed

  [[nodiscard]] bool is_complete() const noexcept {
    return unreadable == 0 && not_reached == 0 && no_tree == 0;
  }
};

class scanner {
 public:
  scanner(std::string proc_root, std::uint64_t rescan_ns)
      : proc_root_(std::move(proc_root)), rescan_ns_(rescan_ns) {}

  // Every process. `may_wake`: descriptors of sleeping cards are read as well.
  coverage scan(const roster& cards, bool may_wake, std::uint64_t now_ns, std::uint64_t deadline_ns,
                client_list& out);
  // One process ("self", "123"); 0 or errno: ESRCH when there is none.
  int scan_one(std::string_view who, std::uint32_t pid, const roster& cards, bool may_wake,
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
    std::size_t first_held = 0;
    std::uint64_t due_ns = 0;
    int error = 0;  // why it could not be looked into
    bool is_kernel_thread = false;
  };
  // One walk.
  struct walk {
    const roster& cards;
    bool may_wake;
    client_list& out;
  };

  int list_pids();
  void visit(process& p, std::string_view who, const walk& w);
  void look_into(process& p, const platform::directory& from, const walk& w);
  bool look_at(process& p, const platform::directory& from, std::string_view name, const walk& w);
  bool look_at_unknown(process& p, const platform::directory& from, std::string_view name,
                       const walk& w);
  bool revisit(process& p, const process& before, const walk& w);
  void keep(process& p, std::string_view name, const card& of);
  platform::errno_or<std::string_view> read_text(const platform::directory& from,
                                                 std::string_view name);
  void add_known(process& p, const platform::directory& from, std::string_view name, const card& of,
                 const walk& w);
  [[nodiscard]] const card* card_of(const platform::directory& from, std::string_view name,
                                    const fdinfo& info, const walk& w) const;
  void note_kernel_thread(process& p, const platform::directory& from);
  [[nodiscard]] std::uint64_t next_due(std::uint32_t pid, std::uint64_t now_ns) const noexcept;

  std::string proc_root_;
  std::uint64_t rescan_ns_;
  std::vector<std::uint32_t> pids_;
  std::vector<process> known_, fresh_;  // by pid
  std::vector<held> held_, fresh_held_;
  std::vector<slot> asleep_;
  std::array<char, 16384> text_;
};

}  // namespace hmn::drm
