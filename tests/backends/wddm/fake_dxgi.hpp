// SPDX-License-Identifier: MIT OR Apache-2.0
//
// DXGI and the graphics kernel in this process: objects with tables of functions as the system
// makes them, whose answers the test sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/dxgi/abi.hpp"
#include "backends/dxgi/adapters.hpp"

namespace hmn::test {

struct FakeAdapter {
  std::u16string name = u"Card";
  std::uint32_t vendor = 0x10de, device = 0x2786, subsystem = 0x40fa1458;
  std::uint64_t dedicated = 0, shared = 0;
  std::uint64_t luid = 0;
  std::uint32_t flags = 0;
  std::int64_t driver_version = 0;  // 0: the interface is not supported
  dxgi::Code enumerate_code = dxgi::success;
  dxgi::Code describe_code = dxgi::success;
  dxgi::Code adapter3_code = dxgi::success;
  dxgi::Code query_code = dxgi::success;
  dxgi::MemoryInformation local{}, non_local{};
  // Of the graphics kernel.
  std::optional<dxgi::AdapterAddress> address;
  std::uint32_t kinds = 0;
  std::uint64_t kernel_used[2] = {0, 0};
  bool kernel_fills = true;  // else it succeeds and writes nothing
};

struct FakeDxgi {
  std::vector<FakeAdapter> adapters;
  dxgi::Code create_code = dxgi::success;
  bool is_current = true;
  int factory_count = 0;  // factories created
  int references = 0;     // not yet released
  int kernel_open = 0;

  static FakeDxgi& instance();
  static void reset();
  static dxgi::Code create(const dxgi::Guid* id, void** out);
  static dxgi::KernelFunctions kernel();
};

}  // namespace hmn::test
