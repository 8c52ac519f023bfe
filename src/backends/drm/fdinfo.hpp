// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parser of /proc/<pid>/fdinfo/<fd> of a DRM descriptor, by the kernel's rules
// (Documentation/gpu/drm-usage-stats.rst): "key:<blanks>value [unit]". Detects keys, not kernel
// versions.
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
  std::optional<std::uint64_t> total;      // handles, with or without backing pages
  std::optional<std::uint64_t> shared;     // of buffers with several handles
  std::optional<std::uint64_t> resident;   // with backing pages now
  std::optional<std::uint64_t> memory;     // older name of resident
  std::optional<std::uint64_t> purgeable;  // resident and purgeable

  [[nodiscard]] std::optional<std::uint64_t> backed() const noexcept {
    return resident ? resident : memory;
  }
};

struct engine {
  std::string_view name;
  std::optional<std::uint64_t> busy_ns;
  std::optional<std::uint64_t> cycles;
  std::optional<std::uint64_t> total_cycles;  // reference clock of `cycles`
  std::uint64_t capacity = 1;  // number of engines of that name; `busy_ns` is their sum
};

// All texts are views into the parsed text.
class fdinfo {
 public:
  std::string_view text;
  std::string_view driver;       // "amdgpu" for its older text, which lacks the name
  std::string_view pci_address;  // drm-pdev; empty for a platform device
  std::string_view client_name;
  std::optional<std::uint64_t> client_id;
  std::optional<std::uint64_t> pasid;  // amdgpu: of the file, if there is no client id
  bool is_partial = false;             // truncated, or too many regions or engines
  bool is_garbled = false;             // an amount of memory is no number, or too large for one

  [[nodiscard]] std::span<const region> regions() const noexcept {
    return {regions_.data(), region_count_};
  }
  [[nodiscard]] std::span<const engine> engines() const noexcept {
    return {engines_.data(), engine_count_};
  }
  // Finds or adds by name; nullptr if full.
  region* region_of(std::string_view name) noexcept;
  engine* engine_of(std::string_view name) noexcept;

 private:
  std::array<region, 16> regions_;
  std::array<engine, 16> engines_;
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
std::optional<fdinfo> parse_fdinfo(std::string_view text) noexcept;

// Amount of a driver-specific key, "amd-evicted-vram".
std::optional<std::uint64_t> amount_of(std::string_view text, std::string_view key) noexcept;

}  // namespace hmn::drm
