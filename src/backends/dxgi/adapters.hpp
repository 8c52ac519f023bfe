// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/dxgi/abi.hpp"
#include "backends/shared/wddm/counters.hpp"
#include "platform/library.hpp"

namespace hmn::dxgi {

struct adapter {
  wddm::luid id = 0;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem = 0;
  std::uint64_t dedicated = 0;  // bytes of its own memory
  std::uint64_t shared = 0;     // bytes of host memory that it may use
  std::string name;
  std::string driver_version;  // user-mode driver; empty: unknown
  adapter3 memory;             // null before Windows 10
  code no_memory = success;    // why it is null
};

// System's adapters, cached until the system reports a change.
class adapters {
 public:
  // `create`: loaded from dxgi.dll in the system folder if null.
  explicit adapters(create_factory create = nullptr) noexcept : create_(create) {}

  // Whether the set of adapters has changed since the list was made, or there is no list yet.
  [[nodiscard]] bool are_old() const noexcept;
  // Lists the adapters again. One that cannot be described is left out with a diagnostic.
  result<void> list(reading& r);
  [[nodiscard]] std::vector<adapter>& all() noexcept { return all_; }
  void clear() noexcept;

 private:
  result<void> open();

  platform::library library_;
  create_factory create_;
  factory factory_;
  std::vector<adapter> all_;
};

inline constexpr failure_of fail{source::dxgi, native_domain::hresult};

constexpr std::int32_t native_number(code c) noexcept {
  return static_cast<std::int32_t>(c);
}

}  // namespace hmn::dxgi
