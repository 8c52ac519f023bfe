// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cards.hpp"

#include <fstream>

namespace amdgpu_test {
namespace {

hmn_fake::PciDevice make_card(const char* address, std::uint16_t device) {
  hmn_fake::PciDevice card;
  card.address = address;
  card.vendor = 0x1002;
  card.device = device;
  card.device_class = 0x030000;
  card.driver = "amdgpu";
  card.power_control = "auto";
  card.runtime_status = "active";
  card.numa_node = -1;
  return card;
}

std::string format_line(std::uint64_t value) {
  return std::to_string(value) + "\n";
}

}  // namespace

hmn_fake::PciDevice navi(const char* address) {
  hmn_fake::PciDevice card = make_card(address, 0x73bf);
  card.files = {
      {"product_name", "AMD Radeon PRO W6800\n"},
      {"revision", "0xc1\n"},
      {"unique_id", "946d7e1ef9b172dd\n"},
      {"mem_info_vram_total", format_line(16 * gib)},
      {"mem_info_vram_used", format_line(3 * gib)},
      {"mem_info_vis_vram_total", format_line(gib / 4)},
      {"mem_info_vis_vram_used", format_line(gib / 8)},
      {"mem_info_gtt_total", format_line(8 * gib)},
      {"mem_info_gtt_used", format_line(gib)},
      {"gpu_busy_percent", "37\n"},
      {"mem_busy_percent", "12\n"},
      {"pp_dpm_sclk", "0: 500Mhz \n1: 2505Mhz *\n"},
      {"pp_dpm_mclk", "0: 96Mhz *\n1: 1000Mhz \n"},
      {"pp_dpm_socclk", "0: 480Mhz *\n1: 1200Mhz \n"},
      {"pp_dpm_fclk", "0: 506Mhz \n1: 1940Mhz \n"},
      {"pcie_replay_count", "7\n"},
      {"pcie_bw", "11886 2528 256\n"},
      {"current_link_speed", "16.0 GT/s PCIe\n"},
      {"current_link_width", "16\n"},
      {"ras/umc_err_count", "ue: 1\nce: 23\n"},
      {"hwmon/hwmon4/name", "amdgpu\n"},
      {"hwmon/hwmon4/temp1_input", "56000\n"},
      {"hwmon/hwmon4/temp1_label", "edge\n"},
      {"hwmon/hwmon4/temp1_crit", "100000\n"},
      {"hwmon/hwmon4/temp1_emergency", "105000\n"},
      {"hwmon/hwmon4/temp2_input", "59000\n"},
      {"hwmon/hwmon4/temp2_label", "junction\n"},
      {"hwmon/hwmon4/temp3_input", "54000\n"},
      {"hwmon/hwmon4/temp3_label", "mem\n"},
      {"hwmon/hwmon4/power1_average", "36500000\n"},
      {"hwmon/hwmon4/power1_cap", "289000000\n"},
      {"hwmon/hwmon4/power1_cap_max", "332000000\n"},
      {"hwmon/hwmon4/power1_cap_min", "0\n"},
      {"hwmon/hwmon4/power1_cap_default", "289000000\n"},
      {"hwmon/hwmon4/freq1_input", "2505000000\n"},
      {"hwmon/hwmon4/freq1_label", "sclk\n"},
      {"hwmon/hwmon4/freq2_input", "96000000\n"},
      {"hwmon/hwmon4/freq2_label", "mclk\n"},
      {"hwmon/hwmon4/fan1_input", "900\n"},
      {"hwmon/hwmon4/pwm1", "51\n"},
      {"hwmon/hwmon4/in0_input", "762\n"},
      {"hwmon/hwmon4/in0_label", "vddgfx\n"},
  };
  return card;
}

hmn_fake::PciDevice phoenix(const char* address) {
  hmn_fake::PciDevice card = make_card(address, 0x15bf);
  card.files = {
      {"product_name", "AMD Radeon 780M\n"},
      {"unique_id", "\n"},
      {"mem_info_vram_total", format_line(4 * gib)},
      {"mem_info_vram_used", format_line(gib)},
      {"mem_info_vis_vram_total", format_line(4 * gib)},
      {"mem_info_vis_vram_used", format_line(gib)},
      {"mem_info_gtt_total", format_line(30 * gib)},
      {"mem_info_gtt_used", format_line(2 * gib)},
      {"gpu_busy_percent", "0\n"},
      {"pp_dpm_sclk", "0: 800Mhz *\n1: 1100Mhz \n2: 2700Mhz \n"},
      {"pp_dpm_mclk", "0: 400Mhz *\n1: 800Mhz \n"},
      {"hwmon/hwmon6/name", "amdgpu\n"},
      {"hwmon/hwmon6/temp1_input", "25000\n"},
      {"hwmon/hwmon6/temp1_label", "edge\n"},
      {"hwmon/hwmon6/power1_average", "3103000\n"},
      {"hwmon/hwmon6/power1_input", "3142000\n"},
      {"hwmon/hwmon6/freq1_input", "800000000\n"},
      {"hwmon/hwmon6/freq1_label", "sclk\n"},
      {"hwmon/hwmon6/in0_input", "0\n"},
      {"hwmon/hwmon6/in0_label", "vddgfx\n"},
      {"hwmon/hwmon6/in1_input", "615\n"},
      {"hwmon/hwmon6/in1_label", "vddnb\n"},
  };
  return card;
}

bool make_refused(const hmn_fake::Tree& tree, const std::string& file) {
  constexpr const char* write_only = "/proc/sys/vm/drop_caches";
  std::ifstream probe(write_only);
  if (probe) return false;
  tree.link(file, write_only);
  return true;
}

std::string client_text(const char* pdev, unsigned id, std::uint64_t vram_kib,
                        std::uint64_t gtt_kib) {
  const std::string vram = std::to_string(vram_kib) + " KiB\n";
  const std::string gtt = std::to_string(gtt_kib) + " KiB\n";
  return "drm-driver:\tamdgpu\ndrm-client-id:\t" + std::to_string(id) + "\ndrm-pdev:\t" + pdev +
         "\npasid:\t32771\ndrm-total-cpu:\t0\ndrm-resident-cpu:\t0\ndrm-total-gtt:\t" + gtt +
         "drm-shared-gtt:\t0\ndrm-resident-gtt:\t" + gtt + "drm-total-vram:\t" + vram +
         "drm-shared-vram:\t0\ndrm-resident-vram:\t" + vram + "drm-memory-vram:\t" + vram +
         "drm-memory-gtt: \t" + gtt + "amd-evicted-vram:\t64 KiB\namd-requested-vram:\t" + vram +
         "drm-engine-gfx:\t39456116802 ns\n";
}

void add_kfd_node(const hmn_fake::Tree& tree, const GpuNode& node) {
  const std::string folder = "sys/class/kfd/kfd/topology/nodes/" + std::to_string(node.node) + "/";
  tree.write(folder + "gpu_id", format_line(node.gpu_id));
  tree.write(folder + "properties",
             "cpu_cores_count 0\nsimd_count " + format_line(node.simd_count) +
                 "mem_banks_count 1\nlocation_id " + format_line(node.location) +
                 "domain 0\ndrm_render_minor " + format_line(node.render_minor) +
                 "gfx_target_version 110001\nhive_id "
                 "15188982192727901047\nunique_id 16404946649897475633\n");
  tree.write(folder + "mem_banks/0/properties",
             "heap_type 1\nsize_in_bytes " + format_line(node.memory) + "flags 0\nwidth 4096\n");
}

void set_kfd_generation(const hmn_fake::Tree& tree, unsigned generation) {
  tree.write("sys/class/kfd/kfd/topology/generation_id", format_line(generation));
}

void set_kfd_vram(const hmn_fake::Tree& tree, unsigned pid, unsigned gpu_id, std::uint64_t bytes) {
  const std::string folder = "sys/class/kfd/kfd/proc/" + std::to_string(pid) + "/";
  tree.write(folder + "pasid", "32770\n");
  tree.write(folder + "vram_" + std::to_string(gpu_id), format_line(bytes));
}

}  // namespace amdgpu_test
