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
  FakeAdapter* adapter = nullptr;
};

AnyObject& get_object(void* self) {
  return *static_cast<AnyObject*>(self);
}

std::uint32_t add_reference(void* self) {
  ++dxgi.references;
  return ++get_object(self).references;
}

std::uint32_t release(void* self) {
  --dxgi.references;
  const std::uint32_t left = --get_object(self).references;
  if (left == 0) delete static_cast<AnyObject*>(self);
  return left;
}

Code query(void* self, const Guid* id, void** out) {
  *out = nullptr;
  if (std::memcmp(id, &adapter3_id, sizeof *id) != 0) return no_interface;
  if (is_failure(get_object(self).adapter->adapter3_code))
    return get_object(self).adapter->adapter3_code;
  add_reference(self);
  *out = self;
  return success;
}

Code supports(void* self, const Guid* id, std::int64_t* version) {
  const FakeAdapter& adapter = *get_object(self).adapter;
  if (std::memcmp(id, &device_id, sizeof *id) != 0 || adapter.driver_version == 0)
    return unsupported;
  *version = adapter.driver_version;
  return success;
}

Code describe(void* self, Description* out) {
  const FakeAdapter& adapter = *get_object(self).adapter;
  if (is_failure(adapter.describe_code)) return adapter.describe_code;
  *out = {};
  std::copy_n(adapter.name.begin(), std::min<std::size_t>(adapter.name.size(), 127), out->name);
  out->vendor = adapter.vendor;
  out->device = adapter.device;
  out->subsystem = adapter.subsystem;
  out->dedicated_video = adapter.dedicated;
  out->shared_system = adapter.shared;
  out->luid_low = static_cast<std::uint32_t>(adapter.luid);
  out->luid_high = static_cast<std::uint32_t>(adapter.luid >> 32U);
  out->flags = adapter.flags;
  return success;
}

Code query_memory(void* self, std::uint32_t node, std::uint32_t segment, MemoryInformation* out) {
  const FakeAdapter& adapter = *get_object(self).adapter;
  if (node != 0 || segment > segment_non_local) return not_found;
  if (is_failure(adapter.query_code)) return adapter.query_code;
  *out = segment == segment_local ? adapter.local : adapter.non_local;
  return success;
}

const Adapter3Functions adapter_table = [] {
  Adapter3Functions table{};
  table.base.base = {query, add_reference, release};
  table.base.supports = supports;
  table.base.describe = describe;
  table.query_memory = query_memory;
  return table;
}();

Code enumerate_adapter(void*, std::uint32_t number, void** out) {
  *out = nullptr;
  if (number >= dxgi.adapters.size()) return not_found;
  FakeAdapter& adapter = dxgi.adapters[number];
  if (is_failure(adapter.enumerate_code)) return adapter.enumerate_code;
  ++dxgi.references;
  *out = new AnyObject{&adapter_table, 1, &adapter};
  return success;
}

std::int32_t is_current(void*) {
  return dxgi.is_current ? 1 : 0;
}

const FactoryFunctions factory_table = [] {
  FactoryFunctions table{};
  table.base = {query, add_reference, release};
  table.adapter = enumerate_adapter;
  table.is_current = is_current;
  return table;
}();

FakeAdapter* find_adapter(std::uint64_t luid) {
  for (FakeAdapter& adapter : dxgi.adapters) {
    if (adapter.luid == luid) return &adapter;
  }
  return nullptr;
}

constexpr KernelCode refused = static_cast<KernelCode>(0xC000000D);

// An adapter's number is its index, counted from 1.
KernelCode open_kernel_adapter(OpenAdapter* request) {
  FakeAdapter* const adapter =
      find_adapter(std::uint64_t{request->luid_high} << 32U | request->luid_low);
  if (adapter == nullptr) return refused;
  request->adapter = static_cast<std::uint32_t>(adapter - dxgi.adapters.data()) + 1;
  ++dxgi.kernel_open;
  return 0;
}

KernelCode close_kernel_adapter(const CloseAdapter*) {
  --dxgi.kernel_open;
  return 0;
}

KernelCode query_kernel_adapter(const QueryAdapter* request) {
  const FakeAdapter& adapter = dxgi.adapters[request->adapter - 1];
  if (request->type == type_address && request->size == sizeof(AdapterAddress)) {
    if (adapter.address) std::memcpy(request->data, &*adapter.address, sizeof *adapter.address);
    return 0;
  }
  if (request->type != type_adapter || request->size != sizeof adapter.kinds) return refused;
  std::memcpy(request->data, &adapter.kinds, sizeof adapter.kinds);
  return 0;
}

KernelCode query_kernel_memory(QueryVideoMemory* request) {
  const FakeAdapter& adapter = dxgi.adapters[request->adapter - 1];
  if (adapter.kernel_fills) request->used = adapter.kernel_used[request->segment];
  return 0;
}

void* open_process(std::uint32_t access, std::int32_t, std::uint32_t pid) {
  return access == process_query_information && pid == 4321 ? &dxgi : nullptr;
}

std::int32_t close_handle(void*) {
  return 1;
}

}  // namespace

FakeDxgi& FakeDxgi::instance() {
  return dxgi;
}

void FakeDxgi::reset() {
  dxgi = {};
}

dxgi::Code FakeDxgi::create(const Guid* id, void** out) {
  *out = nullptr;
  if (std::memcmp(id, &factory1_id, sizeof *id) != 0) return no_interface;
  if (is_failure(dxgi.create_code)) return dxgi.create_code;
  ++dxgi.factory_count;
  ++dxgi.references;
  dxgi.is_current = true;
  *out = new AnyObject{&factory_table, 1, nullptr};
  return success;
}

dxgi::KernelFunctions FakeDxgi::kernel() {
  return {open_kernel_adapter, close_kernel_adapter, query_kernel_adapter,
          query_kernel_memory, open_process,         close_handle};
}

}  // namespace hmn::test
