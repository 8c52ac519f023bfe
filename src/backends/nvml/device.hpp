// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/call.hpp"
#include "backends/nvml/session.hpp"
#include "backends/shared/pci/pci.hpp"
#include "model/device.hpp"
#include "model/diagnostic.hpp"
#include "model/pci_address.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// A device's PCI address. Nothing here wakes a device.

// Returns the address in a struct that NVML has filled, of any generation.
std::optional<PciAddress> extract_address(const PciInfo& info) noexcept;

// Returns N of /dev/dri/renderDN.
std::optional<std::uint32_t> find_render_minor(const std::string& sys_root,
                                               const PciAddress& address);

// Properties that distinguish dedicated memory from host RAM.
struct MemoryTraits {
  bool has_address_translation = false;  // ATS
  bool has_chip_to_chip = false;
  bool is_off_bus = false;         // neither a PCI address nor a BAR1
  bool is_system_on_chip = false;  // by backends/shared/pci/pci.hpp
  bool is_virtual_gpu = false;     // the host may also refuse BAR1
  std::optional<std::uint32_t> numa_node;
  // The call that should have reported a mode and did not.
  const char* unknown_mode_function = nullptr;
};

// Faults of a device since it was first watched (FaultWatch).
struct FaultRecord {
  Handle handle = nullptr;
  std::uint64_t session = 0;  // number of the session that registered it
  Code result = success;
  const NamedSymbol* function = nullptr;
  std::optional<std::uint64_t> last_fault;
};

// Everything kept about a device since it was first listed; its index in the device list is its
// slot.
struct KnownDevice {
  Device identity;
  std::optional<PciAddress> address;
  MemoryTraits traits;
  Handle handle = nullptr;
  std::uint64_t session = 0;       // number of the session that `handle` belongs to
  std::size_t list_index = 0;      // position in the last listing of the open library
  std::uint64_t last_listing = 0;  // last listing that gave a handle for it
  bool has_only_memory_v1 = false;
  bool is_mig_capable = false;
  bool is_mig_on = false;
  std::uint64_t mig_checked_ns = 0;    // when MIG was last found to be off; 0: it is not off
  Code refusal = success;              // why it is unusable: no handle, or its last return code
  const char* refusing_function = "";  // the call that returned it
  std::vector<Diagnostic> gaps;        // missing identity values, and why
  FaultRecord faults;

  [[nodiscard]] bool is_lost() const noexcept { return refusal == gpu_is_lost; }
  [[nodiscard]] bool is_partition() const noexcept { return identity.is_partition; }
};

// Common part of the readers of a device's values, of which some are both telemetry and metrics: a
// missing value is reported, and some codes end the reading.

// An unsigned long has 4 bytes on Windows and on 32-bit Linux.
constexpr bool is_32_bit(const FieldValue& field) noexcept {
  return field.type == field_unsigned_int || field.type == field_signed_int ||
         (field.type == field_unsigned_long && sizeof(unsigned long) == 4);
}

constexpr double to_number(const FieldValue& field) noexcept {
  return is_32_bit(field) ? static_cast<std::int32_t>(field.bits) : static_cast<double>(field.bits);
}

// Base of the telemetry and metric readers: calls NVML for one device, reports missing values,
// and stops after a code that ends the reading.
class DeviceReader {
 public:
  // Returns the code that ended the reading early (gpu_is_lost, uninitialized), else success.
  [[nodiscard]] Code refusal() const noexcept { return context_.refusal; }
  // Returns the name of the call that ended it; without one, of the first that had no value.
  [[nodiscard]] const char* failed_function() const noexcept { return first_function_; }

 protected:
  // `fields`: presence bits of the wanted fields; all bits for a reader of metrics.
  DeviceReader(const CallContext& context, const Session& session, const KnownDevice& device,
               FieldSet fields) noexcept
      : context_(context), session_(session), device_(device), fields_(fields) {}

  [[nodiscard]] bool wants(FieldSet field) const noexcept { return (fields_ & field) != 0; }
  // Whether the field is wanted and was read. A wanted one that was not is reported as missing.
  template <class F, class... A>
  bool get(FieldSet field, const F& function, A... arguments) {
    return wants(field) &&
           check_code(call(context_, function, device_.handle, arguments...), function, field);
  }
  bool check_code(Code code, const NamedSymbol& function, FieldSet field);
  void refuse(Status status, const char* function_name, const char* reason, FieldSet field);
  void refuse_value(const NamedSymbol& function, FieldSet field);

  std::optional<unsigned> read_number(FieldSet field, const NumberCall& function);
  std::optional<unsigned> read_indexed(FieldSet field, const IndexedCall& function, unsigned index);
  std::optional<std::uint64_t> read_wide_number(FieldSet field, const WideCall& function);
  bool read_field(FieldSet field, FieldValue& field_value);
  // Whether it is an integer of a known type, which is otherwise reported.
  bool check_field_value(const FieldValue& field_value, FieldSet field);
  std::optional<int> read_celsius(FieldSet field);
  std::optional<double> read_joules(FieldSet field);

  CallContext context_;
  const Session& session_;
  const KnownDevice& device_;
  const FieldSet fields_;
  Code first_code_ = success;
  const char* first_function_ = "";
};

// Runtime power management of NVIDIA devices, from files that wake nothing. NVML must stay closed
// while one of the devices is suspended, and must not stay open if one could suspend.
class SleepWatch {
 public:
  struct WatchedDevice {
    PciAddress address;
    bool can_sleep = false;
    bool is_asleep = false;
  };

  explicit SleepWatch(const Settings& settings);

  // Updates the list and power/control once a second, and runtime_status of devices that may sleep
  // in each call.
  void refresh(std::uint64_t now_ns);

  // Devices of the nvidia driver by address, from <proc>/driver/nvidia/gpus, else from sysfs.
  [[nodiscard]] std::span<const WatchedDevice> devices() const noexcept { return devices_; }
  [[nodiscard]] const WatchedDevice* find(const PciAddress& address) const noexcept;
  [[nodiscard]] bool any_asleep() const noexcept;
  [[nodiscard]] bool any_can_sleep() const noexcept;
  // Longest autosuspend delay of the kernel, from a device's last use to its suspension; 0 if
  // unknown.
  [[nodiscard]] std::uint64_t longest_delay_ns() const noexcept;
  // Number of changes of the list.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

 private:
  void list();
  void list_from_driver();
  void list_from_bus();
  // First line of a file in the device's folder of power management.
  using LineBuffer = std::array<char, 32>;
  std::string_view read(const PciAddress& address, std::string_view file, LineBuffer& buffer) const;
  void read_controls() noexcept;

  std::string proc_root_;
  std::string sys_root_;
  std::shared_ptr<pci::VendorCache> bus_vendors_;
  std::vector<WatchedDevice> devices_;
  std::vector<WatchedDevice> new_devices_;  // in the listing under way
  std::uint64_t list_time_ns_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace hmn::nvml
