// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What one client uses of its device: figures made of its fdinfo, in the words of model/usage.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/drm/fdinfo.hpp"
#include "model/function_ref.hpp"
#include "model/usage.hpp"

namespace hmn::drm {

// What a region of memory is to a device.
enum class region_role { ignored, device, host };

struct client_use {
  std::optional<std::uint64_t> resident;   // of the device's memory
  std::optional<std::uint64_t> committed;  // handles, with backing pages or not
  // The parts of the headline, and of host_pool, that have several handles.
  std::optional<std::uint64_t> shared;
  std::optional<std::uint64_t> purgeable;
  std::optional<std::uint64_t> evicted;
  std::optional<std::uint64_t> host_pool;
  std::optional<std::uint64_t> host_shared;
  std::optional<std::uint64_t> busy_ns;  // of all engines, by what each name's can do at most
  std::optional<std::uint32_t> kinds;    // usage_kind bits of the engines that have run
  bool is_partial = false;

  // Resident where that is told, else committed.
  [[nodiscard]] std::optional<std::uint64_t> used() const noexcept {
    return resident ? resident : committed;
  }
};

using role_of_region = function_ref<region_role(std::string_view region)>;
using kind_of_engine = function_ref<std::uint32_t(std::string_view engine)>;

// Pure. A region that the driver told without one figure makes the sum of that figure unknown.
client_use measure(const fdinfo& from, role_of_region role, kind_of_engine kind) noexcept;

// Adds the use of another client of the same process; what one of them lacks becomes absent.
void add(client_use& to, const client_use& more) noexcept;

// The names that kernel drivers give their engines: which::engine, and usage_kind bits.
std::uint32_t usual_engine(std::string_view engine) noexcept;
std::uint32_t usual_kind(std::string_view engine) noexcept;
// "vram", "local" and alike are the device's, "gtt", "system" and alike the host's.
region_role usual_role(std::string_view region) noexcept;

}  // namespace hmn::drm
