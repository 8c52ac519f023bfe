// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every device ever seen, and which of them exist now. A device keeps its slot by UUID, else by PCI
// address, when NVML is opened again, its driver reloaded, or the device absent for a while.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/nvml/call.hpp"
#include "backends/nvml/device.hpp"
#include "backends/nvml/session.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// State of a device that returned `c`.
state state_after(code c) noexcept;

class device_list {
 public:
  explicit device_list(const settings& paths) : paths_(paths) {}

  [[nodiscard]] bool is_new() const noexcept { return devices_.empty(); }
  // Gives a device the slot that it had in the list of an earlier source.
  void recall(const device& known, bool listed);

  // Gets each handle once, which may initialise the GPU and then takes seconds.
  static void attach(const topic& t, session& s);

  // Lists the devices of the open library. Identities are read once; a listing that the deadline
  // interrupts continues in the next call. `uninitialized`: NVML must be opened again.
  result<void> enumerate(const topic& t, session& s, const sleep_watch& watch);
  // Whether this opening was enumerated.
  [[nodiscard]] bool knows(const session& s) const noexcept { return session_ == s.number(); }

  // Lists the devices without the library, which stays closed because a device is suspended, or so
  // that one can suspend: states then stay as they were.
  void list_closed(const topic& t, const sleep_watch& watch, const failure* rest);

  // Devices of the last listing in the driver's order, partitions after their parent.
  [[nodiscard]] std::span<const slot> listed() const noexcept { return listed_; }
  [[nodiscard]] bool is_listed(slot number) const noexcept;
  [[nodiscard]] known_device* find(slot number) noexcept;
  [[nodiscard]] std::span<known_device> all() noexcept { return devices_; }
  [[nodiscard]] bool one_is_lost() const noexcept;
  // Returns whether the device may be queried now: reading::may_ask() of its GPU.
  [[nodiscard]] bool may_ask(const topic& t, const known_device& of) const noexcept;

  // Copies the listed devices out, and reports their missing values again.
  void list_devices(const topic& t, std::vector<device>& out) const;

 private:
  struct handle_slot {  // NVML index in this opening
    handle h = nullptr;
    code result = success;
    const char* from = "";  // the call that returned it
    std::optional<slot> number;
    bool is_taken = false;     // in this listing, by a working device
    bool is_repeated = false;  // the driver gave a device of this listing a second time
  };

  code take_handles(const topic& t, session& s, const sleep_watch& watch, const char*& from);
  code take_handle(const topic& t, session& s, unsigned index);
  void drop_what_is_no_device(const topic& t, const session& s, const sleep_watch& watch,
                              unsigned count);
  void take(handle_slot& at) noexcept;
  // Returns whether this listing has a handle for the device.
  [[nodiscard]] bool is_seated(slot number) const noexcept;
  [[nodiscard]] bool is_taken(const known_device& seen) const noexcept;
  bool must_identify(const handle_slot& at, handle h) const noexcept;
  static bool is_where_it_was(const topic& t, const session& s, const known_device& known);
  void note_unreachable(const topic& t, unsigned index, const sleep_watch& watch);
  void keep_instances(slot parent);
  slot number_of_unreachable(unsigned index, const sleep_watch& watch);
  std::optional<pci_address> only_unclaimed(const sleep_watch& watch) const;

  code list_instances(const topic& t, session& s, slot parent);
  code list_each_instance(const topic& t, session& s, slot parent);
  code list_instance(const topic& t, session& s, slot parent, handle h);
  void mark_closed(const topic& t, slot number, const sleep_watch& watch, const failure* rest);

  slot place(known_device&& seen);
  std::optional<slot> match(const known_device& seen) const noexcept;

  const settings& paths_;
  std::vector<known_device> devices_;
  std::vector<slot> listed_;
  std::vector<slot> fresh_;
  std::vector<handle_slot> handles_;
  std::uint64_t listing_ = 1;          // number of the current one
  std::uint64_t session_ = 0;          // the opening that was fully enumerated
  std::uint64_t handles_session_ = 0;  // the opening of `handles_`
};

}  // namespace hmn::nvml
