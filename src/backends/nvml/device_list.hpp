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
State state_after(Code c) noexcept;

class DeviceList {
 public:
  explicit DeviceList(const Settings& paths) : paths_(paths) {}

  [[nodiscard]] bool is_new() const noexcept { return devices_.empty(); }
  // Gives a device the slot that it had in the list of an earlier source.
  void recall(const Device& known, bool listed);

  // Gets each handle once, which may initialise the GPU and then takes seconds.
  static void attach(const Topic& t, Session& s);

  // Lists the devices of the open library. Identities are read once; a listing that the deadline
  // interrupts continues in the next call. `uninitialized`: NVML must be opened again.
  Result<void> enumerate(const Topic& t, Session& s, const SleepWatch& watch);
  // Whether this opening was enumerated.
  [[nodiscard]] bool knows(const Session& s) const noexcept { return session_ == s.number(); }

  // Lists the devices without the library, which stays closed because a device is suspended, or so
  // that one can suspend: states then stay as they were.
  void list_closed(const Topic& t, const SleepWatch& watch, const Failure* rest);

  // Devices of the last listing in the driver's order, partitions after their parent.
  [[nodiscard]] std::span<const Slot> listed() const noexcept { return listed_; }
  [[nodiscard]] bool is_listed(Slot number) const noexcept;
  [[nodiscard]] KnownDevice* find(Slot number) noexcept;
  [[nodiscard]] std::span<KnownDevice> all() noexcept { return devices_; }
  [[nodiscard]] bool one_is_lost() const noexcept;
  // Returns whether the device may be queried now: reading::may_ask() of its GPU.
  [[nodiscard]] bool may_ask(const Topic& t, const KnownDevice& of) const noexcept;

  // Copies the listed devices out, and reports their missing values again.
  void list_devices(const Topic& t, std::vector<Device>& out) const;

 private:
  struct HandleSlot {  // NVML index in this opening
    Handle h = nullptr;
    Code result = success;
    const char* from = "";  // the call that returned it
    std::optional<Slot> number;
    bool is_taken = false;     // in this listing, by a working device
    bool is_repeated = false;  // the driver gave a device of this listing a second time
  };

  Code take_handles(const Topic& t, Session& s, const SleepWatch& watch, const char*& from);
  Code take_handle(const Topic& t, Session& s, unsigned index);
  void drop_what_is_no_device(const Topic& t, const Session& s, const SleepWatch& watch,
                              unsigned count);
  void take(HandleSlot& at) noexcept;
  // Returns whether this listing has a handle for the device.
  [[nodiscard]] bool is_seated(Slot number) const noexcept;
  [[nodiscard]] bool is_taken(const KnownDevice& seen) const noexcept;
  bool must_identify(const HandleSlot& at, Handle h) const noexcept;
  static bool is_where_it_was(const Topic& t, const Session& s, const KnownDevice& known);
  void note_unreachable(const Topic& t, unsigned index, const SleepWatch& watch);
  void keep_instances(Slot parent);
  Slot number_of_unreachable(unsigned index, const SleepWatch& watch);
  std::optional<PciAddress> only_unclaimed(const SleepWatch& watch) const;

  Code list_instances(const Topic& t, Session& s, Slot parent);
  Code list_each_instance(const Topic& t, Session& s, Slot parent);
  Code list_instance(const Topic& t, Session& s, Slot parent, Handle h);
  void mark_closed(const Topic& t, Slot number, const SleepWatch& watch, const Failure* rest);

  Slot place(KnownDevice&& seen);
  std::optional<Slot> match(const KnownDevice& seen) const noexcept;

  const Settings& paths_;
  std::vector<KnownDevice> devices_;
  std::vector<Slot> listed_;
  std::vector<Slot> fresh_;
  std::vector<HandleSlot> handles_;
  std::uint64_t listing_ = 1;          // number of the current one
  std::uint64_t session_ = 0;          // the opening that was fully enumerated
  std::uint64_t handles_session_ = 0;  // the opening of `handles_`
};

}  // namespace hmn::nvml
