// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/identity.hpp"

#include <array>
#include <cerrno>

#include "backends/amdgpu/sysfs.hpp"
#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/error_number.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

std::string_view find_marketing_name(std::string_view table, std::uint32_t device,
                                     std::uint32_t revision) noexcept {
  while (!table.empty()) {
    std::string_view line = scan::take_line(table);
    const auto of = scan::number(scan::trim(scan::take_until(line, ',')), 16);
    const auto version = scan::number(scan::trim(scan::take_until(line, ',')), 16);
    if (of == device && version == revision) return scan::trim(line);
  }
  return {};
}

std::string read_marketing_name(std::uint32_t device, std::uint32_t revision) {
  std::string table;
  const auto got = platform::read_whole("/usr/share/libdrm/amdgpu.ids", table, 1 << 20);
  if (!got) return {};
  return std::string(find_marketing_name(table, device, revision));
}

namespace {

using drm::card;

// Formats a location as 0000:27:00.0, with its `function` or 0.
text<32> address_of(const drm::compute_node& n, bool with_function) noexcept {
  const auto low = [&](unsigned shift, unsigned mask) {
    return static_cast<std::uint8_t>(n.location >> shift & mask);
  };
  const auto function = static_cast<std::uint8_t>(with_function ? low(0, 7) : 0);
  return to_text({n.domain, low(8, 0xff), low(3, 0x1f), function});
}

}  // namespace

// The minor number and the stepping are one hexadecimal digit each:
// https://llvm.org/docs/AMDGPUUsage.html#processors
text<32> architecture_of(std::uint32_t gfx_target) noexcept {
  if (gfx_target == 0) return {};
  std::array<char, 32> buffer;
  return text<32>(compose_in(buffer, {"gfx", gfx_target / 10000, hex(gfx_target / 100 % 100, 1),
                                      hex(gfx_target % 100, 1)}));
}

text<96> uuid_of(std::string_view unique_id) noexcept {
  const auto id = scan::number(unique_id, 16);
  std::array<char, 32> buffer;
  return id && *id != 0 ? text<96>(compose_in(buffer, {"GPU-", hex(*id, 16)})) : text<96>();
}

platform::errno_or<device_kind> kind_of_card(std::string_view device_folder) {
  int error = 0;
  const std::string hwmon = drm::find_hwmon(device_folder, "amdgpu", &error);
  if (hwmon.empty()) return {device_kind::unknown, error};
  std::array<char, 32> label;
  const auto in1 = sysfs::read_line(hwmon, "in1_label", label);
  if (in1 && in1.value == "vddnb") return {device_kind::integrated, 0};
  if (!in1 && in1.error != ENOENT) return {device_kind::unknown, in1.error};
  const sysfs::path_text crit{hwmon, "/temp1_crit"};
  return {platform::exists(crit.c_str()) ? device_kind::discrete : device_kind::unknown, 0};
}

int read_name(const card& c, text<256>& name) {
  std::array<char, 256> buffer;
  const auto reported = sysfs::read_line(c.folder.view(), "product_name", buffer);
  if (is_passing(reported.error)) return reported.error;
  name = text<256>(reported.value);
  if (!name.empty()) return 0;
  const auto revision = sysfs::read_hex(c.folder.view(), "revision");
  if (is_passing(revision.error)) return revision.error;
  if (!c.pci_device || !revision) return 0;
  name = text<256>(read_marketing_name(*c.pci_device, static_cast<std::uint32_t>(revision.value)));
  return 0;
}

// Partition number: the highest four bits of the location; older drivers put it in place of the
// function.
const card* whole_of(const drm::compute_node& part, std::span<const card> all) noexcept {
  for (const bool with_function : {true, false}) {
    const text<32> address = address_of(part, with_function);
    for (const card& c : all) {
      if (c.is_here && c.pci_bus_id == address) return &c;
    }
  }
  return nullptr;
}

void fill_identity(drm::visit& v, device& who) {
  const std::string_view folder = v.of().folder.view();
  std::array<char, 96> buffer;
  const auto id = sysfs::read_line(folder, "unique_id", buffer);
  if (id) who.uuid = uuid_of(id.value);
  if (!id && id.error != ENOENT) {
    v.diagnose(unread(id.error, folder, "unique_id"), subject::devices, device_field::uuid);
  }
  // Version exists for out-of-tree drivers only.
  const sysfs::path_text module{v.sys_root(), "/module/amdgpu"};
  const auto version = sysfs::read_line(module.view(), "version", buffer);
  if (version) who.driver_version.assign(version.value);
  const auto total = sysfs::read_number(folder, "mem_info_vram_total");
  if (total && total.value != 0 && who.kind != device_kind::integrated) {
    who.memory_total = total.value;
  }
  const auto node = sysfs::read_number(folder, "numa_node");
  if (node && node.value <= UINT32_MAX) who.numa_node = static_cast<std::uint32_t>(node.value);
}

}  // namespace hmn::amdgpu
