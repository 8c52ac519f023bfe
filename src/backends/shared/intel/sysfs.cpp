// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/intel/sysfs.hpp"

#include <cerrno>

#include "backends/drm/discovery.hpp"
#include "backends/drm/pcie.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/compose.hpp"
#include "model/device.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::intel {
namespace {

// Counters are updated about once per millisecond.
constexpr std::uint64_t shortest_ns = 10 * platform::ns_per_ms;
constexpr std::uint64_t usual_ns = 100 * platform::ns_per_ms;
constexpr std::uint64_t longest_ns = 60 * platform::ns_per_second;

std::string_view parent_of(std::string_view folder) noexcept {
  const std::size_t slash = folder.rfind('/');
  return folder.substr(0, slash == std::string_view::npos ? 0 : slash);
}

bool is_own_bridge(std::string_view folder) noexcept {
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  if (normal_pci_address(name).empty()) return false;
  constexpr std::uint64_t pci_bridge = 0x0604;
  const auto maker = sysfs::read_hex(folder, "vendor");
  const auto what = sysfs::read_hex(folder, "class");
  return maker.value == vendor::intel && what.value >> 8 == pci_bridge;
}

}  // namespace

std::optional<average_power> energy_meter::read(std::uint64_t microjoules,
                                                std::uint64_t at_ns) noexcept {
  if (microjoules < last_.microjoules || at_ns < last_.at_ns) before_ = last_ = sample{};
  const std::uint64_t since_last = at_ns - last_.at_ns;
  const bool is_old = before_.at_ns == 0 || since_last >= usual_ns ||
                      at_ns - before_.at_ns >= platform::ns_per_second;
  if (last_.at_ns != 0 && since_last >= shortest_ns && is_old) before_ = last_;
  last_ = {microjoules, at_ns};
  const std::uint64_t window = at_ns - before_.at_ns;
  if (before_.at_ns == 0 || window < shortest_ns || window > longest_ns) return std::nullopt;
  const auto used = static_cast<double>(microjoules - before_.microjoules);
  return average_power{used * 1e3 / static_cast<double>(window), window};
}

std::string link_folder(std::string_view device_folder) {
  const std::string_view upper = parent_of(parent_of(device_folder));
  const bool is_inside =
      drm::read_generation(device_folder) == 1U && drm::read_width(device_folder) == 1U;
  if (!is_inside) return std::string(device_folder);
  return std::string(is_own_bridge(upper) ? upper : std::string_view());
}

// prochot: external signal. ratl: running average thermal limit. fastvmode: voltage regulator at
// its current limit, briefly.
std::uint32_t throttle_bit(std::string_view reason) noexcept {
  if (scan::contains_any(reason, "prochot")) return throttle::hardware;
  if (scan::contains_any(reason, "therm ratl")) return throttle::thermal;
  const bool is_power = scan::contains_any(reason, "pl1 pl2 pl4 tdc iccmax psys fastvmode");
  return is_power ? throttle::power : throttle::other;
}

platform::errno_or<std::uint32_t> read_throttle(const gt& g) {
  const gt_files& f = *g.files;
  if (f.throttle_prefix.empty()) return {0, ENOENT};
  const std::string folder = compose({g.folder, f.throttle});
  // One file reports that nothing limits the clock, which is the common case.
  const auto status = sysfs::read_number(folder, f.throttle_status);
  if (!status || status.value == 0) return {0, status.error};
  std::uint32_t bits = 0;
  int error = 0;
  const int listed = platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    if (!name.starts_with(f.throttle_prefix) || name == f.throttle_status) return true;
    const auto holds = sysfs::read_number(folder, name);
    // "reasons" of newer kernels is a list of words.
    if (!holds && holds.error != sysfs::no_number && holds.error != ENOENT) error = holds.error;
    if (holds && holds.value != 0) bits |= throttle_bit(name.substr(f.throttle_prefix.size()));
    return true;
  });
  if (listed != 0 || error != 0) return {0, listed != 0 ? listed : error};
  return {bits != 0 ? bits : throttle::other, 0};
}

}  // namespace hmn::intel
