// SPDX-License-Identifier: MIT OR Apache-2.0
//
// /proc/<pid>/fdinfo/<fd> of a DRM descriptor, by the kernel's rules
// (Documentation/gpu/drm-usage-stats.rst): "key:<blanks>value [unit]". Keys are looked for, kernel
// versions are not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hmn::drm {

// Bytes of one kind of memory.
struct region {
  std::string_view name;
  std::optional<std::uint64_t> total;      // handles, with backing pages or not
  std::optional<std::uint64_t> shared;     // with more than one handle
  std::optional<std::uint64_t> resident;   // has backing pages now
  std::optional<std::uint64_t> memory;     // older name of resident
  std::optional<std::uint64_t> purgeable;  // resident, and may be dropped
  std::optional<std::uint64_t> active;     // in use by an engine

  [[nodiscard]] std::optional<std::uint64_t> backed() const noexcept {
    return resident ? resident : memory;
  }
};

struct engine {
  std::string_view name;
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;  // a clock, of which `cycles` is a part
  std::optional<std::uint64_t> max_hz;
  std::optional<std::uint64_t> current_hz;
  std::uint64_t capacity = 1;  // engines of that name; `busy_ns` is their sum
};

// All texts are parts of the text that was parsed.
class fdinfo {
 public:
  std::string_view text;
  std::string_view driver;       // or what amdgpu's older text leaves out
  std::string_view pci_address;  // drm-pdev; a platform device has none
  std::string_view client_name;
  std::optional<std::uint64_t> client_id;
  std::optional<std::uint64_t> pasid;  // amdgpu: of the file, where there is no client id
  bool is_partial = false;             // cut off, or more regions or engines than there is room for

  [[nodiscard]] std::span<const region> regions() const noexcept {
    return {regions_.data(), region_count_};
  }
  [[nodiscard]] std::span<const engine> engines() const noexcept {
    return {engines_.data(), engine_count_};
  }
  // By name; made when it is not there, nullptr when there is no room.
  region* region_of(std::string_view name) noexcept;
  engine* engine_of(std::string_view name) noexcept;

 private:
  std::array<region, 16> regions_;
  std::array<engine, 16> engines_;
  std::size_t region_count_ = 0;
  std::size_t engine_count_ = 0;
};

// "12", "12 KiB", "12 kB", "12 MiB", "12 GiB" as bytes; any other unit is malformed.
std::optional<std::uint64_t> parse_amount(std::string_view value) noexcept;

// Nothing: not of a DRM client. A last line without its end was cut off and does not count.
std::optional<fdinfo> parse_fdinfo(std::string_view text) noexcept;

// The amount of a driver's own key, "amd-evicted-vram".
std::optional<std::uint64_t> amount_of(std::string_view text, std::string_view key) noexcept;

}  // namespace hmn::drm
