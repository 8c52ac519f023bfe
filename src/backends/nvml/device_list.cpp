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
bool is_final(const diagnostic& gap) noexcept {
  return gap.why.code == status::unsupported || gap.why.code == status::no_source ||
         gap.why.code == status::ok;
}

bool is_complete(const known_device& d) noexcept {
  return std::ranges::all_of(d.gaps, is_final);
}

bool is_end(code c) noexcept {
  return c == uninitialized || c == late;
}

bool is_nameless(const known_device& d) noexcept {
  return !d.is_partition() && !d.address && d.identity.uuid.empty();
}

bool is_same_instance(const device& a, const device& b) noexcept {
  return a.parent == b.parent && a.instance && b.instance && a.instance->gpu == b.instance->gpu &&
         a.instance->compute == b.instance->compute;
}

bool is_same(const known_device& known, const known_device& seen) noexcept {
  const device& a = known.identity;
  const device& b = seen.identity;
  if (known.is_partition() != seen.is_partition()) return false;
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
  if (seen.is_partition()) return is_same_instance(a, b);
  return known.address && known.address == seen.address;
}

// Keeps known values that a new reading failed to read.
void keep_what_is_known(const known_device& known, known_device& seen) {
  seen.faults = known.faults;
  if (seen.identity.uuid.empty()) seen.identity.uuid = known.identity.uuid;
  if (seen.identity.name.empty()) seen.identity.name = known.identity.name;
}

}  // namespace

state state_after(code c) noexcept {
  if (c == set_aside) return state::hung;
  return c == gpu_is_lost ? state::lost : state::unreadable;
}

void device_list::recall(const device& known, bool listed) {
  while (devices_.size() <= known.number) {
    const auto number = static_cast<slot>(devices_.size());
    devices_.emplace_back().identity.number = number;
  }
  known_device& d = devices_[known.number];
  d.identity = known;
  d.address = parse_pci_address(known.pci_bus_id.view());
  if (listed) listed_.push_back(known.number);
}

result<void> device_list::enumerate(const topic& t, session& s, const sleep_watch& watch) {
  if (handles_session_ != s.number()) {
    handles_.clear();
    ++listing_;
    handles_session_ = s.number();
  }
  const char* from = s.fn.count.name();
  if (const code c = take_handles(t, s, watch, from); c != success) return failure_for(c, from);
  fresh_.clear();
  for (unsigned i = 0; i < handles_.size(); ++i) {
    if (handles_[i].is_repeated) continue;
    if (handles_[i].result != success) note_unreachable(t, i, watch);
    fresh_.push_back(*handles_[i].number);
    if (handles_[i].result == set_aside) keep_instances(*handles_[i].number);
    if (handles_[i].result != success || !t.r.may_ask(i, handles_.size())) continue;
    const code c = list_instances(t, s, *handles_[i].number);
    if (is_end(c)) return failure_for(c, s.fn.mig_mode.name());
  }
  listed_.swap(fresh_);
  for (std::size_t i = 0; i < listed_.size(); ++i) devices_[listed_[i]].listed_at = i;
  session_ = s.number();
  return {};
}

void device_list::attach(const topic& t, session& s) {
  unsigned count = 0;
  if (call(t, s.fn.count, &count) != success) return;
  count = std::min(count, most_devices);
  for (unsigned i = 0; i < count; ++i) {
    handle h = nullptr;
    if (t.r.may_ask(i, count)) call(t, s.fn.by_index, i, &h);
  }
}

code device_list::take_handles(const topic& t, session& s, const sleep_watch& watch,
                               const char*& from) {
  unsigned count = 0;
  const code c = call(t, s.fn.count, &count);
  if (c != success) return c;
  handles_.resize(std::min(count, most_devices));
  for (handle_slot& at : handles_) at.is_taken = false;
  ++listing_;
  for (unsigned i = 0; i < handles_.size(); ++i) {
    const code taken = take_handle(t, s, i);
    from = handles_[i].from;
    if (is_end(taken)) return taken;
  }
  drop_what_is_no_device(t, s, watch, count);
  return success;
}

