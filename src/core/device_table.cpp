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
  std::string excerpt;
  append_utf8(excerpt, text.substr(0, 120));
  return make_failure(Status::argument, {"device key \"", excerpt, "\": ", expected});
}

// Parses a PCI address whose domain is optional.
std::optional<PciAddress> parse_pci(std::string_view text) {
  const bool has_domain = text.find(':') != text.rfind(':');
  return has_domain ? parse_pci_address(text) : parse_pci_address(compose({"0:", text}));
}

std::optional<std::uint64_t> parse_luid(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  return scan::parse_number(text, 16);
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
    key.kind = DeviceKey::Kind::pci;
    key.pci = *address;
    return key;
  }
  std::optional<std::uint64_t> number;
  if (kind == "luid") {
    key.kind = DeviceKey::Kind::luid;
    number = parse_luid(value);
  } else if (kind == "render") {
    key.kind = DeviceKey::Kind::render;
    number = scan::parse_number<std::uint32_t>(value);
  } else if (kind == "driver") {
    const std::size_t end = value.find(':');
    const auto vendor_number = lookup_number(words::vendors(), value.substr(0, end));
    if (!vendor_number || *vendor_number == static_cast<std::int32_t>(vendor::unknown) ||
        end == std::string_view::npos) {
      return bad_key(text, "expected the vendor and its index, such as driver:nvidia:0");
    }
    key.kind = DeviceKey::Kind::driver;
    key.vendor = static_cast<std::uint32_t>(*vendor_number);
    number = scan::parse_number<std::uint32_t>(value.substr(end + 1));
  } else {
    return bad_key(text, "expected uuid:, pci:, luid:, render: or driver: and a value");
  }
  if (!number) return bad_key(text, "expected a number after the colon");
  key.number = *number;
  return key;
}

namespace {

// Ranks new arrivals within their class; equal ranks keep the order of the source.
auto rank(const Device& device) {
  const int group = device.device_class != DeviceClass::gpu ? 3
                    : device.is_partition                   ? 2
                    : device.vendor == vendor::nvidia       ? 0
                                                            : 1;
  const auto pci = group == 1 ? parse_pci_address(device.pci_bus_id.view()) : std::nullopt;
  return std::tuple(group, pci.value_or(PciAddress{}));
}

// Returns whether it is the GPU of an SoC. There is only one and it has no bus address, so this
// alone identifies it across sources.
bool is_soc_gpu(const Device& d) {
  return d.vendor != vendor::unknown && d.device_class == DeviceClass::gpu &&
         d.form == DeviceForm::integrated && d.pci_bus_id.empty();
}

// Compares the models of two cards, the only identification if a source reports no address.
bool is_same_model(const Device& left, const Device& right) {
  return left.pci_device && left.vendor == right.vendor && left.pci_device == right.pci_device &&
         left.pci_subsystem == right.pci_subsystem && !left.is_partition && !right.is_partition;
}

}  // namespace

bool is_same(const Device& left, const Device& right) {
  if (left.is_partition != right.is_partition) return false;
  if (is_soc_gpu(left) && is_soc_gpu(right) && left.vendor == right.vendor &&
      left.source != right.source)
    return true;
  if (!left.uuid.empty() && !right.uuid.empty())
    return equal_ignoring_case(left.uuid.view(), right.uuid.view());
  if (left.is_partition || left.pci_bus_id.empty() || right.pci_bus_id.empty()) return false;
  return parse_pci_address(left.pci_bus_id.view()) == parse_pci_address(right.pci_bus_id.view());
}

const DeviceTable::Entry* DeviceTable::find_entry(Source source, Slot slot) const {
  const auto is_match = [&](const Entry& e) {
    return std::ranges::any_of(e.references, [&](const Reference& reference) {
      return reference.source == source && reference.device.slot == slot;
    });
  };
  const auto it = std::ranges::find_if(entries_, is_match);
  return it == entries_.end() ? nullptr : &*it;
}

