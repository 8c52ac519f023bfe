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

std::string_view terminated(const char* bytes, std::size_t capacity) noexcept {
  return {bytes, strnlen(bytes, capacity)};
}

bool bound_to_another(std::string_view driver) noexcept {
  return !driver.empty() && driver != "nvidia";
}

}  // namespace

std::optional<PciAddress> address_of(const PciInfo& from) noexcept {
  if (const auto a = parse_pci_address(terminated(from.bus_id, sizeof(from.bus_id)))) return a;
  return parse_pci_address(terminated(from.bus_id_legacy, sizeof(from.bus_id_legacy)));
}

std::optional<std::uint32_t> render_minor(const std::string& sys_root, const PciAddress& of) {
  constexpr std::string_view prefix = "renderD";
  std::optional<std::uint32_t> minor;
  const std::string folder =
      compose({sys_root, "/bus/pci/devices/", system_name(of).view(), "/drm"});
  platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(prefix)) return true;
    minor = scan::number<std::uint32_t>(name.substr(prefix.size()));
    return !minor;
  });
  return minor;
}

bool DeviceReader::take(Code c, const NamedSymbol& from, FieldSet field) {
  if (c == success) return true;
  const bool ends_now = ends_it(c) && t_.refused == success;
  if (ends_now) t_.refused = c;
  if (first_code_ == success || ends_now) {
    first_code_ = c;
    first_from_ = from.name();
  }
  t_.missing(c, t_.refused != success ? first_from_ : from.name(), fields_ & field);
  return false;
}

void DeviceReader::refuse(Status s, const char* from, const char* why, FieldSet field) {
  if (first_code_ == success) {
    first_code_ = s == Status::unsupported ? not_offered : unusable;
    first_from_ = from;
  }
  t_.report(s, {from, ": ", why}, fields_ & field,
            s == Status::backend ? Reason::implausible : Reason::unknown);
}

void DeviceReader::refuse_value(const NamedSymbol& from, FieldSet field) {
  refuse(Status::backend, from.name(), "a value that cannot be", field);
}

std::optional<unsigned> DeviceReader::number(FieldSet field, const NumberCall& from) {
  unsigned reported = 0;
  if (!get(field, from, &reported)) return std::nullopt;
  return reported;
}

std::optional<unsigned> DeviceReader::indexed(FieldSet field, const IndexedCall& from,
                                              unsigned index) {
  unsigned reported = 0;
  if (!get(field, from, index, &reported)) return std::nullopt;
  return reported;
}

std::optional<std::uint64_t> DeviceReader::wide_number(FieldSet field, const WideCall& from) {
  unsigned long long reported = 0;
  if (!get(field, from, &reported)) return std::nullopt;
  if (reported != value_not_available) return reported;
  refuse_value(from, field);
  return std::nullopt;
}

bool DeviceReader::get_field(FieldSet field, FieldValue& of) {
  return get(field, s_.fn.fields, 1, &of) && take_field_value(of, field);
}

bool DeviceReader::take_field_value(const FieldValue& of, FieldSet field) {
  if (!take(outcome_of(of), s_.fn.fields, field)) return false;
  const bool is_integer = of.type >= field_unsigned_int && of.type <= field_signed_int;
  if (is_integer && of.bits != value_not_available) return true;
  refuse_value(s_.fn.fields, field);
  return false;
}

// Tries the newer call first, then the older one.
std::optional<int> DeviceReader::celsius(FieldSet field) {
  if (!wants(field)) return std::nullopt;
  TemperatureV1 newer{temperature_version, temperature_gpu, 0};
  const Code c = call(t_, s_.fn.temperature_v, of_.h, &newer);
  if (c == success || ends_it(c)) {
    if (!take(c, s_.fn.temperature_v, field)) return std::nullopt;
    return newer.celsius;
  }
  const auto older = indexed(field, s_.fn.temperature, temperature_gpu);
  if (!older) return std::nullopt;
  return static_cast<int>(std::min<unsigned>(*older, INT_MAX));
}

std::optional<double> DeviceReader::joules(FieldSet field) {
  if (t_.r.is_quick()) {
    if (wants(field)) t_.left_out(s_.fn.energy, field);
    return std::nullopt;
  }
  const auto millijoules = wide_number(field, s_.fn.energy);
  if (!millijoules) return std::nullopt;
  return from_milli.of(static_cast<double>(*millijoules));
}

SleepWatch::SleepWatch(const Settings& s)
    : proc_root_(s.proc_root), sys_root_(s.sys_root), on_bus_(s.on_bus) {}

void SleepWatch::refresh(std::uint64_t now_ns) {
  if (listed_at_ns_ == 0 || now_ns - listed_at_ns_ >= platform::ns_per_second) {
    list();
    read_controls();
    listed_at_ns_ = now_ns;
  }
  Word buffer;
  for (Watched& w : devices_) {
    w.asleep = w.may_sleep && sysfs::says_asleep(read(w.address, "runtime_status", buffer));
  }
}

const SleepWatch::Watched* SleepWatch::find(const PciAddress& address) const noexcept {
  const auto found =
      std::ranges::find_if(devices_, [&](const Watched& w) { return w.address == address; });
  return found == devices_.end() ? nullptr : &*found;
}

bool SleepWatch::one_is_asleep() const noexcept {
  return std::ranges::any_of(devices_, [](const Watched& w) { return w.asleep; });
}

bool SleepWatch::one_may_sleep() const noexcept {
  return std::ranges::any_of(devices_, [](const Watched& w) { return w.may_sleep; });
}

std::uint64_t SleepWatch::longest_delay_ns() const noexcept {
  Word buffer;
  std::uint64_t longest = 0;
  for (const Watched& w : devices_) {
    if (!w.may_sleep) continue;
    longest = std::max(longest, idle::delay_ns(read(w.address, "autosuspend_delay_ms", buffer)));
  }
  return longest;
}

void SleepWatch::list() {
  found_.clear();
  list_from_driver();
  if (found_.empty()) list_from_bus();
  std::ranges::sort(found_, {}, &Watched::address);
  if (std::ranges::equal(devices_, found_, {}, &Watched::address, &Watched::address)) return;
  ++changes_;
  devices_.swap(found_);
}

void SleepWatch::list_from_driver() {
  const std::string gpus = proc_root_ + "/driver/nvidia/gpus";
  platform::for_each_entry(gpus.c_str(), [&](std::string_view name) {
    if (const auto a = parse_pci_address(name)) found_.push_back({*a});
    return true;
  });
}

void SleepWatch::list_from_bus() {
  for (const pci::Gpu& g : pci::gpus_on_bus(proc_root_, sys_root_, vendor::nvidia, *on_bus_)) {
    if (!bound_to_another(g.driver.view())) found_.push_back({g.address});
  }
}

// Called in each reading, and therefore without allocations.
std::string_view SleepWatch::read(const PciAddress& device, std::string_view file,
                                  Word& buffer) const {
  std::array<char, 80> name;
  return sysfs::read_line(
             sys_root_,
             compose_in(name, {"bus/pci/devices/", system_name(device).view(), "/power/", file}),
             buffer)
      .value;
}

void SleepWatch::read_controls() noexcept {
  Word buffer;
  for (Watched& w : devices_) {
    w.may_sleep = idle::says_may_sleep(read(w.address, "control", buffer));
  }
}

}  // namespace hmn::nvml
