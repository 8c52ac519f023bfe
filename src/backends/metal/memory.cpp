// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/fail.hpp"
#include "backends/metal/source.hpp"
#include "backends/shared/mach/facts.hpp"

namespace hmn::metal {
namespace {

// Autorelease pool: frees temporary Metal objects at the end.
class object_pool {
 public:
  explicit object_pool(const metal_calls& m) : m_(m), token_(m.open_pool()) {}
  object_pool(const object_pool&) = delete;
  object_pool& operator=(const object_pool&) = delete;
  ~object_pool() { m_.close_pool(token_); }

 private:
  const metal_calls& m_;
  void* token_;
};

metal_device read_device(const metal_calls& m, cf device) {
  return {m.ask_number(device, m.selector("registryID")),
          m.ask_number(device, m.selector("recommendedMaxWorkingSetSize"))};
}

}  // namespace

void metal_devices::open(const frameworks& f, bool with_default) {
  close();
  f_ = &f;
  if (!f.has_metal) return;
  const object_pool pool(f.metal);
  list_ = {f.core, f.metal.copy_all_devices()};
  const bool has_any = list_ && f.metal.ask_number(list_.get(), f.metal.selector("count")) > 0;
  if (!has_any && with_default) single_ = {f.core, f.metal.make_default_device()};
}

std::vector<metal_device> metal_devices::read() const {
  std::vector<metal_device> all;
  if (f_ == nullptr || !f_->has_metal) return all;
  const metal_calls& m = f_->metal;
  const object_pool pool(m);
  if (single_) all.push_back(read_device(m, single_.get()));
  const std::uint64_t count = list_ ? m.ask_number(list_.get(), m.selector("count")) : 0;
  for (unsigned long i = 0; i < count; ++i) {
    const cf device = m.ask_at(list_.get(), m.selector("objectAtIndex:"), i);
    if (device != nullptr) all.push_back(read_device(m, device));
  }
  return all;
}

void metal_devices::close() noexcept {
  list_ = {};
  single_ = {};
  f_ = nullptr;
}

// Matches by registry entry; with one device on each side, they are the same.
std::optional<std::uint64_t> metal_source::budget_of(const accelerator& a) const {
  const std::vector<metal_device> all = budgets_.read();
  for (const metal_device& d : all) {
    const bool is_only = all.size() == 1 && accelerators_.size() == 1;
    if ((d.id == a.id || is_only) && d.budget != 0) return d.budget;
  }
  return std::nullopt;
}

// Usage of RAM by the driver; free memory is reported by the host.
pool metal_source::unified_pool(const accelerator& a) const {
  pool p;
  p.kind = pool_kind::unified;
  p.total = mach::number_of(k_, "hw.memsize");
  p.used = a.now.in_use ? a.now.in_use : a.now.allocated;
  if (p.used) p.accounting = a.now.in_use ? accounting::resident : accounting::allocated;
  return p;
}

pool metal_source::vram_pool(const accelerator& a) const {
  pool p;
  p.kind = pool_kind::vram;
  p.accounting = accounting::allocated;
  p.total = a.vram_total;
  p.used = a.now.vram_used;
  p.free = a.now.vram_free;
  return p;
}

void metal_source::explain(const pool& p, const accelerator& a, slot number, reading& r) const {
  const auto report = [&](bool is_there, std::uint32_t field, const char* why) {
    if (!is_there) diagnose(fail(status::unsupported, why), subject::pools, field, number, r);
  };
  if (!r.wants_diagnostics()) return;
  report(p.total.has_value(), pool_field::total, "this GPU's memory size is not reported by macOS");
  report(p.used.has_value(), pool_field::used,
         a.now.is_reported ? "this GPU's driver counts no memory in use"
                           : "this GPU's driver publishes no statistics");
  report(p.free.has_value(), pool_field::free,
         p.kind == pool_kind::unified ? "unified memory: see the available memory of the host"
                                      : "free memory is not reported by this GPU's driver");
  report(p.budget.has_value(), pool_field::budget,
         frameworks_->has_metal ? "Metal has no such device for this process"
                                : "Metal is not on this system");
}

result<void> metal_source::memory(slot number, pools& out, reading& r) {
  const auto found = find(number);
  if (!found) return found.why();
  const accelerator& a = **found;
  pool p = is_unified(a) ? unified_pool(a) : vram_pool(a);
  p.from = source::metal;
  p.is_main = true;
  p.budget = budget_of(a);
  explain(p, a, number, r);
  out.add(p);
  return {};
}

}  // namespace hmn::metal