DeviceTable::Entry* DeviceTable::match(Source source, const Device& device) {
  if (const Entry* entry = find_entry(source, device.slot)) return const_cast<Entry*>(entry);
  const auto it =
      std::ranges::find_if(entries_, [&](const Entry& e) { return is_same(e.identity, device); });
  return it == entries_.end() ? nullptr : &*it;
}

// Returns whether `source` may claim the entry: it has no reference there, or one from before a
// reset.
bool DeviceTable::can_claim(const Entry& entry, Source source) {
  return !has_reference(entry, source) ||
         std::ranges::any_of(entry.references, [source](const Reference& reference) {
           return reference.source != source && reference.is_listed;
         });
}

// Finds the entry by model. Two identical candidates are ambiguous and stay separate.
DeviceTable::Entry* DeviceTable::match_by_ids(Source source, const Device& device,
                                              std::span<const Device* const> devices) {
  if (!device.pci_device || entries_.empty()) return nullptr;
  const auto is_match = [&](const Device* other) { return is_same_model(*other, device); };
  if (std::count_if(devices.begin(), devices.end(), is_match) != 1) return nullptr;
  Entry* candidate = nullptr;
  for (Entry& entry : entries_) {
    const Device& identity = entry.identity;
    if (!is_same_model(identity, device) || !can_claim(entry, source)) continue;
    if (candidate != nullptr || (!identity.pci_bus_id.empty() && !device.pci_bus_id.empty()))
      return nullptr;
    candidate = &entry;
  }
  return candidate;
}

// Compares only when called: during a scan one source may lose a device that the next one lists.
std::uint64_t DeviceTable::generation() noexcept {
  bool is_changed = false;
  for (Entry& entry : entries_) {
    const bool is_present = entry.identity.state != State::lost;
    is_changed |= entry.was_present != is_present;
    entry.was_present = is_present;
  }
  if (is_changed) ++generation_;
  return generation_;
}

// Stores the identity as `from` lists it; the source with the lower number is preferred.
void DeviceTable::refresh(Entry& entry, Source source, const Device& device) {
  auto it = entry.references.begin();
  while (it != entry.references.end() && it->source < source) ++it;
  if (it == entry.references.end() || it->source != source)
    it = entry.references.insert(it, {source, true, {}});
  it->is_listed = true;
  it->device = device;
}

// Rebuilds the identity from the best source and fills its gaps from the others.
void DeviceTable::rebuild_identity(Entry& entry) {
  const std::uint32_t index = entry.identity.index;
  const auto parent = entry.identity.parent_index;
  bool is_listed = false;
  for (const Reference& reference : entry.references) {
    if (!reference.is_listed) continue;
    if (is_listed) {
      merge(entry.identity, reference.device);
    } else {
      entry.identity = reference.device;
      is_listed = true;
    }
  }
  if (!is_listed) entry.identity.state = State::lost;
  entry.identity.index = index;
  entry.identity.parent_index = parent;
}

bool DeviceTable::has_reference(const Entry& entry, Source source) {
  return std::ranges::any_of(entry.references, [source](const Reference& reference) {
    return reference.source == source;
  });
}

void DeviceTable::link_parents(Source source, std::span<const Device* const> devices) {
  for (const Device* device : devices) {
    const auto index = find_index(source, device->slot);
    if (index && device->parent)
      entries_[*index].identity.parent_index = find_index(source, *device->parent);
  }
}

void DeviceTable::mark_divided() {
  for (Entry& entry : entries_) entry.identity.notes &= ~note::divided;
  for (const Entry& entry : entries_) {
    const Device& identity = entry.identity;
    if (identity.parent_index && identity.state != State::lost)
      entries_[*identity.parent_index].identity.notes |= note::divided;
  }
}