// Drops indexes at the end that are no devices: NVML itself says so, and the bus has fewer. Also
// drops a device that is given twice.
void device_list::drop_what_is_no_device(const topic& t, const session& s, const sleep_watch& watch,
                                         unsigned count) {
  const std::size_t least = std::max<std::size_t>(watch.devices().size(), 1);
  while (handles_.size() > least && handles_.back().result == invalid_argument &&
         !handles_.back().number) {
    handles_.pop_back();
  }
  const auto repeated = std::ranges::count_if(handles_, &handle_slot::is_repeated);
  const auto given = handles_.size() - static_cast<std::size_t>(repeated);
  if (given == count) return;
  t.report(status::backend,
           {s.fn.count.name(), ": counts ", count, " GPUs, but NVML has only ", given,
            repeated != 0 ? ", some of which it lists more than once" : ""},
           0, reason::implausible);
}

code device_list::take_handle(const topic& t, session& s, unsigned index) {
  handle_slot& at = handles_[index];
  if (!t.r.may_ask(index, handles_.size())) return at.result = set_aside;
  handle h = nullptr;
  at.is_repeated = false;
  at.from = s.fn.by_index.name();
  at.result = call(t, s.fn.by_index, index, &h);
  if (at.result != success) return at.result;
  if (!must_identify(at, h) && is_where_it_was(t, s, devices_[*at.number])) {
    take(at);
    return success;
  }
  known_device seen;
  seen.identity.driver_index = index;
  at.result = read_identity({t.r, t.about, at.number, {}}, s, paths_, h, seen);
  at.from = seen.refused_by;
  if (at.result != success) return at.result;
  at.is_repeated = is_taken(seen);
  if (at.is_repeated) return success;
  seen.identity.state = seen.refusal == success ? state::ready : state_after(seen.refusal);
  at.h = h;
  at.number = place(std::move(seen));
  take(at);
  return success;
}

void device_list::take(handle_slot& at) noexcept {
  at.is_taken = true;
  devices_[*at.number].seated_in = listing_;
}

bool device_list::is_seated(slot number) const noexcept {
  return devices_[number].seated_in == listing_;
}

bool device_list::is_taken(const known_device& seen) const noexcept {
  return std::ranges::any_of(handles_, [&](const handle_slot& at) {
    if (!at.is_taken) return false;
    const known_device& d = devices_[*at.number];
    return d.address == seen.address && (d.h == seen.h || is_same(d, seen));
  });
}

bool device_list::must_identify(const handle_slot& at, handle h) const noexcept {
  if (!at.number || at.h != h || is_seated(*at.number)) return true;
  const known_device& d = devices_[*at.number];
  return d.refusal != success || d.session != handles_session_ || !is_complete(d);
}

// A device that has moved is identified again.
bool device_list::is_where_it_was(const topic& t, const session& s, const known_device& known) {
  pci_info info{};
  if (!known.address || call(t, s.fn.pci, known.h, &info) != success) return true;
  const auto now = address_of(info);
  return !now || now == known.address;
}

void device_list::note_unreachable(const topic& t, unsigned index, const sleep_watch& watch) {
  handle_slot& at = handles_[index];
  if (at.number && is_seated(*at.number)) at.number.reset();
  if (!at.number || !devices_[*at.number].address) {
    at.number = number_of_unreachable(index, watch);
  }
  known_device& d = devices_[*at.number];
  d.refusal = at.result;
  d.refused_by = at.from;
  d.identity.state = state_after(at.result);
  d.gaps.clear();
  t.of_device(*at.number).missing(at.result, at.result == set_aside ? "NVML" : at.from, 0);
}

// Keeps the instances of a GPU that is set aside as they were last listed.
void device_list::keep_instances(slot parent) {
  for (const slot i : listed_) {
    known_device& d = devices_[i];
    if (d.identity.parent != parent) continue;
    d.refusal = set_aside;
    d.identity.state = state::hung;
    fresh_.push_back(i);
  }
}

