// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dmem/regions.hpp"

#include "model/pci_address.hpp"
#include "model/scan.hpp"

namespace hmn::dmem {
namespace {

bool is_same_address(std::string_view device, std::string_view pci_bus_id) noexcept {
  const auto address = parse_pci_address(device);
  return address && address == parse_pci_address(pci_bus_id);
}

}  // namespace

std::optional<region> parse_region(std::string_view line) noexcept {
  constexpr std::string_view maker = "drm/";
  std::string_view path = scan::take_word(line);
  if (!path.starts_with(maker)) return std::nullopt;
  path.remove_prefix(maker.size());
  region out;
  out.device = scan::take_until(path, '/');
  out.name = path;
  const std::string_view value = scan::trim(line);
  out.is_unlimited = value == "max";
  const auto bytes = scan::number(value);
  if (out.device.empty() || out.name.empty() || (!bytes && !out.is_unlimited)) return std::nullopt;
  out.bytes = bytes.value_or(0);
  return out;
}

pool_kind kind_of(std::string_view name) noexcept {
  if (name.starts_with("vram")) return pool_kind::vram;  // one per tile on xe
  if (name == "stolen") return pool_kind::stolen;
  return name == "gtt" ? pool_kind::host : pool_kind::main;
}

std::optional<std::uint64_t> sum_of(std::string_view text, std::string_view pci_bus_id,
                                    pool_kind kind) noexcept {
  std::optional<std::uint64_t> sum;
  while (!text.empty()) {
    const std::string_view line = scan::take_line(text);
    if (line.empty()) continue;
    const auto r = parse_region(line);
    // Regions of other subsystems are ignored; a malformed one of DRM may be ours.
    if (!r && line.starts_with("drm/")) return std::nullopt;
    if (!r || kind_of(r->name) != kind || !is_same_address(r->device, pci_bus_id)) continue;
    sum = r->is_unlimited ? std::nullopt : scan::sum(sum.value_or(0), r->bytes);
    if (!sum) return std::nullopt;
  }
  return sum;
}

}  // namespace hmn::dmem