void DeviceTable::update(Source source, std::span<const Device* const> devices) {
  for (Entry& entry : entries_) {
    for (Reference& reference : entry.references) {
      if (reference.source == source) reference.is_listed = false;
    }
  }
  std::vector<const Device*> arrivals;
  for (const Device* device : devices) {
    Entry* entry = match(source, *device);
    if (entry == nullptr) entry = match_by_ids(source, *device, devices);
    if (entry != nullptr) {
      refresh(*entry, source, *device);
    } else {
      arrivals.push_back(device);
    }
  }
  std::ranges::stable_sort(arrivals,
                           [](const Device* a, const Device* b) { return rank(*a) < rank(*b); });
  for (const Device* device : arrivals) {
    Entry entry;
    entry.identity.index = count();
    refresh(entry, source, *device);
    entries_.push_back(std::move(entry));
  }
  for (Entry& entry : entries_) {
    if (has_reference(entry, source)) rebuild_identity(entry);
  }
  link_parents(source, devices);
  mark_divided();
}

void DeviceTable::set_state(Source source, hmn::State state) {
  for (Entry& entry : entries_) {
    for (Reference& reference : entry.references) {
      if (reference.source != source || !reference.is_listed) continue;
      reference.device.state = state;
      rebuild_identity(entry);
    }
  }
  mark_divided();
}

void DeviceTable::set_state(std::uint32_t index, hmn::State state) {
  for (Reference& reference : entries_[index].references) reference.device.state = state;
  entries_[index].identity.state = state;
  mark_divided();
}

std::optional<Slot> DeviceTable::find_slot(std::uint32_t index, Source source) const {
  for (const Reference& reference : entries_[index].references) {
    if (reference.source == source) return reference.device.slot;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> DeviceTable::find_index(Source source, Slot slot) const {
  const Entry* const entry = find_entry(source, slot);
  return entry != nullptr ? std::optional(entry->identity.index) : std::nullopt;
}

bool DeviceTable::has_listed(Source source) const {
  return std::ranges::any_of(entries_,
                             [source](const Entry& e) { return has_reference(e, source); });
}

const Device* DeviceTable::find_possible(const DeviceKey& key) const {
  const auto may_have_key = [&](const Entry& e) {
    const Device& identity = e.identity;
    if (identity.state != State::hung && identity.state != State::unreadable) return false;
    switch (key.kind) {
      case DeviceKey::Kind::uuid:
        return identity.uuid.empty();
      case DeviceKey::Kind::pci:
        return !identity.is_partition && identity.pci_bus_id.empty();
      case DeviceKey::Kind::luid:
        return !identity.os_id;
      case DeviceKey::Kind::render:
        return !identity.render_minor;
      case DeviceKey::Kind::driver:
        break;
    }
    return false;
  };
  const auto it = std::ranges::find_if(entries_, may_have_key);
  return it == entries_.end() ? nullptr : &it->identity;
}

std::optional<std::uint32_t> DeviceTable::find(const DeviceKey& key) const {
  const auto has_key = [&](const Entry& e) {
    const Device& identity = e.identity;
    switch (key.kind) {
      case DeviceKey::Kind::uuid:
        return equal_ignoring_case(identity.uuid.view(), key.uuid);
      case DeviceKey::Kind::pci:
        return !identity.is_partition && parse_pci_address(identity.pci_bus_id.view()) == key.pci;
      case DeviceKey::Kind::luid:
        return identity.os_id == key.number;
      case DeviceKey::Kind::render:
        return identity.render_minor == static_cast<std::uint32_t>(key.number);
      case DeviceKey::Kind::driver:
        return !identity.is_partition && identity.vendor == key.vendor &&
               identity.driver_index == static_cast<std::uint32_t>(key.number);
    }
    return false;
  };
  const auto it = std::ranges::find_if(entries_, has_key);
  return it == entries_.end() ? std::nullopt : std::optional(it->identity.index);
}

}  // namespace hmn
