// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/identities.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "core/device_key.hpp"
#include "model/plausible.hpp"

namespace hmn {
namespace {

bool has_same_uuid(const device& a, const device& b) noexcept {
  return !a.uuid.empty() && equal_uuid(a.uuid.view(), b.uuid.view());
}

// Partitions are at the address of their GPU.
bool has_same_address(const device& a, const device& b) noexcept {
  return !is_partition(a) && !is_partition(b) && !a.pci_bus_id.empty() &&
         a.pci_bus_id == b.pci_bus_id;
}

bool has_same_instance(const device& a, const device& b) noexcept {
  return a.parent && a.parent == b.parent && a.instance && a.instance == b.instance;
}

// Identifier of which no two devices of a source have the same.
struct identifier {
  std::uint32_t field;
  std::string_view name;
  bool (*is_same)(const device&, const device&) noexcept;
  void (*forget)(device&) noexcept;
};

constexpr identifier identifiers[] = {
    {device_field::uuid, "UUID", has_same_uuid, [](device& d) noexcept { d.uuid = {}; }},
    {device_field::pci_bus_id, "PCI address", has_same_address,
     [](device& d) noexcept { d.pci_bus_id = {}; }},
    {device_field::instance, "MIG instance", has_same_instance,
     [](device& d) noexcept { d.instance.reset(); }},
};

void diagnose(const device& about, status code, std::initializer_list<piece> message,
              std::uint32_t field, reading& r) {
  if (!r.wants_diagnostics()) return;
  const reason stated = code == status::ok ? reason::ambiguous : reason::implausible;
  const failure why{code, about.from, {}, message, stated};
  r.diagnose({why, 0, subject::devices, field, about.number, {}, {}, {}});
}

// One device is one entry.
void drop_repeated(std::vector<device>& listed, reading& r) {
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto is_it = [&](const device& d) { return d.number == listed[i].number; };
    const auto after = listed.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto repeated = std::remove_if(after, listed.end(), is_it);
    if (repeated == listed.end()) continue;
    listed.erase(repeated, listed.end());
    diagnose(listed[i], status::backend, {"the driver lists this device more than once"}, 0, r);
  }
}

// Of several devices with one identifier, nothing shows whose it is.
void forget_shared(std::span<device> listed, const identifier& of, reading& r) {
  const auto forget_it = [&](device& d) {
    diagnose(d, status::backend,
             {"the driver reports its ", of.name, " for another device, too: implausible"},
             of.field, r);
    of.forget(d);
  };
  for (std::size_t i = 0; i < listed.size(); ++i) {
    bool is_shared = false;
    for (device& other : listed.subspan(i + 1)) {
      if (!of.is_same(listed[i], other)) continue;
      forget_it(other);
      is_shared = true;
    }
    if (is_shared) forget_it(listed[i]);
  }
}

void check_parent(const device& d, std::span<const device> listed, reading& r) {
  if (!is_partition(d)) return;
  const bool is_listed = std::ranges::any_of(listed, [&](const device& other) {
    return d.parent == other.number && !is_partition(other);
  });
  if (is_listed) return;
  diagnose(d, status::backend, {"a partition of a device that the driver does not list"},
           device_field::parent_index, r);
}

// Reports without a field, since nothing is missing.
void report_change(const device& d, std::string_view what, const piece& before, const piece& now,
                   reading& r) {
  diagnose(d, status::ok, {"its ", what, " was ", before, " and is ", now, " now"}, 0, r);
}

void report_moves(const device& before, const device& now, reading& r) {
  if (!before.uuid.empty() && !now.uuid.empty() && before.uuid != now.uuid) {
    report_change(now, "UUID", before.uuid.view(), now.uuid.view(), r);
  }
  if (!before.pci_bus_id.empty() && !now.pci_bus_id.empty() &&
      before.pci_bus_id != now.pci_bus_id) {
    report_change(now, "PCI address", before.pci_bus_id.view(), now.pci_bus_id.view(), r);
  }
  if (before.driver_index && now.driver_index && before.driver_index != now.driver_index) {
    report_change(now, "index with the driver", *before.driver_index, *now.driver_index, r);
  }
}

// Reports a device that is where another was.
void report_replaced(const device& fresh, const source_cache& before, reading& r) {
  for (const device_cache& known : before.devices) {
    const device& old = known.identity;
    if (!known.listed || !has_same_address(old, fresh) || old.uuid.empty() || fresh.uuid.empty()) {
      continue;
    }
    diagnose(fresh, status::ok,
             {"at its PCI address ", fresh.pci_bus_id.view(), " was ", old.uuid.view(), " and is ",
              fresh.uuid.view(), " now"},
             0, r);
  }
}

}  // namespace

void check_identities(std::vector<device>& listed, const source_cache& before, reading& r) {
  drop_repeated(listed, r);
  for (device& d : listed) {
    drop_implausible(d, [&](std::uint32_t field, const failure& why) {
      if (r.wants_diagnostics()) {
        r.diagnose({why, 0, subject::devices, field, d.number, {}, {}, {}});
      }
    });
  }
  for (const identifier& each : identifiers) forget_shared(listed, each, r);
  for (const device& d : listed) {
    check_parent(d, listed, r);
    const auto known = std::ranges::find_if(
        before.devices, [&](const device_cache& a) { return a.identity.number == d.number; });
    if (known != before.devices.end()) {
      report_moves(known->identity, d, r);
    } else {
      report_replaced(d, before, r);
    }
  }
}

}  // namespace hmn
