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

failure bad_key(std::string_view text, std::string_view expected) {
  std::string shown;
  append_utf8(shown, text.substr(0, 120));
  return failed(status::argument, {"device key \"", shown, "\": ", expected});
}

// Parses a PCI address whose domain is optional.
std::optional<pci_address> parse_pci(std::string_view text) {
  const bool has_domain = text.find(':') != text.rfind(':');
  return has_domain ? parse_pci_address(text) : parse_pci_address(compose({"0:", text}));
}

std::optional<std::uint64_t> parse_luid(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  return scan::number(text, 16);
}

}  // namespace

result<device_key> parse_device_key(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  device_key key;
  if (kind == "uuid" && !value.empty()) {
    key.uuid = value;
    return key;
  }
  if (kind == "pci") {
    const auto address = parse_pci(value);
    if (!address) return bad_key(text, "expected a PCI address such as pci:0000:01:00.0");
    key.what = device_key::kind::pci;
    key.pci = *address;
    return key;
  }
  std::optional<std::uint64_t> number;
  if (kind == "luid") {
    key.what = device_key::kind::luid;
    number = parse_luid(value);
  } else if (kind == "render") {
    key.what = device_key::kind::render;
    number = scan::number<std::uint32_t>(value);
  } else if (kind == "driver") {
    const std::size_t end = value.find(':');
    const auto named = number_of(words::vendors(), value.substr(0, end));
    if (!named || *named == static_cast<std::int32_t>(vendor::unknown) ||
        end == std::string_view::npos) {
      return bad_key(text, "expected the vendor and its index, such as driver:nvidia:0");
    }
    key.what = device_key::kind::driver;
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
auto rank(const device& d) {
  const int group = d.device_class != device_class::gpu ? 3
                    : is_partition(d)                   ? 2
                    : d.vendor == vendor::nvidia        ? 0
                                                        : 1;
  const auto pci = group == 1 ? parse_pci_address(d.pci_bus_id.view()) : std::nullopt;
  return std::tuple(group, pci.value_or(pci_address{}));
}

// Returns whether it is the GPU of an SoC. There is only one and it has no bus address, so this
// alone identifies it across sources.
bool is_soc_gpu(const device& d) {
  return d.vendor != vendor::unknown && d.device_class == device_class::gpu &&
         d.form == device_form::integrated && d.pci_bus_id.empty();
}

// Compares the model of two cards, the only identification where a source reports no address.
bool is_alike(const device& a, const device& b) {
  return a.pci_device && a.vendor == b.vendor && a.pci_device == b.pci_device &&
         a.pci_subsystem == b.pci_subsystem && !is_partition(a) && !is_partition(b);
}

}  // namespace

bool is_same(const device& a, const device& b) {
  if (is_partition(a) != is_partition(b)) return false;
  if (is_soc_gpu(a) && is_soc_gpu(b) && a.vendor == b.vendor && a.from != b.from) return true;
  if (!a.uuid.empty() && !b.uuid.empty()) return equal_ignoring_case(a.uuid.view(), b.uuid.view());
  if (is_partition(a) || a.pci_bus_id.empty() || b.pci_bus_id.empty()) return false;
  return parse_pci_address(a.pci_bus_id.view()) == parse_pci_address(b.pci_bus_id.view());
}

const device_table::entry* device_table::seen_as(source from, slot number) const {
  const auto is_it = [&](const entry& e) {
    return std::ranges::any_of(
        e.seen_by, [&](const reference& r) { return r.from == from && r.seen.number == number; });
  };
  const auto found = std::ranges::find_if(entries_, is_it);
  return found == entries_.end() ? nullptr : &*found;
}

device_table::entry* device_table::match(source from, const device& d) {
  if (const entry* known = seen_as(from, d.number)) return const_cast<entry*>(known);
  const auto same =
      std::ranges::find_if(entries_, [&](const entry& e) { return is_same(e.view, d); });
  return same == entries_.end() ? nullptr : &*same;
}

// Returns whether `from` may claim the entry: it has none there, or one numbered before a reset.
bool device_table::is_free_for(const entry& e, source from) {
  return !is_seen_by(e, from) || std::ranges::any_of(e.seen_by, [from](const reference& r) {
    return r.from != from && r.listed;
  });
}

// Finds the entry by identifiers. Two identical candidates are ambiguous and stay separate.
device_table::entry* device_table::match_by_ids(source from, const device& d,
                                                std::span<const device* const> listed) {
  if (!d.pci_device || entries_.empty()) return nullptr;
  const auto alike = [&](const device* other) { return is_alike(*other, d); };
  if (std::count_if(listed.begin(), listed.end(), alike) != 1) return nullptr;
  entry* found = nullptr;
  for (entry& e : entries_) {
    const device& known = e.view;
    if (!is_alike(known, d) || !is_free_for(e, from)) continue;
    if (found != nullptr || (!known.pci_bus_id.empty() && !d.pci_bus_id.empty())) return nullptr;
    found = &e;
  }
  return found;
}

// Compares only when called: within a scan a device may be lost to one source and found by the
// next.
std::uint64_t device_table::generation() noexcept {
  bool is_changed = false;
  for (entry& e : entries_) {
    const bool is_present = e.view.state != state::lost;
    is_changed |= e.was_present != is_present;
    e.was_present = is_present;
  }
  if (is_changed) ++generation_;
  return generation_;
}

// Stores the identity as `from` lists it; the source with the lower number is preferred.
void device_table::refresh(entry& e, source from, const device& d) {
  auto at = e.seen_by.begin();
  while (at != e.seen_by.end() && at->from < from) ++at;
  if (at == e.seen_by.end() || at->from != from) at = e.seen_by.insert(at, {from, true, {}});
  at->listed = true;
  at->seen = d;
}

// Rebuilds the identity from the best source and fills its gaps from the others.
void device_table::settle(entry& e) {
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
  if (!is_listed) e.view.state = state::lost;
  e.view.index = index;
  e.view.parent_index = parent;
}

bool device_table::is_seen_by(const entry& e, source from) {
  return std::ranges::any_of(e.seen_by, [from](const reference& r) { return r.from == from; });
}

void device_table::link_parents(source from, std::span<const device* const> listed) {
  for (const device* d : listed) {
    const auto index = index_of(from, d->number);
    if (index && d->parent) entries_[*index].view.parent_index = index_of(from, *d->parent);
  }
}

void device_table::note_divided() {
  for (entry& e : entries_) e.view.notes &= ~note::divided;
  for (const entry& e : entries_) {
    const device& d = e.view;
    if (d.parent_index && d.state != state::lost)
      entries_[*d.parent_index].view.notes |= note::divided;
  }
}

void device_table::update(source from, std::span<const device* const> listed) {
  for (entry& e : entries_) {
    for (reference& r : e.seen_by) {
      if (r.from == from) r.listed = false;
    }
  }
  std::vector<const device*> arrivals;
  for (const device* d : listed) {
    entry* known = match(from, *d);
    if (known == nullptr) known = match_by_ids(from, *d, listed);
    if (known != nullptr) {
      refresh(*known, from, *d);
    } else {
      arrivals.push_back(d);
    }
  }
  std::ranges::stable_sort(arrivals,
                           [](const device* a, const device* b) { return rank(*a) < rank(*b); });
  for (const device* d : arrivals) {
    entry e;
    e.view.index = count();
    refresh(e, from, *d);
    entries_.push_back(std::move(e));
  }
  for (entry& e : entries_) {
    if (is_seen_by(e, from)) settle(e);
  }
  link_parents(from, listed);
  note_divided();
}

void device_table::set_state(source from, hmn::state s) {
  for (entry& e : entries_) {
    for (reference& r : e.seen_by) {
      if (r.from != from || !r.listed) continue;
      r.seen.state = s;
      settle(e);
    }
  }
  note_divided();
}

void device_table::set_state(std::uint32_t index, hmn::state s) {
  for (reference& r : entries_[index].seen_by) r.seen.state = s;
  entries_[index].view.state = s;
  note_divided();
}

std::optional<slot> device_table::slot_of(std::uint32_t index, source from) const {
  for (const reference& r : entries_[index].seen_by) {
    if (r.from == from) return r.seen.number;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> device_table::index_of(source from, slot number) const {
  const entry* const found = seen_as(from, number);
  return found != nullptr ? std::optional(found->view.index) : std::nullopt;
}

bool device_table::has_of(source from) const {
  return std::ranges::any_of(entries_, [from](const entry& e) { return is_seen_by(e, from); });
}

const device* device_table::find_possible(const device_key& key) const {
  const auto may_have = [&](const entry& e) {
    const device& d = e.view;
    if (d.state != state::hung && d.state != state::unreadable) return false;
    switch (key.what) {
      case device_key::kind::uuid:
        return d.uuid.empty();
      case device_key::kind::pci:
        return !is_partition(d) && d.pci_bus_id.empty();
      case device_key::kind::luid:
        return !d.os_id;
      case device_key::kind::render:
        return !d.render_minor;
      case device_key::kind::driver:
        break;
    }
    return false;
  };
  const auto found = std::ranges::find_if(entries_, may_have);
  return found == entries_.end() ? nullptr : &found->view;
}

std::optional<std::uint32_t> device_table::find(const device_key& key) const {
  const auto has_key = [&](const entry& e) {
    const device& d = e.view;
    switch (key.what) {
      case device_key::kind::uuid:
        return equal_ignoring_case(d.uuid.view(), key.uuid);
      case device_key::kind::pci:
        return !is_partition(d) && parse_pci_address(d.pci_bus_id.view()) == key.pci;
      case device_key::kind::luid:
        return d.os_id == key.number;
      case device_key::kind::render:
        return d.render_minor == static_cast<std::uint32_t>(key.number);
      case device_key::kind::driver:
        return !is_partition(d) && d.vendor == key.vendor &&
               d.driver_index == static_cast<std::uint32_t>(key.number);
    }
    return false;
  };
  const auto found = std::ranges::find_if(entries_, has_key);
  return found == entries_.end() ? std::nullopt : std::optional(found->view.index);
}

}  // namespace hmn