// Identifies a GPU without a handle: it is the previous device of its index, or the driver's only
// one that is not accounted for.
slot device_list::number_of_unreachable(unsigned index, const sleep_watch& watch) {
  const auto before = std::ranges::find_if(devices_, [&](const known_device& d) {
    return d.identity.driver_index == index && !is_seated(d.identity.number);
  });
  const bool is_known = before != devices_.end();
  const auto address = is_known && before->address ? std::nullopt : only_unclaimed(watch);
  if (is_known && !address) return before->identity.number;
  known_device unknown;
  if (address) {
    const sleep_watch::watched* w = watch.find(*address);
    unknown = identity_from_files(paths_, *address, w == nullptr || w->may_sleep);
  }
  unknown.identity.from = source::nvml;
  unknown.identity.vendor = vendor::nvidia;
  unknown.identity.driver_index = index;
  return place(std::move(unknown));
}

std::optional<pci_address> device_list::only_unclaimed(const sleep_watch& watch) const {
  std::optional<pci_address> found;
  for (const sleep_watch::watched& w : watch.devices()) {
    const bool claimed = std::ranges::any_of(handles_, [&](const handle_slot& at) {
      return at.number && devices_[*at.number].address == w.address;
    });
    if (claimed) continue;
    if (found) return std::nullopt;
    found = w.address;
  }
  return found;
}

code device_list::list_instances(const topic& t, session& s, slot parent) {
  known_device& gpu = devices_[parent];
  if (!gpu.mig_capable) return success;
  const std::uint64_t now = platform::monotonic_ns();
  if (gpu.mig_asked_ns != 0 && now - gpu.mig_asked_ns < mig_recheck_ns) return success;
  const topic about = t.of_device(parent);
  unsigned current = 0;
  unsigned pending = 0;
  const code c = call(about, s.fn.mig_mode, gpu.h, &current, &pending);
  if (is_end(c)) return c;
  if (c != success && c != not_supported) about.missing(c, s.fn.mig_mode.name(), 0);
  gpu.mig_capable = c != not_supported;
  if (c == success && current > mig_enabled) {
    about.report(status::backend,
                 {s.fn.mig_mode.name(), ": a mode of ", current, ", which is neither on nor off"},
                 0, reason::implausible);
  }
  if (c == success || c == not_supported) gpu.mig_on = c == success && current == mig_enabled;
  gpu.mig_asked_ns = c == success && current == 0 ? now : 0;
  return gpu.mig_on ? list_each_instance(about, s, parent) : c;
}

code device_list::list_each_instance(const topic& t, session& s, slot parent) {
  const handle gpu = devices_[parent].h;
  unsigned count = 0;
  code c = call(t, s.fn.mig_count, gpu, &count);
  if (c != success) {
    t.missing(c, s.fn.mig_count.name(), 0);
    return c;
  }
  if (count > most_partitions) {
    t.report(status::backend,
             {s.fn.mig_count.name(), ": allows ", count, " instances; the first ", most_partitions,
              " are listed"},
             0, reason::implausible);
  }
  topic of_instance = t;
  of_instance.is_instance = true;
  for (unsigned i = 0; !is_end(c) && i < std::min(count, most_partitions); ++i) {
    handle h = nullptr;
    c = call(t, s.fn.mig_by_index, gpu, i, &h);
    if (c == success) c = list_instance(of_instance, s, parent, h);
    if (c != success && c != not_found && !is_end(c)) t.missing(c, s.fn.mig_by_index.name(), 0);
  }
  return c;
}

// Handles of instances are reused for other instances: the UUID decides.
code device_list::list_instance(const topic& t, session& s, slot parent, handle h) {
  text<96> uuid;
  const code c = read_uuid(t, s, h, uuid);
  if (is_end(c) || c == gpu_is_lost) return c;
  const auto known = std::ranges::find_if(devices_, [&](const known_device& d) {
    return d.session == handles_session_ && d.is_partition() && is_complete(d) &&
           d.identity.parent == parent && same_text(d.identity.uuid.view(), uuid.view());
  });
  if (known != devices_.end()) {
    known->h = h;
    if (std::ranges::find(fresh_, known->identity.number) == fresh_.end()) {
      fresh_.push_back(known->identity.number);
    } else {
      t.report(status::backend,
               {s.fn.mig_by_index.name(), ": lists ", uuid.view(), " more than once"}, 0,
               reason::implausible);
    }
    return success;
  }
  known_device seen;
  seen.identity.state = state::ready;
  const code failed = read_instance_identity(t, s, devices_[parent], h, seen);
  if (failed != success) return failed;
  fresh_.push_back(place(std::move(seen)));
  return success;
}

