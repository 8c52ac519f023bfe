// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_dxgi.hpp"

#include <algorithm>
#include <cstring>

namespace hmn::test {
namespace {

using namespace hmn::dxgi;

FakeDxgi dxgi;

struct AnyObject {
  const void* table;
  std::uint32_t references = 1;
  FakeAdapter* of = nullptr;
};

AnyObject& self_of(void* self) {
  return *static_cast<AnyObject*>(self);
}

std::uint32_t add_reference(void* self) {
  ++dxgi.references;
  return ++self_of(self).references;
}

std::uint32_t release(void* self) {
  --dxgi.references;
  const std::uint32_t left = --self_of(self).references;
  if (left == 0) delete static_cast<AnyObject*>(self);
  return left;
}

Code query(void* self, const Guid* id, void** out) {
  *out = nullptr;
  if (std::memcmp(id, &adapter3_id, sizeof *id) != 0) return no_interface;
  if (is_failure(self_of(self).of->adapter3)) return self_of(self).of->adapter3;
  add_reference(self);
  *out = self;
  return success;
}

Code supports(void* self, const Guid* id, std::int64_t* version) {
  const FakeAdapter& a = *self_of(self).of;
  if (std::memcmp(id, &device_id, sizeof *id) != 0 || a.driver_version == 0) return unsupported;
  *version = a.driver_version;
  return success;
}

Code describe(void* self, Description* out) {
  const FakeAdapter& a = *self_of(self).of;
  if (is_failure(a.describes)) return a.describes;
  *out = {};
  std::copy_n(a.name.begin(), std::min<std::size_t>(a.name.size(), 127), out->name);
  out->vendor = a.vendor;
  out->device = a.device;
  out->subsystem = a.subsystem;
  out->dedicated_video = a.dedicated;
  out->shared_system = a.shared;
  out->luid_low = static_cast<std::uint32_t>(a.luid);
  out->luid_high = static_cast<std::uint32_t>(a.luid >> 32U);
  out->flags = a.flags;
  return success;
}

Code query_memory(void* self, std::uint32_t node, std::uint32_t segment, MemoryInformation* out) {
  const FakeAdapter& a = *self_of(self).of;
  if (node != 0 || segment > segment_non_local) return not_found;
  if (is_failure(a.queries)) return a.queries;
  *out = segment == segment_local ? a.local : a.non_local;
  return success;
}

const Adapter3Functions adapter_table = [] {
  Adapter3Functions t{};
  t.base.base = {query, add_reference, release};
  t.base.supports = supports;
  t.base.describe = describe;
  t.query_memory = query_memory;
  return t;
}();

Code give(void*, std::uint32_t number, void** out) {
  *out = nullptr;
  if (number >= dxgi.adapters.size()) return not_found;
  FakeAdapter& a = dxgi.adapters[number];
  if (is_failure(a.gives)) return a.gives;
  ++dxgi.references;
  *out = new AnyObject{&adapter_table, 1, &a};
  return success;
}

std::int32_t is_current(void*) {
  return dxgi.is_current ? 1 : 0;
}

const FactoryFunctions factory_table = [] {
  FactoryFunctions t{};
  t.base = {query, add_reference, release};
  t.adapter = give;
  t.is_current = is_current;
  return t;
}();

FakeAdapter* by_luid(std::uint64_t luid) {
  for (FakeAdapter& a : dxgi.adapters) {
    if (a.luid == luid) return &a;
  }
  return nullptr;
}

constexpr KernelCode refused = static_cast<KernelCode>(0xC000000D);

// An adapter's number is its place, from 1.
KernelCode open_by_luid(OpenAdapter* o) {
  FakeAdapter* const a = by_luid(std::uint64_t{o->luid_high} << 32U | o->luid_low);
  if (a == nullptr) return refused;
  o->adapter = static_cast<std::uint32_t>(a - dxgi.adapters.data()) + 1;
  ++dxgi.kernel_open;
  return 0;
}

KernelCode close_it(const CloseAdapter*) {
  --dxgi.kernel_open;
  return 0;
}

KernelCode query_it(const QueryAdapter* q) {
  const FakeAdapter& a = dxgi.adapters[q->adapter - 1];
  if (q->type == type_address && q->size == sizeof(AdapterAddress)) {
    if (a.address) std::memcpy(q->data, &*a.address, sizeof *a.address);
    return 0;
  }
  if (q->type != type_adapter || q->size != sizeof a.kinds) return refused;
  std::memcpy(q->data, &a.kinds, sizeof a.kinds);
  return 0;
}

KernelCode memory_of(QueryVideoMemory* q) {
  const FakeAdapter& a = dxgi.adapters[q->adapter - 1];
  if (a.kernel_fills) q->used = a.kernel_used[q->segment];
  return 0;
}

void* open_process(std::uint32_t access, std::int32_t, std::uint32_t pid) {
  return access == process_query_information && pid == 4321 ? &dxgi : nullptr;
}

std::int32_t close_handle(void*) {
  return 1;
}

}  // namespace

FakeDxgi& FakeDxgi::now() {
  return dxgi;
}

void FakeDxgi::reset() {
  dxgi = {};
}

dxgi::Code FakeDxgi::create(const Guid* id, void** out) {
  *out = nullptr;
  if (std::memcmp(id, &factory1_id, sizeof *id) != 0) return no_interface;
  if (is_failure(dxgi.creates)) return dxgi.creates;
  ++dxgi.made;
  ++dxgi.references;
  dxgi.is_current = true;
  *out = new AnyObject{&factory_table, 1, nullptr};
  return success;
}

dxgi::KernelFunctions FakeDxgi::kernel() {
  return {open_by_luid, close_it, query_it, memory_of, open_process, close_handle};
}

}  // namespace hmn::test
