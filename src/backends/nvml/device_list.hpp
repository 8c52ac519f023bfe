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

// Returns the state of a device whose call returned `code`.
State derive_state(Code code) noexcept;

class DeviceList {
 public:
  explicit DeviceList(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] bool is_new() const noexcept { return devices_.empty(); }
  // Gives a device the slot that it had in the list of an earlier source.
  void restore_device(const Device& device, bool was_listed);

  // Gets each handle once, which may initialise the GPU and then takes seconds.
  static void attach(const CallContext& context, Session& session);

  // Lists the devices of the open library. Identities are read once; a listing that the deadline
  // interrupts continues in the next call. `uninitialized`: NVML must be opened again.
  Result<void> enumerate(const CallContext& context, Session& session, const SleepWatch& watch);
  // Whether this opening was enumerated.
  [[nodiscard]] bool has_enumerated(const Session& session) const noexcept {
    return enumerated_session_ == session.number();
  }

  // Lists the devices without the library, which stays closed because a device is suspended, or so
  // that one can suspend: states then stay as they were.
  void list_without_library(const CallContext& context, const SleepWatch& watch,
                            const Failure* idle_failure);

  // Devices of the last listing in the driver's order, partitions after their parent.
  [[nodiscard]] std::span<const Slot> listed_slots() const noexcept { return listed_slots_; }
  [[nodiscard]] bool is_listed(Slot slot) const noexcept;
  [[nodiscard]] KnownDevice* find(Slot slot) noexcept;
  [[nodiscard]] std::span<KnownDevice> all() noexcept { return devices_; }
  [[nodiscard]] bool any_lost() const noexcept;
  // Returns whether the device may be queried now: Reading::begin_device_call() for its GPU.
  [[nodiscard]] bool begin_device_call(const CallContext& context,
                                       const KnownDevice& device) const noexcept;

  // Copies the listed devices out, and reports their missing values again.
  void list_devices(const CallContext& context, std::vector<Device>& out) const;

 private:
  struct HandleSlot {  // NVML index in this opening
    Handle handle = nullptr;
    Code result = success;
    const char* function_name = "";  // the call that returned it
    std::optional<Slot> slot;
    bool is_claimed = false;   // in this listing, by a working device
    bool is_repeated = false;  // the driver gave a device of this listing a second time
  };

  Code read_handles(const CallContext& context, Session& session, const SleepWatch& watch,
                    const char*& function_name);
  Code read_handle(const CallContext& context, Session& session, unsigned index);
  void drop_invalid_handles(const CallContext& context, const Session& session,
                            const SleepWatch& watch, unsigned count);
  void claim(HandleSlot& entry) noexcept;
  // Returns whether this listing has a handle for the device.
  [[nodiscard]] bool has_current_handle(Slot slot) const noexcept;
  [[nodiscard]] bool is_already_listed(const KnownDevice& device) const noexcept;
  bool must_identify(const HandleSlot& entry, Handle handle) const noexcept;
  static bool has_same_address(const CallContext& context, const Session& session,
                               const KnownDevice& device);
  void mark_unreachable(const CallContext& context, unsigned index, const SleepWatch& watch);
  void keep_instances(Slot parent);
  Slot identify_unreachable(unsigned index, const SleepWatch& watch);
  std::optional<PciAddress> find_unclaimed_address(const SleepWatch& watch) const;

  Code update_instances(const CallContext& context, Session& session, Slot parent);
  Code enumerate_instances(const CallContext& context, Session& session, Slot parent);
  Code list_instance(const CallContext& context, Session& session, Slot parent, Handle handle);
  void mark_closed(const CallContext& context, Slot slot, const SleepWatch& watch,
                   const Failure* idle_failure);

  Slot store_device(KnownDevice&& device);
  std::optional<Slot> match(const KnownDevice& device) const noexcept;

  const Settings& settings_;
  std::vector<KnownDevice> devices_;
  std::vector<Slot> listed_slots_;
  std::vector<Slot> new_slots_;
  std::vector<HandleSlot> handles_;
  std::uint64_t listing_number_ = 1;      // number of the current one
  std::uint64_t enumerated_session_ = 0;  // the opening that was fully enumerated
  std::uint64_t handles_session_ = 0;     // the opening of `handles_`
};

}  // namespace hmn::nvml
