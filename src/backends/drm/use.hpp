// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Usage of a device by one client: values derived from its fdinfo, named as in model/usage.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/drm/fdinfo.hpp"
#include "model/function_ref.hpp"
#include "model/usage.hpp"

namespace hmn::drm {

// Role of a memory region.
enum class region_role { ignored, device, host };

struct client_use {
  std::optional<std::uint64_t> resident;   // in the device's memory
  std::optional<std::uint64_t> committed;  // handles, with or without backing pages
  // That have several handles, resident or not; of host_pool a part.
  std::optional<std::uint64_t> shared;
  std::optional<std::uint64_t> purgeable;
  std::optional<std::uint64_t> evicted;
  std::optional<std::uint64_t> host_pool;
  std::optional<std::uint64_t> host_shared;
  std::optional<std::uint64_t> busy_ns;  // sum over engines, weighted by capacity
  std::optional<std::uint32_t> kinds;    // usage_kind bits of the engines that were busy
  // usage_field bits of values that are unknown because a part of them is.
  std::uint32_t lacks = 0;
  bool is_partial = false;

  // Resident if reported, else committed.
  [[nodiscard]] std::optional<std::uint64_t> used() const noexcept {
    return resident ? resident : committed;
  }
};

using role_of_region = function_ref<region_role(std::string_view region)>;
using kind_of_engine = function_ref<std::uint32_t(std::string_view engine)>;

// Pure. A region that lacks a value makes the sum of that value unknown.
client_use measure(const fdinfo& from, role_of_region role, kind_of_engine kind) noexcept;

// Adds usage of another client of the same process; a value that only one has becomes unknown.
void add(client_use& to, const client_use& more) noexcept;

// Common engine names of kernel drivers: which::engine, and usage_kind bits.
std::uint32_t usual_engine(std::string_view engine) noexcept;
std::uint32_t usual_kind(std::string_view engine) noexcept;
// "vram", "local" and similar are the device's, "gtt", "system" and similar the host's.
region_role usual_role(std::string_view region) noexcept;

}  // namespace hmn::drm
