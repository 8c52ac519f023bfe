// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/pcie.hpp"

#include <array>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/error_number.hpp"
#include "model/scan.hpp"

namespace hmn::drm {
namespace {

constexpr const char* speed_file = "current_link_speed";
constexpr const char* width_file = "current_link_width";
// In the order of generations, the first of which is 1.
constexpr std::string_view speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};

}  // namespace

std::optional<std::uint32_t> generation_of(std::string_view link_speed) noexcept {
  const std::string_view speed = scan::take_word(link_speed);
  if (!scan::trim(link_speed).starts_with("GT/s")) return std::nullopt;
  for (std::uint32_t i = 0; i < std::size(speeds); ++i) {
    std::string_view known = speeds[i];
    if (speed == known) return i + 1;
    // "5 GT/s" before Linux 5.12
    if (known.ends_with(".0") && speed == known.substr(0, known.size() - 2)) return i + 1;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> read_generation(std::string_view device_folder, int* error) noexcept {
  std::array<char, 64> buffer;
  const auto line = sysfs::read_line(device_folder, speed_file, buffer);
  if (error != nullptr) *error = line.error;
  return line ? generation_of(line.value) : std::nullopt;
}

std::optional<std::uint32_t> read_width(std::string_view device_folder, int* error) noexcept {
  const auto width = sysfs::read_number(device_folder, width_file);
  if (error != nullptr) *error = width.error;
  if (!width || width.value == 0 || width.value > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(width.value);
}

void take_link(std::string_view device_folder, sensors& s, hmn::telemetry& out) {
  using namespace telemetry_field;
  int error = 0;
  if (s.wants(pcie_generation)) {
    const auto generation = read_generation(device_folder, &error);
    if (generation) s.found(pcie_generation, out.pcie_generation, *generation);
    if (is_passing(error)) s.refuse_file(pcie_generation, error, device_folder, speed_file);
  }
  if (s.wants(pcie_width)) {
    const auto width = read_width(device_folder, &error);
    if (width) s.found(pcie_width, out.pcie_width, *width);
    if (is_passing(error)) s.refuse_file(pcie_width, error, device_folder, width_file);
  }
}

}  // namespace hmn::drm
