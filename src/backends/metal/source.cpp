// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/source.hpp"

#include <algorithm>

#include "backends/metal/fail.hpp"
#include "backends/shared/mach/facts.hpp"
#include "platform/process.hpp"

namespace hmn::metal {

// CoreFoundation, Metal and IOKit use service ports that a forked process lacks; some of them kill
// it at the first call.
result<void> metal_source::probe() {
  if (!mach::is_forked_only(k_, platform::current_pid())) return {};
  result<void> forked = fail(status::state,
                             "macOS does not let a process that was forked use its frameworks "
                             "before it calls exec");
  settle(forked);
  return forked;
}

result<void> metal_source::open(reading& r) {
  if (frameworks_) return {};
  r.opening();
  result<frameworks> loaded = load_();
  if (loaded) {
    frameworks_ = *loaded;
    chip_ = mach::text_of(k_, "machdep.cpu.brand_string");
    condition_.version = mach::text_of(k_, "kern.osproductversion");
    is_apple_ = chip_.view().starts_with("Apple");
    budgets_.open(*frameworks_, is_apple_);
    if (is_apple_) {
      clocks_ = find_clocks(*frameworks_);
      report_.open(*frameworks_);
      sensors_.open(*frameworks_);
    }
  }
  r.opened();
  if (!loaded) return loaded.why();
  return {};
}

result<void> metal_source::prepare(reading& r) {
  rates_.reset();
  temperatures_.reset();
  result<void> ready = probe();
  if (ready) ready = open(r);
  if (ready) {
    result<std::vector<accelerator>> found = find_accelerators(*frameworks_);
    if (found) {
      accelerators_ = std::move(*found);
    } else {
      ready = found.why();
    }
  }
  settle(ready);
  return ready;
}

slot metal_source::slot_of(std::uint64_t id) {
  const auto at = std::find(known_.begin(), known_.end(), id);
  const auto number = static_cast<slot>(at - known_.begin());
  if (at == known_.end()) known_.push_back(id);
  return number;
}

bool metal_source::is_unified(const accelerator& a) const {
  return is_apple_ || (a.card && a.card->vendor == vendor::intel);
}

device metal_source::identity_of(const accelerator& a, std::uint32_t index) const {
  device who;
  who.from = source::metal;
  who.state = state::ready;
  who.driver_index = index;
  who.os_id = a.id;
  who.driver_version.assign(condition_.version.view());
  who.memory_kind = is_unified(a) ? memory_kind::unified : memory_kind::dedicated;
  if (is_apple_) {
    who.vendor = vendor::apple;
    who.kind = a.is_agx() ? device_kind::integrated : device_kind::virtual_device;
    who.name.assign(chip_.view());
  } else if (a.card) {
    who.vendor = a.card->vendor;
    who.kind = is_unified(a) ? device_kind::integrated : device_kind::discrete;
    who.name.assign(a.card->model);
    who.pci_bus_id = a.card->address;
    if (a.card->device != 0) who.pci_device = a.card->device;
    if (a.card->subsystem != 0) who.pci_subsystem = a.card->subsystem;
  } else {
    who.memory_kind = memory_kind::unknown;
  }
  return who;
}

result<void> metal_source::devices(std::vector<device>& out, reading&) {
  std::uint32_t index = 0;
  for (const accelerator& a : accelerators_) {
    device who = identity_of(a, index++);
    who.number = slot_of(a.id);
    out.push_back(who);
  }
  return {};
}

result<const accelerator*> metal_source::find(slot number) const {
  if (number >= known_.size()) return fail(status::no_device, "IOKit never listed this GPU");
  for (const accelerator& a : accelerators_) {
    if (a.id == known_[number]) return &a;
  }
  return fail(status::device_lost, "IOKit does not list this GPU any more");
}

const rates& metal_source::now() {
  if (!rates_) rates_ = history_.add(report_.read(), clocks_);
  return *rates_;
}

const std::vector<thermometer>& metal_source::temperatures() {
  if (!temperatures_) temperatures_ = sensors_.read();
  return *temperatures_;
}

void metal_source::close() noexcept {
  rates_.reset();
  temperatures_.reset();
  accelerators_.clear();
  history_.clear();
  sensors_.close();
  report_.close();
  budgets_.close();
  frameworks_.reset();
}

}  // namespace hmn::metal
