// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parser of /proc/<pid>/fdinfo/<fd> of a DRM descriptor, by the kernel's rules
// (Documentation/gpu/drm-usage-stats.rst): "key:<blanks>value [unit]". It goes by the keys, not by
// kernel versions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/function_ref.hpp"
#include "model/usage.hpp"

namespace hmn::drm {

struct Region {
  std::string_view name;
  std::optional<std::uint64_t> total;      // handles, with or without backing pages
  std::optional<std::uint64_t> shared;     // of buffers with several handles
  std::optional<std::uint64_t> resident;   // with backing pages now
  std::optional<std::uint64_t> memory;     // older name of resident
  std::optional<std::uint64_t> purgeable;  // resident and purgeable

  [[nodiscard]] std::optional<std::uint64_t> backed() const noexcept {
    return resident ? resident : memory;
  }
};

struct Engine {
  std::string_view name;
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;  // reference clock of `cycles`
  std::uint64_t capacity = 1;  // number of engines of that name; `busy_ns` is their sum
};

// One descriptor's text, without any driver's interpretation. All texts are views into the parsed
// text.
class Fdinfo {
 public:
  std::string_view text;
  std::string_view driver;       // "amdgpu" for its older text, which lacks the name
  std::string_view pci_address;  // drm-pdev; empty for a platform device
  std::string_view client_name;
  std::optional<std::uint64_t> client_id;
  std::optional<std::uint64_t> pasid;  // amdgpu: of the file, if there is no client id
  bool is_partial = false;             // truncated, or too many regions or engines
  bool is_garbled = false;             // an amount of memory is no number, or too large for one

  [[nodiscard]] std::span<const Region> regions() const noexcept {
    return {regions_.data(), region_count_};
  }
  [[nodiscard]] std::span<const Engine> engines() const noexcept {
    return {engines_.data(), engine_count_};
  }
  // Finds or adds by name; nullptr if full.
  Region* find_or_add_region(std::string_view name) noexcept;
  Engine* find_or_add_engine(std::string_view name) noexcept;

 private:
  std::array<Region, 16> regions_;
  std::array<Engine, 16> engines_;
  std::size_t region_count_ = 0;
  std::size_t engine_count_ = 0;
};

// Parses "12", "12 KiB", "12 kB", "12 MiB", "12 GiB" as bytes; any other unit is malformed.
std::optional<std::uint64_t> parse_amount(std::string_view value) noexcept;

// Whether the last line is unterminated: the kernel terminates each.
constexpr bool is_cut(std::string_view text) noexcept {
  return !text.empty() && text.back() != '\n';
}

// Returns nothing if it is not a DRM client. Ignores an unterminated last line.
std::optional<Fdinfo> parse_fdinfo(std::string_view text) noexcept;

// Amount of a driver-specific key, "amd-evicted-vram".
std::optional<std::uint64_t> find_amount(std::string_view text, std::string_view key) noexcept;

// Usage of a device by one client: what its fdinfo means, named as in model/usage.hpp.

// What the driver says a memory region is.
enum class RegionRole { ignored, device, host };

struct ClientUse {
  std::optional<std::uint64_t> resident;   // in the device's memory
  std::optional<std::uint64_t> committed;  // handles, with or without backing pages
  // Of buffers with several handles in the device's memory, resident or not.
  std::optional<std::uint64_t> shared;
  std::optional<std::uint64_t> purgeable;
  std::optional<std::uint64_t> evicted;
  std::optional<std::uint64_t> host_pool;
  std::optional<std::uint64_t> host_shared;
  std::optional<std::uint64_t> busy_ns;  // sum over engines, weighted by capacity
  std::optional<std::uint32_t> kinds;    // usage_kind bits of the engines that were busy
  // usage_field bits of values that are unknown because a part of them is unknown.
  FieldSet incomplete_fields = 0;
  bool is_partial = false;

  // Resident if reported, else committed.
  [[nodiscard]] std::optional<std::uint64_t> used() const noexcept {
    return resident ? resident : committed;
  }
};

using RegionClassifier = FunctionRef<RegionRole(std::string_view region)>;
using EngineClassifier = FunctionRef<std::uint32_t(std::string_view engine)>;

// Pure. A region that lacks a value makes the sum of that value unknown.
ClientUse measure(const Fdinfo& info, RegionClassifier classify_region,
                  EngineClassifier classify_engine) noexcept;

// Adds another client of the same process; a value that only one has becomes unknown.
void add(ClientUse& sum, const ClientUse& use) noexcept;

// Common engine names of kernel drivers: metric_instance::engine, and usage_kind bits.
std::uint32_t find_engine_class(std::string_view engine) noexcept;
std::uint32_t classify_engine_by_name(std::string_view engine) noexcept;
// "vram", "local" and similar are the device's, "gtt", "system" and similar the host's.
RegionRole classify_region_by_name(std::string_view region) noexcept;

}  // namespace hmn::drm
