// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/source.hpp"
#include "backends/source_list.hpp"

namespace hmn::amd_tool {
namespace {

// amdsmi_cli of ROCm 6 and 7. `metric` is never run without options: its PCIe part sleeps for a
// second per card.
constexpr std::string_view amd_keys =
    "asic/market_name|board/product_name|product_name\n"
    "asic/asic_serial\n"
    "bus/bdf\n"
    "asic/device_id\n"
    "driver/version\n"
    "mem_usage/total_vram|vram/size\n"
    "mem_usage/used_vram\n"
    "mem_usage/total_visible_vram\n"
    "mem_usage/used_visible_vram\n"
    "mem_usage/total_gtt\n"
    "mem_usage/used_gtt\n"
    "usage/gfx_activity\n"
    "usage/umc_activity\n"
    "usage/mm_activity\n"
    "temperature/edge\n"
    "temperature/hotspot\n"
    "temperature/mem\n"
    "limit/slowdown_edge_temperature\n"
    "limit/slowdown_hotspot_temperature\n"
    "limit/slowdown_vram_temperature\n"
    "limit/shutdown_edge_temperature\n"
    "limit/shutdown_hotspot_temperature\n"
    "limit/shutdown_vram_temperature\n"
    "\n"  // average_power
    "power/socket_power\n"
    "limit/socket_power|limit/ppt0/socket_power_limit\n"
    "limit/min_power|limit/ppt0/min_power_limit\n"
    "limit/max_power|limit/ppt0/max_power_limit\n"
    "energy/total_energy_consumption\n"
    "clock/gfx_0/clk\n"
    "clock/mem_0/clk\n"
    "\n"  // soc_clock
    "\n"  // fabric_clock
    "clock/vclk_0/clk\n"
    "clock/gfx_0/max_clk\n"
    "clock/mem_0/max_clk\n"
    "power/gfx_voltage\n"
    "power/soc_voltage\n"
    "power/mem_voltage\n"
    "fan/usage\n"
    "fan/rpm\n"
    "\n"  // pcie_link
    "power/throttle_status\n";
static_assert(has_all_fields(amd_keys));

}  // namespace

constinit const dialect amd_smi{
    .tool = describe(source::amd_smi, "amd-smi",
                     "not found in its default folders; it comes with ROCm"),
    .keys = amd_keys,
    .identity = "static --json",
    .readings = "metric --usage --power --clock --temperature --mem-usage --fan --energy --json",
    .plain = "metric --usage --power --clock --temperature --mem-usage --json",
    .processes = "process --json",
    .may_scale_kib_by_1000 = true,
};

}  // namespace hmn::amd_tool

namespace hmn {

std::unique_ptr<device_source> make_amd_smi(const settings& s) {
  return std::make_unique<amd_tool::amd_source>(amd_tool::amd_smi, s, s.amd_smi_path);
}

}  // namespace hmn
