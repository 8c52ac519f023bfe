// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/device.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "backends/shared/idle/backoff.hpp"
#include "backends/shared/pci/pci.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/device.hpp"
#include "model/message_text.hpp"
#include "model/scale.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

std::string_view view_until_nul(const char* bytes, std::size_t capacity) noexcept {
  return {bytes, strnlen(bytes, capacity)};
}

bool is_other_driver(std::string_view driver) noexcept {
  return !driver.empty() && driver != "nvidia";
}

}  // namespace

std::optional<PciAddress> extract_address(const PciInfo& info) noexcept {
  if (const auto address = parse_pci_address(view_until_nul(info.bus_id, sizeof(info.bus_id))))
    return address;
  return parse_pci_address(view_until_nul(info.bus_id_legacy, sizeof(info.bus_id_legacy)));
}

std::optional<std::uint32_t> find_render_minor(const std::string& sys_root,
                                               const PciAddress& address) {
  constexpr std::string_view prefix = "renderD";
  std::optional<std::uint32_t> minor;
  const std::string folder =
      compose({sys_root, "/bus/pci/devices/", sysfs_name(address).view(), "/drm"});
  platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    minor = scan::parse_number<std::uint32_t>(name.substr(prefix.size()));
    return !minor;
  });
  return minor;
}

bool DeviceReader::check_code(Code code, const NamedSymbol& function, FieldSet field) {
  if (code == success) return true;
  const bool ends_now = ends_reading(code) && context_.refusal == success;
  if (ends_now) context_.refusal = code;
  if (first_code_ == success || ends_now) {
    first_code_ = code;
    first_function_ = function.name();
  }
  context_.report_missing(code, context_.refusal != success ? first_function_ : function.name(),
                          fields_ & field);
  return false;
}

void DeviceReader::refuse(Status status, const char* function_name, const char* reason,
                          FieldSet field) {
  if (first_code_ == success) {
    first_code_ = status == Status::unsupported ? not_offered : unusable;
    first_function_ = function_name;
  }
  context_.report(status, {function_name, ": ", reason}, fields_ & field,
                  status == Status::backend ? Reason::implausible : Reason::unknown);
}

void DeviceReader::refuse_value(const NamedSymbol& function, FieldSet field) {
  refuse(Status::backend, function.name(), "a value that cannot be", field);
}

std::optional<unsigned> DeviceReader::read_number(FieldSet field, const NumberCall& function) {
  unsigned value = 0;
  if (!get(field, function, &value)) return std::nullopt;
  return value;
}

