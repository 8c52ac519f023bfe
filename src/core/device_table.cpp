// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include <algorithm>
#include <tuple>

#include "core/merge.hpp"
#include "model/character.hpp"
#include "model/device.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"
#include "model/words.hpp"

namespace hmn {
namespace {

Failure bad_key(std::string_view text, std::string_view expected) {
  std::string shown;
  append_utf8(shown, text.substr(0, 120));
  return failed(Status::argument, {"device key \"", shown, "\": ", expected});
}

// Parses a PCI address whose domain is optional.
std::optional<PciAddress> parse_pci(std::string_view text) {
  const bool has_domain = text.find(':') != text.rfind(':');
  return has_domain ? parse_pci_address(text) : parse_pci_address(compose({"0:", text}));
}

std::optional<std::uint64_t> parse_luid(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  return scan::number(text, 16);
}

}  // namespace

Result<DeviceKey> parse_device_key(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  DeviceKey key;
  if (kind == "uuid" && !value.empty()) {
    key.uuid = value;
    return key;
  }
  if (kind == "pci") {
    const auto address = parse_pci(value);
    if (!address) return bad_key(text, "expected a PCI address such as pci:0000:01:00.0");
    key.what = DeviceKey::Kind::pci;
    key.pci = *address;
    return key;
  }
  std::optional<std::uint64_t> number;
  if (kind == "luid") {
    key.what = DeviceKey::Kind::luid;
    number = parse_luid(value);
  } else if (kind == "render") {
    key.what = DeviceKey::Kind::render;
    number = scan::number<std::uint32_t>(value);
  } else if (kind == "driver") {
    const std::size_t end = value.find(':');
    const auto named = number_of(words::vendors(), value.substr(0, end));
    if (!named || *named == static_cast<std::int32_t>(vendor::unknown) ||
        end == std::string_view::npos) {
      return bad_key(text, "expected the vendor and its index, such as driver:nvidia:0");
    }
    key.what = DeviceKey::Kind::driver;
    key.vendor = static_cast<std::uint32_t>(*named);
    number = scan::number<std::uint32_t>(value.substr(end + 1));
  } else {
    return bad_key(text, "expected uuid:, pci:, luid:, render: or driver: and a value");
  }
  if (!number) return bad_key(text, "expected a number after the colon");
  key.number = *number;
  return key;
}

namespace {

// Ranks new arrivals within their class; equal ranks keep the order of the source.
auto rank(const Device& d) {
  const int group = d.device_class != DeviceClass::gpu ? 3
                    : is_partition(d)                  ? 2
                    : d.vendor == vendor::nvidia       ? 0
                                                       : 1;
  const auto pci = group == 1 ? parse_pci_address(d.pci_bus_id.view()) : std::nullopt;
  return std::tuple(group, pci.value_or(PciAddress{}));
}

// Returns whether it is the GPU of an SoC. There is only one and it has no bus address, so this
// alone identifies it across sources.
bool is_soc_gpu(const Device& d) {
  return d.vendor != vendor::unknown && d.device_class == DeviceClass::gpu &&
         d.form == DeviceForm::integrated && d.pci_bus_id.empty();
}

// Compares the model of two cards, the only identification where a source reports no address.
bool is_alike(const Device& a, const Device& b) {
  return a.pci_device && a.vendor == b.vendor && a.pci_device == b.pci_device &&
         a.pci_subsystem == b.pci_subsystem && !is_partition(a) && !is_partition(b);
}

}  // namespace

bool is_same(const Device& a, const Device& b) {
  if (is_partition(a) != is_partition(b)) return false;
  if (is_soc_gpu(a) && is_soc_gpu(b) && a.vendor == b.vendor && a.from != b.from) return true;
  if (!a.uuid.empty() && !b.uuid.empty()) return equal_ignoring_case(a.uuid.view(), b.uuid.view());
  if (is_partition(a) || a.pci_bus_id.empty() || b.pci_bus_id.empty()) return false;
  return parse_pci_address(a.pci_bus_id.view()) == parse_pci_address(b.pci_bus_id.view());
}

const DeviceTable::Entry* DeviceTable::seen_as(Source from, Slot number) const {
  const auto is_it = [&](const Entry& e) {
    return std::ranges::any_of(
        e.seen_by, [&](const reference& r) { return r.from == from && r.seen.number == number; });
  };
  const auto found = std::ranges::find_if(entries_, is_it);
  return found == entries_.end() ? nullptr : &*found;
}

DeviceTable::Entry* DeviceTable::match(Source from, const Device& d) {
  if (const Entry* known = seen_as(from, d.number)) return const_cast<Entry*>(known);
  const auto same =
      std::ranges::find_if(entries_, [&](const Entry& e) { return is_same(e.view, d); });
  return same == entries_.end() ? nullptr : &*same;
}

// Returns whether `from` may claim the entry: it has none there, or one numbered before a reset.
bool DeviceTable::is_free_for(const Entry& e, Source from) {
  return !is_seen_by(e, from) || std::ranges::any_of(e.seen_by, [from](const reference& r) {
    return r.from != from && r.listed;
  });
}

// Finds the entry by identifiers. Two identical candidates are ambiguous and stay separate.
DeviceTable::Entry* DeviceTable::match_by_ids(Source from, const Device& d,
                                              std::span<const Device* const> listed) {
  if (!d.pci_device || entries_.empty()) return nullptr;
  const auto alike = [&](const Device* other) { return is_alike(*other, d); };
  if (std::count_if(listed.begin(), listed.end(), alike) != 1) return nullptr;
  Entry* found = nullptr;
  for (Entry& e : entries_) {
    const Device& known = e.view;
    if (!is_alike(known, d) || !is_free_for(e, from)) continue;
    if (found != nullptr || (!known.pci_bus_id.empty() && !d.pci_bus_id.empty())) return nullptr;
    found = &e;
  }
  return found;
}

// Compares only when called: within a scan a device may be lost to one source and found by the
// next.
std::uint64_t DeviceTable::generation() noexcept {
  bool is_changed = false;
  for (Entry& e : entries_) {
    const bool is_present = e.view.state != State::lost;
    is_changed |= e.was_present != is_present;
    e.was_present = is_present;
  }
  if (is_changed) ++generation_;
  return generation_;
}

// Stores the identity as `from` lists it; the source with the lower number is preferred.
void DeviceTable::refresh(Entry& e, Source from, const Device& d) {
  auto at = e.seen_by.begin();
  while (at != e.seen_by.end() && at->from < from) ++at;
  if (at == e.seen_by.end() || at->from != from) at = e.seen_by.insert(at, {from, true, {}});
  at->listed = true;
  at->seen = d;
}

// Rebuilds the identity from the best source and fills its gaps from the others.
void DeviceTable::settle(Entry& e) {
  const std::uint32_t index = e.view.index;
  const auto parent = e.view.parent_index;
  bool is_listed = false;
  for (const reference& r : e.seen_by) {
    if (!r.listed) continue;
    if (is_listed) {
      merge(e.view, r.seen);
    } else {
      e.view = r.seen;
      is_listed = true;
    }
  }
  if (!is_listed) e.view.state = State::lost;
  e.view.index = index;
  e.view.parent_index = parent;
}

bool DeviceTable::is_seen_by(const Entry& e, Source from) {
  return std::ranges::any_of(e.seen_by, [from](const reference& r) { return r.from == from; });
}

void DeviceTable::link_parents(Source from, std::span<const Device* const> listed) {
  for (const Device* d : listed) {
    const auto index = index_of(from, d->number);
    if (index && d->parent) entries_[*index].view.parent_index = index_of(from, *d->parent);
  }
}

void DeviceTable::note_divided() {
  for (Entry& e : entries_) e.view.notes &= ~note::divided;
  for (const Entry& e : entries_) {
    const Device& d = e.view;
    if (d.parent_index && d.state != State::lost)
      entries_[*d.parent_index].view.notes |= note::divided;
  }
}

void DeviceTable::update(Source from, std::span<const Device* const> listed) {
  for (Entry& e : entries_) {
    for (reference& r : e.seen_by) {
      if (r.from == from) r.listed = false;
    }
  }
  std::vector<const Device*> arrivals;
  for (const Device* d : listed) {
    Entry* known = match(from, *d);
    if (known == nullptr) known = match_by_ids(from, *d, listed);
    if (known != nullptr) {
      refresh(*known, from, *d);
    } else {
      arrivals.push_back(d);
    }
  }
  std::ranges::stable_sort(arrivals,
                           [](const Device* a, const Device* b) { return rank(*a) < rank(*b); });
  for (const Device* d : arrivals) {
    Entry e;
    e.view.index = count();
    refresh(e, from, *d);
    entries_.push_back(std::move(e));
  }
  for (Entry& e : entries_) {
    if (is_seen_by(e, from)) settle(e);
  }
  link_parents(from, listed);
  note_divided();
}

void DeviceTable::set_state(Source from, hmn::State s) {
  for (Entry& e : entries_) {
    for (reference& r : e.seen_by) {
      if (r.from != from || !r.listed) continue;
      r.seen.state = s;
      settle(e);
    }
  }
  note_divided();
}

void DeviceTable::set_state(std::uint32_t index, hmn::State s) {
  for (reference& r : entries_[index].seen_by) r.seen.state = s;
  entries_[index].view.state = s;
  note_divided();
}

std::optional<Slot> DeviceTable::slot_of(std::uint32_t index, Source from) const {
  for (const reference& r : entries_[index].seen_by) {
    if (r.from == from) return r.seen.number;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> DeviceTable::index_of(Source from, Slot number) const {
  const Entry* const found = seen_as(from, number);
  return found != nullptr ? std::optional(found->view.index) : std::nullopt;
}

bool DeviceTable::has_of(Source from) const {
  return std::ranges::any_of(entries_, [from](const Entry& e) { return is_seen_by(e, from); });
}

const Device* DeviceTable::find_possible(const DeviceKey& key) const {
  const auto may_have = [&](const Entry& e) {
    const Device& d = e.view;
    if (d.state != State::hung && d.state != State::unreadable) return false;
    switch (key.what) {
      case DeviceKey::Kind::uuid:
        return d.uuid.empty();
      case DeviceKey::Kind::pci:
        return !is_partition(d) && d.pci_bus_id.empty();
      case DeviceKey::Kind::luid:
        return !d.os_id;
      case DeviceKey::Kind::render:
        return !d.render_minor;
      case DeviceKey::Kind::driver:
        break;
    }
    return false;
  };
  const auto found = std::ranges::find_if(entries_, may_have);
  return found == entries_.end() ? nullptr : &found->view;
}

std::optional<std::uint32_t> DeviceTable::find(const DeviceKey& key) const {
  const auto has_key = [&](const Entry& e) {
    const Device& d = e.view;
    switch (key.what) {
      case DeviceKey::Kind::uuid:
        return equal_ignoring_case(d.uuid.view(), key.uuid);
      case DeviceKey::Kind::pci:
        return !is_partition(d) && parse_pci_address(d.pci_bus_id.view()) == key.pci;
      case DeviceKey::Kind::luid:
        return d.os_id == key.number;
      case DeviceKey::Kind::render:
        return d.render_minor == static_cast<std::uint32_t>(key.number);
      case DeviceKey::Kind::driver:
        return !is_partition(d) && d.vendor == key.vendor &&
               d.driver_index == static_cast<std::uint32_t>(key.number);
    }
    return false;
  };
  const auto found = std::ranges::find_if(entries_, has_key);
  return found == entries_.end() ? std::nullopt : std::optional(found->view.index);
}

}  // namespace hmn
