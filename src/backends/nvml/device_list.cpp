// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/device_list.hpp"

#include <algorithm>
#include <utility>

#include "backends/nvml/identity.hpp"

namespace hmn::nvml {
namespace {

constexpr unsigned max_devices = 1024;
constexpr unsigned max_partitions = 64;

// Interval between checks whether a GPU was divided, which take longer than reading its memory.
constexpr std::uint64_t mig_recheck_ns = platform::ns_per_second;

bool is_same_text(std::string_view a, std::string_view b) noexcept {
  return !a.empty() && a == b;
}

// Whether a value is missing permanently, so that it is not queried again.
bool is_final(const Diagnostic& gap) noexcept {
  return gap.failure.code == Status::unsupported || gap.failure.code == Status::no_source ||
         gap.failure.code == Status::ok;
}

bool is_complete(const KnownDevice& d) noexcept {
  return std::ranges::all_of(d.gaps, is_final);
}

bool ends_listing(Code c) noexcept {
  return c == uninitialized || c == late;
}

bool is_nameless(const KnownDevice& d) noexcept {
  return !d.is_partition() && !d.address && d.identity.uuid.empty();
}

bool is_same_instance(const Device& a, const Device& b) noexcept {
  return a.parent == b.parent && a.instance && b.instance && a.instance->gpu == b.instance->gpu &&
         a.instance->compute == b.instance->compute;
}

bool is_same_device(const KnownDevice& previous, const KnownDevice& current) noexcept {
  const Device& previous_identity = previous.identity;
  const Device& current_identity = current.identity;
  if (previous.is_partition() != current.is_partition()) return false;
  if (!previous_identity.uuid.empty() && !current_identity.uuid.empty())
    return previous_identity.uuid == current_identity.uuid;
  if (current.is_partition()) return is_same_instance(previous_identity, current_identity);
  return previous.address && previous.address == current.address;
}

// Keeps known values that a new reading failed to read.
void keep_previous_values(const KnownDevice& previous, KnownDevice& device) {
  device.faults = previous.faults;
  if (device.identity.uuid.empty()) device.identity.uuid = previous.identity.uuid;
  if (device.identity.name.empty()) device.identity.name = previous.identity.name;
}

}  // namespace

State derive_state(Code code) noexcept {
  if (code == set_aside) return State::hung;
  return code == gpu_is_lost ? State::lost : State::unreadable;
}

void DeviceList::restore_device(const Device& device, bool was_listed) {
  while (devices_.size() <= device.slot) {
    const auto number = static_cast<Slot>(devices_.size());
    devices_.emplace_back().identity.slot = number;
  }
  KnownDevice& entry = devices_[device.slot];
  entry.identity = device;
  entry.address = parse_pci_address(device.pci_bus_id.view());
  if (was_listed) listed_slots_.push_back(device.slot);
}

Result<void> DeviceList::enumerate(const CallContext& context, Session& session,
                                   const SleepWatch& watch) {
  if (handles_session_ != session.number()) {
    handles_.clear();
    ++listing_number_;
    handles_session_ = session.number();
  }
  const char* function_name = session.fn.count.name();
  if (const Code code = read_handles(context, session, watch, function_name); code != success)
    return make_failure(code, function_name);
  new_slots_.clear();
  for (unsigned i = 0; i < handles_.size(); ++i) {
    if (handles_[i].is_repeated) continue;
    if (handles_[i].result != success) mark_unreachable(context, i, watch);
    new_slots_.push_back(*handles_[i].slot);
    if (handles_[i].result == set_aside) keep_instances(*handles_[i].slot);
    if (handles_[i].result != success || !context.reading.begin_device_call(i, handles_.size()))
      continue;
    const Code code = update_instances(context, session, *handles_[i].slot);
    if (ends_listing(code)) return make_failure(code, session.fn.mig_mode.name());
  }
  listed_slots_.swap(new_slots_);
  for (std::size_t i = 0; i < listed_slots_.size(); ++i) devices_[listed_slots_[i]].list_index = i;
  enumerated_session_ = session.number();
  return {};
}

void DeviceList::attach(const CallContext& context, Session& session) {
  unsigned count = 0;
  if (call(context, session.fn.count, &count) != success) return;
  count = std::min(count, max_devices);
  for (unsigned i = 0; i < count; ++i) {
    Handle handle = nullptr;
    if (context.reading.begin_device_call(i, count)) call(context, session.fn.by_index, i, &handle);
  }
}

Code DeviceList::read_handles(const CallContext& context, Session& session, const SleepWatch& watch,
                              const char*& function_name) {
  unsigned count = 0;
  const Code count_code = call(context, session.fn.count, &count);
  if (count_code != success) return count_code;
  handles_.resize(std::min(count, max_devices));
  for (HandleSlot& entry : handles_) entry.is_claimed = false;
  ++listing_number_;
  for (unsigned i = 0; i < handles_.size(); ++i) {
    const Code code = read_handle(context, session, i);
    function_name = handles_[i].function_name;
    if (ends_listing(code)) return code;
  }
  drop_invalid_handles(context, session, watch, count);
  return success;
}

// Drops indexes at the end for which NVML reports no device, if the bus has fewer GPUs. Reports a
// count that the driver's list does not match.
void DeviceList::drop_invalid_handles(const CallContext& context, const Session& session,
                                      const SleepWatch& watch, unsigned count) {
  const std::size_t min_count = std::max<std::size_t>(watch.devices().size(), 1);
  while (handles_.size() > min_count && handles_.back().result == invalid_argument &&
         !handles_.back().slot) {
    handles_.pop_back();
  }
  const auto repeated_count = std::ranges::count_if(handles_, &HandleSlot::is_repeated);
  const auto listed_count = handles_.size() - static_cast<std::size_t>(repeated_count);
  if (listed_count == count) return;
  context.report(
      Status::backend,
      {session.fn.count.name(), ": counts ", count, " GPUs, but NVML has only ", listed_count,
       repeated_count != 0 ? ", some of which it lists more than once" : ""},
      0, Reason::implausible);
}

Code DeviceList::read_handle(const CallContext& context, Session& session, unsigned index) {
  HandleSlot& entry = handles_[index];
  if (!context.reading.begin_device_call(index, handles_.size())) return entry.result = set_aside;
  Handle handle = nullptr;
  entry.is_repeated = false;
  entry.function_name = session.fn.by_index.name();
  entry.result = call(context, session.fn.by_index, index, &handle);
  if (entry.result != success) return entry.result;
  if (!must_identify(entry, handle) &&
      has_same_address(context, session, devices_[*entry.slot])) {
    claim(entry);
    return success;
  }
  KnownDevice device;
  device.identity.driver_index = index;
  entry.result = read_identity({context.reading, context.subject, entry.slot, {}}, session,
                               settings_, handle, device);
  entry.function_name = device.refusing_function;
  if (entry.result != success) return entry.result;
  entry.is_repeated = is_already_listed(device);
  if (entry.is_repeated) return success;
  device.identity.state = device.refusal == success ? State::ready : derive_state(device.refusal);
  entry.handle = handle;
  entry.slot = store_device(std::move(device));
  claim(entry);
  return success;
}

void DeviceList::claim(HandleSlot& entry) noexcept {
  entry.is_claimed = true;
  devices_[*entry.slot].last_listing = listing_number_;
}

bool DeviceList::has_current_handle(Slot slot) const noexcept {
  return devices_[slot].last_listing == listing_number_;
}

bool DeviceList::is_already_listed(const KnownDevice& device) const noexcept {
  return std::ranges::any_of(handles_, [&](const HandleSlot& entry) {
    if (!entry.is_claimed) return false;
    const KnownDevice& listed_device = devices_[*entry.slot];
    return listed_device.address == device.address &&
           (listed_device.handle == device.handle || is_same_device(listed_device, device));
  });
}

bool DeviceList::must_identify(const HandleSlot& entry, Handle handle) const noexcept {
  if (!entry.slot || entry.handle != handle || has_current_handle(*entry.slot)) return true;
  const KnownDevice& device = devices_[*entry.slot];
  return device.refusal != success || device.session != handles_session_ || !is_complete(device);
}

// A device that has moved is identified again.
bool DeviceList::has_same_address(const CallContext& context, const Session& session,
                                  const KnownDevice& device) {
  PciInfo info{};
  if (!device.address || call(context, session.fn.pci, device.handle, &info) != success)
    return true;
  const auto address = extract_address(info);
  return !address || address == device.address;
}

void DeviceList::mark_unreachable(const CallContext& context, unsigned index,
                                  const SleepWatch& watch) {
  HandleSlot& entry = handles_[index];
  if (entry.slot && has_current_handle(*entry.slot)) entry.slot.reset();
  if (!entry.slot || !devices_[*entry.slot].address) {
    entry.slot = identify_unreachable(index, watch);
  }
  KnownDevice& device = devices_[*entry.slot];
  device.refusal = entry.result;
  device.refusing_function = entry.function_name;
  device.identity.state = derive_state(entry.result);
  device.gaps.clear();
  context.for_device(*entry.slot)
      .report_missing(entry.result, entry.result == set_aside ? "NVML" : entry.function_name, 0);
}

// Keeps the instances of a GPU that is set aside as they were last listed.
void DeviceList::keep_instances(Slot parent) {
  for (const Slot slot : listed_slots_) {
    KnownDevice& device = devices_[slot];
    if (device.identity.parent != parent) continue;
    device.refusal = set_aside;
    device.identity.state = State::hung;
    new_slots_.push_back(slot);
  }
}

// Identifies a GPU without a handle: it is the previous device of its index, or the driver's only
// one that is not accounted for.
Slot DeviceList::identify_unreachable(unsigned index, const SleepWatch& watch) {
  const auto previous = std::ranges::find_if(devices_, [&](const KnownDevice& d) {
    return d.identity.driver_index == index && !has_current_handle(d.identity.slot);
  });
  const bool has_previous = previous != devices_.end();
  const auto address =
      has_previous && previous->address ? std::nullopt : find_unclaimed_address(watch);
  if (has_previous && !address) return previous->identity.slot;
  KnownDevice device;
  if (address) {
    const SleepWatch::WatchedDevice* watched_device = watch.find(*address);
    device = read_identity_from_files(settings_, *address,
                                      watched_device == nullptr || watched_device->can_sleep);
  }
  device.identity.source = Source::nvml;
  device.identity.vendor = vendor::nvidia;
  device.identity.driver_index = index;
  return store_device(std::move(device));
}

std::optional<PciAddress> DeviceList::find_unclaimed_address(const SleepWatch& watch) const {
  std::optional<PciAddress> address;
  for (const SleepWatch::WatchedDevice& watched_device : watch.devices()) {
    const bool is_claimed = std::ranges::any_of(handles_, [&](const HandleSlot& entry) {
      return entry.slot && devices_[*entry.slot].address == watched_device.address;
    });
    if (is_claimed) continue;
    if (address) return std::nullopt;
    address = watched_device.address;
  }
  return address;
}

Code DeviceList::update_instances(const CallContext& context, Session& session, Slot parent) {
  KnownDevice& gpu = devices_[parent];
  if (!gpu.is_mig_capable) return success;
  const std::uint64_t now_ns = platform::monotonic_ns();
  if (gpu.mig_checked_ns != 0 && now_ns - gpu.mig_checked_ns < mig_recheck_ns) return success;
  const CallContext gpu_context = context.for_device(parent);
  unsigned current = 0;
  unsigned pending = 0;
  const Code code = call(gpu_context, session.fn.mig_mode, gpu.handle, &current, &pending);
  if (ends_listing(code)) return code;
  if (code != success && code != not_supported)
    gpu_context.report_missing(code, session.fn.mig_mode.name(), 0);
  gpu.is_mig_capable = code != not_supported;
  if (code == success && current > mig_enabled) {
    gpu_context.report(
        Status::backend,
        {session.fn.mig_mode.name(), ": a mode of ", current, ", which is neither on nor off"}, 0,
        Reason::implausible);
  }
  if (code == success || code == not_supported)
    gpu.is_mig_on = code == success && current == mig_enabled;
  gpu.mig_checked_ns = code == success && current == 0 ? now_ns : 0;
  return gpu.is_mig_on ? enumerate_instances(gpu_context, session, parent) : code;
}

Code DeviceList::enumerate_instances(const CallContext& context, Session& session, Slot parent) {
  const Handle gpu = devices_[parent].handle;
  unsigned count = 0;
  Code code = call(context, session.fn.mig_count, gpu, &count);
  if (code != success) {
    context.report_missing(code, session.fn.mig_count.name(), 0);
    return code;
  }
  if (count > max_partitions) {
    context.report(Status::backend,
                   {session.fn.mig_count.name(), ": allows ", count, " instances; the first ",
                    max_partitions, " are listed"},
                   0, Reason::implausible);
  }
  CallContext instance_context = context;
  instance_context.is_instance = true;
  for (unsigned i = 0; !ends_listing(code) && i < std::min(count, max_partitions); ++i) {
    Handle handle = nullptr;
    code = call(context, session.fn.mig_by_index, gpu, i, &handle);
    if (code == success) code = list_instance(instance_context, session, parent, handle);
    if (code != success && code != not_found && !ends_listing(code))
      context.report_missing(code, session.fn.mig_by_index.name(), 0);
  }
  return code;
}

// Handles of instances are reused for other instances: the UUID decides.
Code DeviceList::list_instance(const CallContext& context, Session& session, Slot parent,
                               Handle handle) {
  Text<96> uuid;
  const Code code = read_uuid(context, session, handle, uuid);
  if (ends_listing(code) || code == gpu_is_lost) return code;
  const auto previous = std::ranges::find_if(devices_, [&](const KnownDevice& d) {
    return d.session == handles_session_ && d.is_partition() && is_complete(d) &&
           d.identity.parent == parent && is_same_text(d.identity.uuid.view(), uuid.view());
  });
  if (previous != devices_.end()) {
    previous->handle = handle;
    if (std::ranges::find(new_slots_, previous->identity.slot) == new_slots_.end()) {
      new_slots_.push_back(previous->identity.slot);
    } else {
      context.report(Status::backend,
                     {session.fn.mig_by_index.name(), ": lists ", uuid.view(), " more than once"},
                     0, Reason::implausible);
    }
    return success;
  }
  KnownDevice device;
  device.identity.state = State::ready;
  const Code identity_code =
      read_instance_identity(context, session, devices_[parent], handle, device);
  if (identity_code != success) return identity_code;
  new_slots_.push_back(store_device(std::move(device)));
  return success;
}

Slot DeviceList::store_device(KnownDevice&& device) {
  const std::optional<Slot> previous = match(device);
  const Slot slot = previous ? *previous : static_cast<Slot>(devices_.size());
  if (!previous) devices_.emplace_back();
  device.identity.slot = slot;
  for (Diagnostic& gap : device.gaps) gap.device = slot;
  keep_previous_values(devices_[slot], device);
  devices_[slot] = std::move(device);
  return slot;
}

// Devices at different addresses in the same listing are distinct, whatever their names.
std::optional<Slot> DeviceList::match(const KnownDevice& device) const noexcept {
  const auto is_match = [&](const KnownDevice& d) {
    return is_same_device(d, device) && !has_current_handle(d.identity.slot);
  };
  const auto is_same_index = [&](const KnownDevice& d) {
    return is_nameless(d) && !device.is_partition() &&
           d.identity.driver_index == device.identity.driver_index;
  };
  auto it = std::ranges::find_if(devices_, is_match);
  if (it == devices_.end()) it = std::ranges::find_if(devices_, is_same_index);
  if (it == devices_.end()) return std::nullopt;
  return static_cast<Slot>(it - devices_.begin());
}

void DeviceList::list_without_library(const CallContext& context, const SleepWatch& watch,
                                      const Failure* idle_failure) {
  const auto is_removed = [&](Slot i) {
    return devices_[i].address && watch.find(*devices_[i].address) == nullptr;
  };
  std::erase_if(listed_slots_, is_removed);
  for (const SleepWatch::WatchedDevice& watched_device : watch.devices()) {
    const auto previous = std::ranges::find_if(
        devices_, [&](const KnownDevice& d) { return d.address == watched_device.address; });
    const Slot slot = previous != devices_.end()
                            ? previous->identity.slot
                            : store_device(read_identity_from_files(
                                  settings_, watched_device.address, watched_device.can_sleep));
    if (!is_listed(slot)) listed_slots_.push_back(slot);
  }
  for (const Slot slot : listed_slots_) mark_closed(context, slot, watch, idle_failure);
}

void DeviceList::mark_closed(const CallContext& context, Slot slot, const SleepWatch& watch,
                             const Failure* idle_failure) {
  const CallContext device_context = context.for_device(slot);
  if (idle_failure != nullptr) {
    if (context.wants_diagnostics()) device_context.diagnose(*idle_failure);
    return;
  }
  Device& device = devices_[slot].identity;
  const auto& address = devices_[device.parent.value_or(slot)].address;
  const SleepWatch::WatchedDevice* const watched_device = address ? watch.find(*address) : nullptr;
  device.state =
      watched_device != nullptr && watched_device->is_asleep ? State::asleep : State::unknown;
  if (device.state == State::asleep) return;
  device_context.report(Status::asleep,
                        {"skipped: NVML stays closed while another of its GPUs sleeps"});
}

bool DeviceList::is_listed(Slot slot) const noexcept {
  const std::size_t likely_index = devices_[slot].list_index;
  if (likely_index < listed_slots_.size() && listed_slots_[likely_index] == slot) return true;
  return std::ranges::find(listed_slots_, slot) != listed_slots_.end();
}

KnownDevice* DeviceList::find(Slot slot) noexcept {
  return slot < devices_.size() ? &devices_[slot] : nullptr;
}

bool DeviceList::begin_device_call(const CallContext& context,
                                   const KnownDevice& device) const noexcept {
  const Device& gpu =
      device.identity.parent ? devices_[*device.identity.parent].identity : device.identity;
  return context.reading.begin_device_call(gpu.driver_index.value_or(0), handles_.size());
}

bool DeviceList::any_lost() const noexcept {
  return std::ranges::any_of(listed_slots_, [&](Slot i) { return devices_[i].is_lost(); });
}

void DeviceList::list_devices(const CallContext& context, std::vector<Device>& out) const {
  for (const Slot slot : listed_slots_) {
    out.push_back(devices_[slot].identity);
    if (!context.wants_diagnostics()) continue;
    for (const Diagnostic& gap : devices_[slot].gaps) context.reading.diagnose(gap);
  }
}

}  // namespace hmn::nvml
