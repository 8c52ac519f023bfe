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

struct fake_adapter {
  std::u16string name = u"Card";
  std::uint32_t vendor = 0x10de, device = 0x2786, subsystem = 0x40fa1458;
  std::uint64_t dedicated = 0, shared = 0;
  std::uint64_t luid = 0;
  std::uint32_t flags = 0;
  std::int64_t driver_version = 0;  // 0: the interface is not supported
  dxgi::code gives = dxgi::success;
  dxgi::code describes = dxgi::success;
  dxgi::code adapter3 = dxgi::success;
  dxgi::code queries = dxgi::success;
  dxgi::memory_information local{}, non_local{};
  // Of the graphics kernel.
  std::optional<dxgi::adapter_address> address;
  std::uint32_t kinds = 0;
  std::uint64_t kernel_used[2] = {0, 0};
  bool kernel_fills = true;  // else it succeeds and writes nothing
};

struct fake_dxgi {
  std::vector<fake_adapter> adapters;
  dxgi::code creates = dxgi::success;
  bool is_current = true;
  int made = 0;        // factories
  int references = 0;  // that are not released
  int kernel_open = 0;

  static fake_dxgi& now();
  static void reset();
  static dxgi::code create(const dxgi::guid* id, void** out);
  static dxgi::kernel_functions kernel();
};

}  // namespace hmn::test