slot device_list::place(known_device&& seen) {
  const std::optional<slot> known = match(seen);
  const slot number = known ? *known : static_cast<slot>(devices_.size());
  if (!known) devices_.emplace_back();
  seen.identity.number = number;
  for (diagnostic& gap : seen.gaps) gap.device = number;
  keep_what_is_known(devices_[number], seen);
  devices_[number] = std::move(seen);
  return number;
}

// Devices at different addresses in the same listing are distinct, whatever their names.
std::optional<slot> device_list::match(const known_device& seen) const noexcept {
  const auto same = [&](const known_device& d) {
    return is_same(d, seen) && !is_seated(d.identity.number);
  };
  const auto nameless = [&](const known_device& d) {
    return is_nameless(d) && !seen.is_partition() &&
           d.identity.driver_index == seen.identity.driver_index;
  };
  auto found = std::ranges::find_if(devices_, same);
  if (found == devices_.end()) found = std::ranges::find_if(devices_, nameless);
  if (found == devices_.end()) return std::nullopt;
  return static_cast<slot>(found - devices_.begin());
}

void device_list::list_closed(const topic& t, const sleep_watch& watch, const failure* rest) {
  const auto gone = [&](slot i) {
    return devices_[i].address && watch.find(*devices_[i].address) == nullptr;
  };
  std::erase_if(listed_, gone);
  for (const sleep_watch::watched& w : watch.devices()) {
    const auto known = std::ranges::find_if(
        devices_, [&](const known_device& d) { return d.address == w.address; });
    const slot number = known != devices_.end()
                            ? known->identity.number
                            : place(identity_from_files(paths_, w.address, w.may_sleep));
    if (!is_listed(number)) listed_.push_back(number);
  }
  for (const slot i : listed_) mark_closed(t, i, watch, rest);
}

void device_list::mark_closed(const topic& t, slot number, const sleep_watch& watch,
                              const failure* rest) {
  const topic about = t.of_device(number);
  if (rest != nullptr) {
    if (t.wants()) about.diagnose(*rest);
    return;
  }
  device& d = devices_[number].identity;
  const auto& address = devices_[d.parent.value_or(number)].address;
  const sleep_watch::watched* const w = address ? watch.find(*address) : nullptr;
  d.state = w != nullptr && w->asleep ? state::asleep : state::unknown;
  if (d.state == state::asleep) return;
  about.report(status::asleep, {"not asked: NVML stays closed while another of its GPUs sleeps"});
}

bool device_list::is_listed(slot number) const noexcept {
  const std::size_t likely = devices_[number].listed_at;
  if (likely < listed_.size() && listed_[likely] == number) return true;
  return std::ranges::find(listed_, number) != listed_.end();
}

known_device* device_list::find(slot number) noexcept {
  return number < devices_.size() ? &devices_[number] : nullptr;
}

bool device_list::may_ask(const topic& t, const known_device& of) const noexcept {
  const device& gpu = of.identity.parent ? devices_[*of.identity.parent].identity : of.identity;
  return t.r.may_ask(gpu.driver_index.value_or(0), handles_.size());
}

bool device_list::one_is_lost() const noexcept {
  return std::ranges::any_of(listed_, [&](slot i) { return devices_[i].is_lost(); });
}

void device_list::list_devices(const topic& t, std::vector<device>& out) const {
  for (const slot i : listed_) {
    out.push_back(devices_[i].identity);
    if (!t.wants()) continue;
    for (const diagnostic& gap : devices_[i].gaps) t.r.diagnose(gap);
  }
}

}  // namespace hmn::nvml
