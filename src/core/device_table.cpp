// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_table.hpp"

#include <algorithm>
#include <tuple>

namespace hmn {
namespace {

bool is_partition(const device& d) {
  return d.kind == device_kind::partition;
}

// Sorts new arrivals by the rule of the class; the given order decides where the rule does not.
auto rank(const device& d) {
  const int group = is_partition(d) ? 2 : d.vendor == vendor::nvidia ? 0 : 1;
  const auto pci = group == 1 ? parse_pci_address(d.pci_bus_id.view()) : std::nullopt;
  return std::tuple(group, pci.value_or(pci_address{}));
}

bool is_same(const device& a, const device& b) {
  if (is_partition(a) != is_partition(b)) return false;
  if (!a.uuid.empty() && !b.uuid.empty()) return equal_uuid(a.uuid.view(), b.uuid.view());
  if (is_partition(a) || a.pci_bus_id.empty() || b.pci_bus_id.empty()) return false;
  return parse_pci_address(a.pci_bus_id.view()) == parse_pci_address(b.pci_bus_id.view());
}

}  // namespace

device_table::entry* device_table::match(source from, const device& d) {
  for (entry& e : entries_) {
    for (const reference& r : e.seen_by) {
      if (r.from == from && r.number == d.number) return &e;
    }
  }
  const auto same = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const entry& e) { return is_same(e.view.value, d); });
  return same == entries_.end() ? nullptr : &*same;
}

void device_table::refresh(entry& e, source from, const device& d) {
  e.view.value = d;
  for (reference& r : e.seen_by) {
    if (r.from != from) continue;
    r.number = d.number;
    r.listed = true;
    return;
  }
  e.seen_by.push_back({from, d.number, true});
}

void device_table::link_parents(source from, std::span<const device* const> listed) {
  for (const device* d : listed) {
    const auto index = index_of(from, d->number);
    if (index && d->parent) entries_[*index].view.parent_index = index_of(from, *d->parent);
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
    if (entry* known = match(from, *d)) {
      refresh(*known, from, *d);
    } else {
      arrivals.push_back(d);
    }
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const device* a, const device* b) { return rank(*a) < rank(*b); });
  for (const device* d : arrivals) {
    entry e;
    e.view.index = count();
    refresh(e, from, *d);
    entries_.push_back(std::move(e));
  }
  link_parents(from, listed);
  for (entry& e : entries_) {
    const bool here =
        std::any_of(e.seen_by.begin(), e.seen_by.end(), [](auto& r) { return r.listed; });
    if (!here) e.view.value.state = state::lost;
  }
}

void device_table::set_state(source from, hmn::state s) {
  for (entry& e : entries_) {
    for (const reference& r : e.seen_by) {
      if (r.from == from && r.listed) e.view.value.state = s;
    }
  }
}

void device_table::set_state(std::uint32_t index, hmn::state s) {
  entries_[index].view.value.state = s;
}

std::optional<slot> device_table::slot_of(std::uint32_t index, source from) const {
  for (const reference& r : entries_[index].seen_by) {
    if (r.from == from) return r.number;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> device_table::index_of(source from, slot number) const {
  for (const entry& e : entries_) {
    for (const reference& r : e.seen_by) {
      if (r.from == from && r.number == number) return e.view.index;
    }
  }
  return std::nullopt;
}

bool device_table::has_of(source from) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const entry& e) {
    return std::any_of(e.seen_by.begin(), e.seen_by.end(),
                       [&](const reference& r) { return r.from == from; });
  });
}

std::optional<std::uint32_t> device_table::find(const device_key& key) const {
  const auto has_key = [&](const entry& e) {
    const device& d = e.view.value;
    switch (key.what) {
      case device_key::kind::uuid:
        return equal_uuid(d.uuid.view(), key.uuid);
      case device_key::kind::pci:
        return !is_partition(d) && parse_pci_address(d.pci_bus_id.view()) == key.pci;
      case device_key::kind::luid:
        return d.os_id == key.number;
      case device_key::kind::render:
        return d.render_minor == static_cast<std::uint32_t>(key.number);
      case device_key::kind::driver:
        return !is_partition(d) && d.driver_index == static_cast<std::uint32_t>(key.number);
    }
    return false;
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), has_key);
  return found == entries_.end() ? std::nullopt : std::optional(found->view.index);
}

}  // namespace hmn