std::optional<unsigned> DeviceReader::read_indexed(FieldSet field, const IndexedCall& function,
                                                   unsigned index) {
  unsigned value = 0;
  if (!get(field, function, index, &value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> DeviceReader::read_wide_number(FieldSet field,
                                                            const WideCall& function) {
  unsigned long long value = 0;
  if (!get(field, function, &value)) return std::nullopt;
  if (value != value_not_available) return value;
  refuse_value(function, field);
  return std::nullopt;
}

bool DeviceReader::read_field(FieldSet field, FieldValue& field_value) {
  return get(field, session_.fn.fields, 1, &field_value) && check_field_value(field_value, field);
}

bool DeviceReader::check_field_value(const FieldValue& field_value, FieldSet field) {
  if (!check_code(get_outcome(field_value), session_.fn.fields, field)) return false;
  const bool is_integer =
      field_value.type >= field_unsigned_int && field_value.type <= field_signed_int;
  if (is_integer && field_value.bits != value_not_available) return true;
  refuse_value(session_.fn.fields, field);
  return false;
}

// Tries the newer call first, then the older one.
std::optional<int> DeviceReader::read_celsius(FieldSet field) {
  if (!wants(field)) return std::nullopt;
  TemperatureV1 newer{temperature_version, temperature_gpu, 0};
  const Code code = call(context_, session_.fn.temperature_v, device_.handle, &newer);
  if (code == success || ends_reading(code)) {
    if (!check_code(code, session_.fn.temperature_v, field)) return std::nullopt;
    return newer.celsius;
  }
  const auto older = read_indexed(field, session_.fn.temperature, temperature_gpu);
  if (!older) return std::nullopt;
  return static_cast<int>(std::min<unsigned>(*older, INT_MAX));
}

std::optional<double> DeviceReader::read_joules(FieldSet field) {
  if (context_.reading.is_quick()) {
    if (wants(field)) context_.report_skipped(session_.fn.energy, field);
    return std::nullopt;
  }
  const auto millijoules = read_wide_number(field, session_.fn.energy);
  if (!millijoules) return std::nullopt;
  return from_milli.apply(static_cast<double>(*millijoules));
}

SleepWatch::SleepWatch(const Settings& settings)
    : proc_root_(settings.proc_root),
      sys_root_(settings.sys_root),
      bus_vendors_(settings.bus_vendors) {}

void SleepWatch::refresh(std::uint64_t now_ns) {
  if (list_time_ns_ == 0 || now_ns - list_time_ns_ >= platform::ns_per_second) {
    list();
    read_controls();
    list_time_ns_ = now_ns;
  }
  LineBuffer buffer;
  for (WatchedDevice& device : devices_) {
    device.is_asleep =
        device.can_sleep && sysfs::is_asleep_status(read(device.address, "runtime_status", buffer));
  }
}

const SleepWatch::WatchedDevice* SleepWatch::find(const PciAddress& address) const noexcept {
  const auto it =
      std::ranges::find_if(devices_, [&](const WatchedDevice& w) { return w.address == address; });
  return it == devices_.end() ? nullptr : &*it;
}

bool SleepWatch::any_asleep() const noexcept {
  return std::ranges::any_of(devices_, [](const WatchedDevice& w) { return w.is_asleep; });
}

bool SleepWatch::any_can_sleep() const noexcept {
  return std::ranges::any_of(devices_, [](const WatchedDevice& w) { return w.can_sleep; });
}

std::uint64_t SleepWatch::longest_delay_ns() const noexcept {
  LineBuffer buffer;
  std::uint64_t longest = 0;
  for (const WatchedDevice& device : devices_) {
    if (!device.can_sleep) continue;
    longest = std::max(longest,
                       idle::parse_delay_ns(read(device.address, "autosuspend_delay_ms", buffer)));
  }
  return longest;
}

void SleepWatch::list() {
  new_devices_.clear();
  list_from_driver();
  if (new_devices_.empty()) list_from_bus();
  std::ranges::sort(new_devices_, {}, &WatchedDevice::address);
  if (std::ranges::equal(devices_, new_devices_, {}, &WatchedDevice::address,
                         &WatchedDevice::address))
    return;
  ++changes_;
  devices_.swap(new_devices_);
}

void SleepWatch::list_from_driver() {
  const std::string gpus = proc_root_ + "/driver/nvidia/gpus";
  platform::for_each_entry(gpus.c_str(), [&](std::string_view name) {
    if (const auto address = parse_pci_address(name)) new_devices_.push_back({*address});
    return true;
  });
}

void SleepWatch::list_from_bus() {
  for (const pci::Gpu& gpu : pci::list_gpus(proc_root_, sys_root_, vendor::nvidia, *bus_vendors_)) {
    if (!is_other_driver(gpu.driver.view())) new_devices_.push_back({gpu.address});
  }
}

// Called in each reading, and therefore without allocations.
std::string_view SleepWatch::read(const PciAddress& address, std::string_view file,
                                  LineBuffer& buffer) const {
  std::array<char, 80> path;
  return sysfs::read_line(
             sys_root_,
             compose_into(path, {"bus/pci/devices/", sysfs_name(address).view(), "/power/", file}),
             buffer)
      .value;
}

void SleepWatch::read_controls() noexcept {
  LineBuffer buffer;
  for (WatchedDevice& device : devices_) {
    device.can_sleep = idle::allows_sleep(read(device.address, "control", buffer));
  }
}

}  // namespace hmn::nvml
