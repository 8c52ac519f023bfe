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
std::optional<pci_address> address_of(const pci_info& from) noexcept;

// Returns N of /dev/dri/renderDN.
std::optional<std::uint32_t> render_minor(const std::string& sys_root, const pci_address& of);

// Properties that distinguish dedicated memory from host RAM.
struct memory_traits {
  bool address_translation = false;  // ATS
  bool chip_to_chip = false;
  bool off_bus = false;         // neither a PCI address nor a BAR1
  bool system_on_chip = false;  // by backends/shared/pci/pci.hpp
  bool virtual_gpu = false;     // the host may also refuse BAR1
  std::optional<std::uint32_t> numa_node;
  const char* unknown_mode_from = nullptr;  // the call that should have reported a mode and did not
};

// Faults of a device since it has been watched (fault_watch).
struct known_faults {
  handle h = nullptr;
  std::uint64_t session = 0;  // opening that registered it
  code result = success;
  const named_symbol* from = nullptr;
  std::optional<std::uint64_t> last;
};

// What is remembered of a device from first sight on; its index in the device list is its slot.
struct known_device {
  device identity;
  std::optional<pci_address> address;
  memory_traits traits;
  handle h = nullptr;
  std::uint64_t session = 0;    // opening that `h` belongs to
  std::size_t listed_at = 0;    // position in the last listing of the open library
  std::uint64_t seated_in = 0;  // last listing that gave a handle for it
  bool only_memory_v1 = false;
  bool mig_capable = false;
  bool mig_on = false;
  std::uint64_t mig_asked_ns = 0;  // when MIG was last found to be off; 0: it is not off
  code refusal = success;          // why it is unusable: no handle, or its last return code
  const char* refused_by = "";     // the call that returned it
  std::vector<diagnostic> gaps;    // missing identity values, and why
  known_faults faults;

  [[nodiscard]] bool is_lost() const noexcept { return refusal == gpu_is_lost; }
  [[nodiscard]] bool is_partition() const noexcept { return identity.is_part; }
};

// Common part of the readers of a device's values, of which some are both telemetry and metrics: a
// missing value is reported, and some codes end the reading.

// An unsigned long has 4 bytes on Windows and on 32-bit Linux.
constexpr bool is_small(const field_value& v) noexcept {
  return v.type == field_unsigned_int || v.type == field_signed_int ||
         (v.type == field_unsigned_long && sizeof(unsigned long) == 4);
}

constexpr double number_of(const field_value& v) noexcept {
  return is_small(v) ? static_cast<std::int32_t>(v.bits) : static_cast<double>(v.bits);
}

class device_reader {
 public:
  // Returns the code that ended it early: gpu_is_lost, uninitialized; else success.
  [[nodiscard]] code ended_by() const noexcept { return t_.refused; }
  // Returns the name of the call that ended it; without one, of the first that had no value.
  [[nodiscard]] const char* failed_from() const noexcept { return first_from_; }

 protected:
  // `fields`: presence bits of the wanted fields; all bits for a reader of metrics.
  device_reader(const topic& t, const session& s, const known_device& of,
                FieldSet fields) noexcept
      : t_(t), s_(s), of_(of), fields_(fields) {}

  [[nodiscard]] bool wants(FieldSet field) const noexcept { return (fields_ & field) != 0; }
  // Whether the field is wanted and was read. A wanted one that was not is reported as missing.
  template <class F, class... A>
  bool get(FieldSet field, const F& from, A... arguments) {
    return wants(field) && take(call(t_, from, of_.h, arguments...), from, field);
  }
  bool take(code c, const named_symbol& from, FieldSet field);
  void refuse(status s, const char* from, const char* why, FieldSet field);
  void refuse_value(const named_symbol& from, FieldSet field);

  std::optional<unsigned> number(FieldSet field, const number_call& from);
  std::optional<unsigned> indexed(FieldSet field, const indexed_call& from, unsigned index);
  std::optional<std::uint64_t> wide_number(FieldSet field, const wide_call& from);
  bool get_field(FieldSet field, field_value& of);
  // Whether it is an integer of a known type, which is otherwise reported.
  bool take_field_value(const field_value& of, FieldSet field);
  std::optional<int> celsius(FieldSet field);
  std::optional<double> joules(FieldSet field);

  topic t_;
  const session& s_;
  const known_device& of_;
  const FieldSet fields_;
  code first_code_ = success;
  const char* first_from_ = "";
};

// Runtime power management of NVIDIA devices, from files that wake nothing. NVML must stay closed
// while one of the devices is suspended, and must not stay open if one could suspend.
class sleep_watch {
 public:
  struct watched {
    pci_address address;
    bool may_sleep = false;
    bool asleep = false;
  };

  explicit sleep_watch(const settings& s);

  // Updates the list and power/control once a second, and runtime_status of devices that may sleep
  // in each call.
  void refresh(std::uint64_t now_ns);

  // Devices of the nvidia driver by address, from <proc>/driver/nvidia/gpus, else from sysfs.
  [[nodiscard]] std::span<const watched> devices() const noexcept { return devices_; }
  [[nodiscard]] const watched* find(const pci_address& address) const noexcept;
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
  using word = std::array<char, 32>;
  std::string_view read(const pci_address& device, std::string_view file, word& buffer) const;
  void read_controls() noexcept;

  std::string proc_root_;
  std::string sys_root_;
  std::shared_ptr<pci::known_vendors> on_bus_;
  std::vector<watched> devices_;
  std::vector<watched> found_;  // in the listing under way
  std::uint64_t listed_at_ns_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace hmn::nvml
