// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/budget.hpp"

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

}  // namespace hmn::metal
