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
std::optional<PciAddress> address_of(const PciInfo& from) noexcept;

// Returns N of /dev/dri/renderDN.
std::optional<std::uint32_t> render_minor(const std::string& sys_root, const PciAddress& of);

// Properties that distinguish dedicated memory from host RAM.
struct MemoryTraits {
  bool address_translation = false;  // ATS
  bool chip_to_chip = false;
  bool off_bus = false;         // neither a PCI address nor a BAR1
  bool system_on_chip = false;  // by backends/shared/pci/pci.hpp
  bool virtual_gpu = false;     // the host may also refuse BAR1
  std::optional<std::uint32_t> numa_node;
  const char* unknown_mode_from = nullptr;  // the call that should have reported a mode and did not
};

// Faults of a device since it has been watched (fault_watch).
struct KnownFaults {
  Handle h = nullptr;
  std::uint64_t session = 0;  // opening that registered it
  Code result = success;
  const NamedSymbol* from = nullptr;
  std::optional<std::uint64_t> last;
};

// What is remembered of a device from first sight on; its index in the device list is its slot.
struct KnownDevice {
  Device identity;
  std::optional<PciAddress> address;
  MemoryTraits traits;
  Handle h = nullptr;
  std::uint64_t session = 0;    // opening that `h` belongs to
  std::size_t listed_at = 0;    // position in the last listing of the open library
  std::uint64_t seated_in = 0;  // last listing that gave a handle for it
  bool only_memory_v1 = false;
  bool mig_capable = false;
  bool mig_on = false;
  std::uint64_t mig_asked_ns = 0;  // when MIG was last found to be off; 0: it is not off
  Code refusal = success;          // why it is unusable: no handle, or its last return code
  const char* refused_by = "";     // the call that returned it
  std::vector<Diagnostic> gaps;    // missing identity values, and why
  KnownFaults faults;

  [[nodiscard]] bool is_lost() const noexcept { return refusal == gpu_is_lost; }
  [[nodiscard]] bool is_partition() const noexcept { return identity.is_part; }
};

// Common part of the readers of a device's values, of which some are both telemetry and metrics: a
// missing value is reported, and some codes end the reading.

// An unsigned long has 4 bytes on Windows and on 32-bit Linux.
constexpr bool is_small(const FieldValue& v) noexcept {
  return v.type == field_unsigned_int || v.type == field_signed_int ||
         (v.type == field_unsigned_long && sizeof(unsigned long) == 4);
}

constexpr double number_of(const FieldValue& v) noexcept {
  return is_small(v) ? static_cast<std::int32_t>(v.bits) : static_cast<double>(v.bits);
}

class DeviceReader {
 public:
  // Returns the code that ended it early: gpu_is_lost, uninitialized; else success.
  [[nodiscard]] Code ended_by() const noexcept { return t_.refused; }
  // Returns the name of the call that ended it; without one, of the first that had no value.
  [[nodiscard]] const char* failed_from() const noexcept { return first_from_; }

 protected:
  // `fields`: presence bits of the wanted fields; all bits for a reader of metrics.
  DeviceReader(const Topic& t, const Session& s, const KnownDevice& of, FieldSet fields) noexcept
      : t_(t), s_(s), of_(of), fields_(fields) {}

  [[nodiscard]] bool wants(FieldSet field) const noexcept { return (fields_ & field) != 0; }
  // Whether the field is wanted and was read. A wanted one that was not is reported as missing.
  template <class F, class... A>
  bool get(FieldSet field, const F& from, A... arguments) {
    return wants(field) && take(call(t_, from, of_.h, arguments...), from, field);
  }
  bool take(Code c, const NamedSymbol& from, FieldSet field);
  void refuse(Status s, const char* from, const char* why, FieldSet field);
  void refuse_value(const NamedSymbol& from, FieldSet field);

  std::optional<unsigned> number(FieldSet field, const NumberCall& from);
  std::optional<unsigned> indexed(FieldSet field, const IndexedCall& from, unsigned index);
  std::optional<std::uint64_t> wide_number(FieldSet field, const WideCall& from);
  bool get_field(FieldSet field, FieldValue& of);
  // Whether it is an integer of a known type, which is otherwise reported.
  bool take_field_value(const FieldValue& of, FieldSet field);
  std::optional<int> celsius(FieldSet field);
  std::optional<double> joules(FieldSet field);

  Topic t_;
  const Session& s_;
  const KnownDevice& of_;
  const FieldSet fields_;
  Code first_code_ = success;
  const char* first_from_ = "";
};

// Runtime power management of NVIDIA devices, from files that wake nothing. NVML must stay closed
// while one of the devices is suspended, and must not stay open if one could suspend.
class SleepWatch {
 public:
  struct Watched {
    PciAddress address;
    bool may_sleep = false;
    bool asleep = false;
  };

  explicit SleepWatch(const Settings& s);

  // Updates the list and power/control once a second, and runtime_status of devices that may sleep
  // in each call.
  void refresh(std::uint64_t now_ns);

  // Devices of the nvidia driver by address, from <proc>/driver/nvidia/gpus, else from sysfs.
  [[nodiscard]] std::span<const Watched> devices() const noexcept { return devices_; }
  [[nodiscard]] const Watched* find(const PciAddress& address) const noexcept;
  [[nodiscard]] bool one_is_asleep() const noexcept;
  [[nodiscard]] bool one_may_sleep() const noexcept;
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
  using Word = std::array<char, 32>;
  std::string_view read(const PciAddress& device, std::string_view file, Word& buffer) const;
  void read_controls() noexcept;

  std::string proc_root_;
  std::string sys_root_;
  std::shared_ptr<pci::KnownVendors> on_bus_;
  std::vector<Watched> devices_;
  std::vector<Watched> found_;  // in the listing under way
  std::uint64_t listed_at_ns_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace hmn::nvml
