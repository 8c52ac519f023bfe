// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/device_list.hpp"

#include <algorithm>
#include <utility>

#include "backends/nvml/identity.hpp"

namespace hmn::nvml {
namespace {

constexpr unsigned most_devices = 1024;
constexpr unsigned most_partitions = 64;

// How often to check whether a GPU has been divided in the meantime, which takes longer than to
// read its memory.
constexpr std::uint64_t mig_recheck_ns = platform::ns_per_second;

bool same_text(std::string_view a, std::string_view b) noexcept {
  return !a.empty() && a == b;
}

// Whether a value is missing permanently, so that it is not queried again.
bool is_final(const Diagnostic& gap) noexcept {
  return gap.why.code == Status::unsupported || gap.why.code == Status::no_source ||
         gap.why.code == Status::ok;
}

bool is_complete(const KnownDevice& d) noexcept {
  return std::ranges::all_of(d.gaps, is_final);
}

bool is_end(Code c) noexcept {
  return c == uninitialized || c == late;
}

bool is_nameless(const KnownDevice& d) noexcept {
  return !d.is_partition() && !d.address && d.identity.uuid.empty();
}

bool is_same_instance(const Device& a, const Device& b) noexcept {
  return a.parent == b.parent && a.instance && b.instance && a.instance->gpu == b.instance->gpu &&
         a.instance->compute == b.instance->compute;
}

bool is_same(const KnownDevice& known, const KnownDevice& seen) noexcept {
  const Device& a = known.identity;
  const Device& b = seen.identity;
  if (known.is_partition() != seen.is_partition()) return false;
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
  if (seen.is_partition()) return is_same_instance(a, b);
  return known.address && known.address == seen.address;
}

// Keeps known values that a new reading failed to read.
void keep_what_is_known(const KnownDevice& known, KnownDevice& seen) {
  seen.faults = known.faults;
  if (seen.identity.uuid.empty()) seen.identity.uuid = known.identity.uuid;
  if (seen.identity.name.empty()) seen.identity.name = known.identity.name;
}

}  // namespace

State state_after(Code c) noexcept {
  if (c == set_aside) return State::hung;
  return c == gpu_is_lost ? State::lost : State::unreadable;
}

void DeviceList::recall(const Device& known, bool listed) {
  while (devices_.size() <= known.number) {
    const auto number = static_cast<Slot>(devices_.size());
    devices_.emplace_back().identity.number = number;
  }
  KnownDevice& d = devices_[known.number];
  d.identity = known;
  d.address = parse_pci_address(known.pci_bus_id.view());
  if (listed) listed_.push_back(known.number);
}

Result<void> DeviceList::enumerate(const Topic& t, Session& s, const SleepWatch& watch) {
  if (handles_session_ != s.number()) {
    handles_.clear();
    ++listing_;
    handles_session_ = s.number();
  }
  const char* from = s.fn.count.name();
  if (const Code c = take_handles(t, s, watch, from); c != success) return failure_for(c, from);
  fresh_.clear();
  for (unsigned i = 0; i < handles_.size(); ++i) {
    if (handles_[i].is_repeated) continue;
    if (handles_[i].result != success) note_unreachable(t, i, watch);
    fresh_.push_back(*handles_[i].number);
    if (handles_[i].result == set_aside) keep_instances(*handles_[i].number);
    if (handles_[i].result != success || !t.r.may_ask(i, handles_.size())) continue;
    const Code c = list_instances(t, s, *handles_[i].number);
    if (is_end(c)) return failure_for(c, s.fn.mig_mode.name());
  }
  listed_.swap(fresh_);
  for (std::size_t i = 0; i < listed_.size(); ++i) devices_[listed_[i]].listed_at = i;
  session_ = s.number();
  return {};
}

void DeviceList::attach(const Topic& t, Session& s) {
  unsigned count = 0;
  if (call(t, s.fn.count, &count) != success) return;
  count = std::min(count, most_devices);
  for (unsigned i = 0; i < count; ++i) {
    Handle h = nullptr;
    if (t.r.may_ask(i, count)) call(t, s.fn.by_index, i, &h);
  }
}

Code DeviceList::take_handles(const Topic& t, Session& s, const SleepWatch& watch,
                              const char*& from) {
  unsigned count = 0;
  const Code c = call(t, s.fn.count, &count);
  if (c != success) return c;
  handles_.resize(std::min(count, most_devices));
  for (HandleSlot& at : handles_) at.is_taken = false;
  ++listing_;
  for (unsigned i = 0; i < handles_.size(); ++i) {
    const Code taken = take_handle(t, s, i);
    from = handles_[i].from;
    if (is_end(taken)) return taken;
  }
  drop_what_is_no_device(t, s, watch, count);
  return success;
}

// Drops indexes at the end that are no devices: NVML itself says so, and the bus has fewer. Also
// drops a device that is given twice.
void DeviceList::drop_what_is_no_device(const Topic& t, const Session& s, const SleepWatch& watch,
                                        unsigned count) {
  const std::size_t least = std::max<std::size_t>(watch.devices().size(), 1);
  while (handles_.size() > least && handles_.back().result == invalid_argument &&
         !handles_.back().number) {
    handles_.pop_back();
  }
  const auto repeated = std::ranges::count_if(handles_, &HandleSlot::is_repeated);
  const auto given = handles_.size() - static_cast<std::size_t>(repeated);
  if (given == count) return;
  t.report(Status::backend,
           {s.fn.count.name(), ": counts ", count, " GPUs, but NVML has only ", given,
            repeated != 0 ? ", some of which it lists more than once" : ""},
           0, Reason::implausible);
}

Code DeviceList::take_handle(const Topic& t, Session& s, unsigned index) {
  HandleSlot& at = handles_[index];
  if (!t.r.may_ask(index, handles_.size())) return at.result = set_aside;
  Handle h = nullptr;
  at.is_repeated = false;
  at.from = s.fn.by_index.name();
  at.result = call(t, s.fn.by_index, index, &h);
  if (at.result != success) return at.result;
  if (!must_identify(at, h) && is_where_it_was(t, s, devices_[*at.number])) {
    take(at);
    return success;
  }
  KnownDevice seen;
  seen.identity.driver_index = index;
  at.result = read_identity({t.r, t.about, at.number, {}}, s, paths_, h, seen);
  at.from = seen.refused_by;
  if (at.result != success) return at.result;
  at.is_repeated = is_taken(seen);
  if (at.is_repeated) return success;
  seen.identity.state = seen.refusal == success ? State::ready : state_after(seen.refusal);
  at.h = h;
  at.number = place(std::move(seen));
  take(at);
  return success;
}

void DeviceList::take(HandleSlot& at) noexcept {
  at.is_taken = true;
  devices_[*at.number].seated_in = listing_;
}

bool DeviceList::is_seated(Slot number) const noexcept {
  return devices_[number].seated_in == listing_;
}

bool DeviceList::is_taken(const KnownDevice& seen) const noexcept {
  return std::ranges::any_of(handles_, [&](const HandleSlot& at) {
    if (!at.is_taken) return false;
    const KnownDevice& d = devices_[*at.number];
    return d.address == seen.address && (d.h == seen.h || is_same(d, seen));
  });
}

bool DeviceList::must_identify(const HandleSlot& at, Handle h) const noexcept {
  if (!at.number || at.h != h || is_seated(*at.number)) return true;
  const KnownDevice& d = devices_[*at.number];
  return d.refusal != success || d.session != handles_session_ || !is_complete(d);
}

// A device that has moved is identified again.
bool DeviceList::is_where_it_was(const Topic& t, const Session& s, const KnownDevice& known) {
  PciInfo info{};
  if (!known.address || call(t, s.fn.pci, known.h, &info) != success) return true;
  const auto now = address_of(info);
  return !now || now == known.address;
}

void DeviceList::note_unreachable(const Topic& t, unsigned index, const SleepWatch& watch) {
  HandleSlot& at = handles_[index];
  if (at.number && is_seated(*at.number)) at.number.reset();
  if (!at.number || !devices_[*at.number].address) {
    at.number = number_of_unreachable(index, watch);
  }
  KnownDevice& d = devices_[*at.number];
  d.refusal = at.result;
  d.refused_by = at.from;
  d.identity.state = state_after(at.result);
  d.gaps.clear();
  t.of_device(*at.number).missing(at.result, at.result == set_aside ? "NVML" : at.from, 0);
}

// Keeps the instances of a GPU that is set aside as they were last listed.
void DeviceList::keep_instances(Slot parent) {
  for (const Slot i : listed_) {
    KnownDevice& d = devices_[i];
    if (d.identity.parent != parent) continue;
    d.refusal = set_aside;
    d.identity.state = State::hung;
    fresh_.push_back(i);
  }
}

// Identifies a GPU without a handle: it is the previous device of its index, or the driver's only
// one that is not accounted for.
Slot DeviceList::number_of_unreachable(unsigned index, const SleepWatch& watch) {
  const auto before = std::ranges::find_if(devices_, [&](const KnownDevice& d) {
    return d.identity.driver_index == index && !is_seated(d.identity.number);
  });
  const bool is_known = before != devices_.end();
  const auto address = is_known && before->address ? std::nullopt : only_unclaimed(watch);
  if (is_known && !address) return before->identity.number;
  KnownDevice unknown;
  if (address) {
    const SleepWatch::Watched* w = watch.find(*address);
    unknown = identity_from_files(paths_, *address, w == nullptr || w->may_sleep);
  }
  unknown.identity.from = Source::nvml;
  unknown.identity.vendor = vendor::nvidia;
  unknown.identity.driver_index = index;
  return place(std::move(unknown));
}

std::optional<PciAddress> DeviceList::only_unclaimed(const SleepWatch& watch) const {
  std::optional<PciAddress> found;
  for (const SleepWatch::Watched& w : watch.devices()) {
    const bool claimed = std::ranges::any_of(handles_, [&](const HandleSlot& at) {
      return at.number && devices_[*at.number].address == w.address;
    });
    if (claimed) continue;
    if (found) return std::nullopt;
    found = w.address;
  }
  return found;
}

Code DeviceList::list_instances(const Topic& t, Session& s, Slot parent) {
  KnownDevice& gpu = devices_[parent];
  if (!gpu.mig_capable) return success;
  const std::uint64_t now = platform::monotonic_ns();
  if (gpu.mig_asked_ns != 0 && now - gpu.mig_asked_ns < mig_recheck_ns) return success;
  const Topic about = t.of_device(parent);
  unsigned current = 0;
  unsigned pending = 0;
  const Code c = call(about, s.fn.mig_mode, gpu.h, &current, &pending);
  if (is_end(c)) return c;
  if (c != success && c != not_supported) about.missing(c, s.fn.mig_mode.name(), 0);
  gpu.mig_capable = c != not_supported;
  if (c == success && current > mig_enabled) {
    about.report(Status::backend,
                 {s.fn.mig_mode.name(), ": a mode of ", current, ", which is neither on nor off"},
                 0, Reason::implausible);
  }
  if (c == success || c == not_supported) gpu.mig_on = c == success && current == mig_enabled;
  gpu.mig_asked_ns = c == success && current == 0 ? now : 0;
  return gpu.mig_on ? list_each_instance(about, s, parent) : c;
}

Code DeviceList::list_each_instance(const Topic& t, Session& s, Slot parent) {
  const Handle gpu = devices_[parent].h;
  unsigned count = 0;
  Code c = call(t, s.fn.mig_count, gpu, &count);
  if (c != success) {
    t.missing(c, s.fn.mig_count.name(), 0);
    return c;
  }
  if (count > most_partitions) {
    t.report(Status::backend,
             {s.fn.mig_count.name(), ": allows ", count, " instances; the first ", most_partitions,
              " are listed"},
             0, Reason::implausible);
  }
  Topic of_instance = t;
  of_instance.is_instance = true;
  for (unsigned i = 0; !is_end(c) && i < std::min(count, most_partitions); ++i) {
    Handle h = nullptr;
    c = call(t, s.fn.mig_by_index, gpu, i, &h);
    if (c == success) c = list_instance(of_instance, s, parent, h);
    if (c != success && c != not_found && !is_end(c)) t.missing(c, s.fn.mig_by_index.name(), 0);
  }
  return c;
}

// Handles of instances are reused for other instances: the UUID decides.
Code DeviceList::list_instance(const Topic& t, Session& s, Slot parent, Handle h) {
  Text<96> uuid;
  const Code c = read_uuid(t, s, h, uuid);
  if (is_end(c) || c == gpu_is_lost) return c;
  const auto known = std::ranges::find_if(devices_, [&](const KnownDevice& d) {
    return d.session == handles_session_ && d.is_partition() && is_complete(d) &&
           d.identity.parent == parent && same_text(d.identity.uuid.view(), uuid.view());
  });
  if (known != devices_.end()) {
    known->h = h;
    if (std::ranges::find(fresh_, known->identity.number) == fresh_.end()) {
      fresh_.push_back(known->identity.number);
    } else {
      t.report(Status::backend,
               {s.fn.mig_by_index.name(), ": lists ", uuid.view(), " more than once"}, 0,
               Reason::implausible);
    }
    return success;
  }
  KnownDevice seen;
  seen.identity.state = State::ready;
  const Code failed = read_instance_identity(t, s, devices_[parent], h, seen);
  if (failed != success) return failed;
  fresh_.push_back(place(std::move(seen)));
  return success;
}

Slot DeviceList::place(KnownDevice&& seen) {
  const std::optional<Slot> known = match(seen);
  const Slot number = known ? *known : static_cast<Slot>(devices_.size());
  if (!known) devices_.emplace_back();
  seen.identity.number = number;
  for (Diagnostic& gap : seen.gaps) gap.device = number;
  keep_what_is_known(devices_[number], seen);
  devices_[number] = std::move(seen);
  return number;
}

// Devices at different addresses in the same listing are distinct, whatever their names.
std::optional<Slot> DeviceList::match(const KnownDevice& seen) const noexcept {
  const auto same = [&](const KnownDevice& d) {
    return is_same(d, seen) && !is_seated(d.identity.number);
  };
  const auto nameless = [&](const KnownDevice& d) {
    return is_nameless(d) && !seen.is_partition() &&
           d.identity.driver_index == seen.identity.driver_index;
  };
  auto found = std::ranges::find_if(devices_, same);
  if (found == devices_.end()) found = std::ranges::find_if(devices_, nameless);
  if (found == devices_.end()) return std::nullopt;
  return static_cast<Slot>(found - devices_.begin());
}

void DeviceList::list_closed(const Topic& t, const SleepWatch& watch, const Failure* rest) {
  const auto gone = [&](Slot i) {
    return devices_[i].address && watch.find(*devices_[i].address) == nullptr;
  };
  std::erase_if(listed_, gone);
  for (const SleepWatch::Watched& w : watch.devices()) {
    const auto known = std::ranges::find_if(
        devices_, [&](const KnownDevice& d) { return d.address == w.address; });
    const Slot number = known != devices_.end()
                            ? known->identity.number
                            : place(identity_from_files(paths_, w.address, w.may_sleep));
    if (!is_listed(number)) listed_.push_back(number);
  }
  for (const Slot i : listed_) mark_closed(t, i, watch, rest);
}

void DeviceList::mark_closed(const Topic& t, Slot number, const SleepWatch& watch,
                             const Failure* rest) {
  const Topic about = t.of_device(number);
  if (rest != nullptr) {
    if (t.wants()) about.diagnose(*rest);
    return;
  }
  Device& d = devices_[number].identity;
  const auto& address = devices_[d.parent.value_or(number)].address;
  const SleepWatch::Watched* const w = address ? watch.find(*address) : nullptr;
  d.state = w != nullptr && w->asleep ? State::asleep : State::unknown;
  if (d.state == State::asleep) return;
  about.report(Status::asleep, {"not asked: NVML stays closed while another of its GPUs sleeps"});
}

bool DeviceList::is_listed(Slot number) const noexcept {
  const std::size_t likely = devices_[number].listed_at;
  if (likely < listed_.size() && listed_[likely] == number) return true;
  return std::ranges::find(listed_, number) != listed_.end();
}

KnownDevice* DeviceList::find(Slot number) noexcept {
  return number < devices_.size() ? &devices_[number] : nullptr;
}

bool DeviceList::may_ask(const Topic& t, const KnownDevice& of) const noexcept {
  const Device& gpu = of.identity.parent ? devices_[*of.identity.parent].identity : of.identity;
  return t.r.may_ask(gpu.driver_index.value_or(0), handles_.size());
}

bool DeviceList::one_is_lost() const noexcept {
  return std::ranges::any_of(listed_, [&](Slot i) { return devices_[i].is_lost(); });
}

void DeviceList::list_devices(const Topic& t, std::vector<Device>& out) const {
  for (const Slot i : listed_) {
    out.push_back(devices_[i].identity);
    if (!t.wants()) continue;
    for (const Diagnostic& gap : devices_[i].gaps) t.r.diagnose(gap);
  }
}

}  // namespace hmn::nvml
