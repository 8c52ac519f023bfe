// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_dxgi.hpp"

#include <algorithm>
#include <cstring>

namespace hmn::test {
namespace {

using namespace hmn::dxgi;

fake_dxgi dxgi;

struct any_object {
  const void* table;
  std::uint32_t references = 1;
  fake_adapter* of = nullptr;
};

any_object& self_of(void* self) {
  return *static_cast<any_object*>(self);
}

std::uint32_t add_reference(void* self) {
  ++dxgi.references;
  return ++self_of(self).references;
}

std::uint32_t release(void* self) {
  --dxgi.references;
  const std::uint32_t left = --self_of(self).references;
  if (left == 0) delete static_cast<any_object*>(self);
  return left;
}

code query(void* self, const guid* id, void** out) {
  *out = nullptr;
  if (std::memcmp(id, &adapter3_id, sizeof *id) != 0) return no_interface;
  if (is_failure(self_of(self).of->adapter3)) return self_of(self).of->adapter3;
  add_reference(self);
  *out = self;
  return success;
}

code supports(void* self, const guid* id, std::int64_t* version) {
  const fake_adapter& a = *self_of(self).of;
  if (std::memcmp(id, &device_id, sizeof *id) != 0 || a.driver_version == 0) return unsupported;
  *version = a.driver_version;
  return success;
}

code describe(void* self, description* out) {
  const fake_adapter& a = *self_of(self).of;
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

code query_memory(void* self, std::uint32_t node, std::uint32_t segment, memory_information* out) {
  const fake_adapter& a = *self_of(self).of;
  if (node != 0 || segment > segment_non_local) return not_found;
  if (is_failure(a.queries)) return a.queries;
  *out = segment == segment_local ? a.local : a.non_local;
  return success;
}

const adapter3_functions adapter_table = [] {
  adapter3_functions t{};
  t.base.base = {query, add_reference, release};
  t.base.supports = supports;
  t.base.describe = describe;
  t.query_memory = query_memory;
  return t;
}();

code give(void*, std::uint32_t number, void** out) {
  *out = nullptr;
  if (number >= dxgi.adapters.size()) return not_found;
  fake_adapter& a = dxgi.adapters[number];
  if (is_failure(a.gives)) return a.gives;
  ++dxgi.references;
  *out = new any_object{&adapter_table, 1, &a};
  return success;
}

std::int32_t is_current(void*) {
  return dxgi.is_current ? 1 : 0;
}

const factory_functions factory_table = [] {
  factory_functions t{};
  t.base = {query, add_reference, release};
  t.adapter = give;
  t.is_current = is_current;
  return t;
}();

fake_adapter* by_luid(std::uint64_t luid) {
  for (fake_adapter& a : dxgi.adapters) {
    if (a.luid == luid) return &a;
  }
  return nullptr;
}

constexpr kernel_code refused = static_cast<kernel_code>(0xC000000D);

// An adapter's number is its place, from 1.
kernel_code open_by_luid(open_adapter* o) {
  fake_adapter* const a = by_luid(std::uint64_t{o->luid_high} << 32U | o->luid_low);
  if (a == nullptr) return refused;
  o->adapter = static_cast<std::uint32_t>(a - dxgi.adapters.data()) + 1;
  ++dxgi.kernel_open;
  return 0;
}

kernel_code close_it(const close_adapter*) {
  --dxgi.kernel_open;
  return 0;
}

kernel_code query_it(const query_adapter* q) {
  const fake_adapter& a = dxgi.adapters[q->adapter - 1];
  if (q->type == type_address && q->size == sizeof(adapter_address)) {
    if (a.address) std::memcpy(q->data, &*a.address, sizeof *a.address);
    return 0;
  }
  if (q->type != type_adapter || q->size != sizeof a.kinds) return refused;
  std::memcpy(q->data, &a.kinds, sizeof a.kinds);
  return 0;
}

kernel_code memory_of(query_video_memory* q) {
  const fake_adapter& a = dxgi.adapters[q->adapter - 1];
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

fake_dxgi& fake_dxgi::now() {
  return dxgi;
}

void fake_dxgi::reset() {
  dxgi = {};
}

dxgi::code fake_dxgi::create(const guid* id, void** out) {
  *out = nullptr;
  if (std::memcmp(id, &factory1_id, sizeof *id) != 0) return no_interface;
  if (is_failure(dxgi.creates)) return dxgi.creates;
  ++dxgi.made;
  ++dxgi.references;
  dxgi.is_current = true;
  *out = new any_object{&factory_table, 1, nullptr};
  return success;
}

dxgi::kernel_functions fake_dxgi::kernel() {
  return {open_by_luid, close_it, query_it, memory_of, open_process, close_handle};
}

}  // namespace hmn::test
