// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/memory.hpp"

#include <array>
#include <utility>

#include "backends/amdgpu/sysfs.hpp"
#include "backends/shared/sysfs/attribute.hpp"

namespace hmn::amdgpu {
namespace {

struct value_files {
  pool_kind kind;
  std::string_view total;
  std::string_view used;
};
constexpr value_files pool_files[] = {
    {pool_kind::vram, "mem_info_vram_total", "mem_info_vram_used"},
    {pool_kind::vram_visible, "mem_info_vis_vram_total", "mem_info_vis_vram_used"},
    {pool_kind::host, "mem_info_gtt_total", "mem_info_gtt_used"},
};

void refuse(drm::visit& v, int error, std::string_view file, std::uint32_t field) {
  v.diagnose(unread(error, v.of().folder.view(), file), subject::pools, field);
}

void read_used(drm::visit& v, const value_files& f, pool& p) {
  const auto used = sysfs::read_number(v.of().folder.view(), f.used);
  if (!used) return refuse(v, used.error, f.used, pool_field::used | pool_field::free);
  p.used = used.value;
  p.accounting = accounting::resident;
  if (p.total && *p.used <= *p.total) p.free = *p.total - *p.used;
}

pool read_pool(drm::visit& v, const value_files& f) {
  pool p;
  p.kind = f.kind;
  p.from = source::amdgpu;
  const auto total = sysfs::read_number(v.of().folder.view(), f.total);
  if (total) {
    p.total = total.value;
  } else {
    refuse(v, total.error, f.total, pool_field::total | pool_field::free);
  }
  if (!v.is_asleep()) read_used(v, f, p);
  return p;
}

// VRAM for a discrete card. An APU's pools are both host RAM, and the kernel lets programs allocate
// from the larger one (Linux 6.10).
pool_kind main_of(const std::array<pool, 3>& all, device_kind kind) noexcept {
  const std::uint64_t vram = all[0].total.value_or(0);
  const std::uint64_t gtt = all[2].total.value_or(0);
  const bool by_size = kind == device_kind::integrated || (!all[0].total && !all[0].used);
  return by_size && gtt > vram ? pool_kind::host : pool_kind::vram;
}

}  // namespace

result<void> read_memory(drm::visit& v, device_kind kind, pools& out) {
  std::array<pool, 3> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = read_pool(v, pool_files[i]);
  const pool_kind main = main_of(all, kind);
  for (const bool wants_main : {true, false}) {
    for (pool& p : all) {
      p.is_main = p.kind == main;
      if (p.is_main == wants_main && (p.total || p.used)) out.add(p);
    }
  }
  if (!out.empty()) return {};
  const std::string_view folder = v.of().folder.view();
  return unread(sysfs::read_number(folder, pool_files[0].total).error, folder, pool_files[0].total);
}

}  // namespace hmn::amdgpu
