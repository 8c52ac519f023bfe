// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/amd_tool_source.hpp"
#include "source/registry.hpp"

namespace hmn::amd_tool {
namespace {

// amdsmi_cli of ROCm 6 and 7. `metric` is never run without options: its PCIe part sleeps for a
// second per card.
constexpr row amd_rows[] = {
    {field::name, form::text, "asic/market_name"},
    {field::name, form::text, "board/product_name"},
    {field::name, form::text, "product_name"},
    {field::unique_id, form::hexadecimal, "asic/asic_serial"},
    {field::bus, form::text, "bus/bdf"},
    {field::pci_device, form::hexadecimal, "asic/device_id"},
    {field::driver, form::text, "driver/version"},
    {field::vram_total, form::bytes, "mem_usage/total_vram"},
    {field::vram_total, form::bytes, "vram/size"},
    {field::vram_used, form::bytes, "mem_usage/used_vram"},
    {field::visible_total, form::bytes, "mem_usage/total_visible_vram"},
    {field::visible_used, form::bytes, "mem_usage/used_visible_vram"},
    {field::host_total, form::bytes, "mem_usage/total_gtt"},
    {field::host_used, form::bytes, "mem_usage/used_gtt"},
    {field::gpu_busy, form::percent, "usage/gfx_activity"},
    {field::memory_busy, form::percent, "usage/umc_activity"},
    {field::media_busy, form::percent, "usage/mm_activity"},
    {field::edge, form::celsius, "temperature/edge"},
    {field::hotspot, form::celsius, "temperature/hotspot"},
    {field::memory_temperature, form::celsius, "temperature/mem"},
    {field::edge_limit, form::celsius, "limit/slowdown_edge_temperature"},
    {field::hotspot_limit, form::celsius, "limit/slowdown_hotspot_temperature"},
    {field::memory_limit, form::celsius, "limit/slowdown_vram_temperature"},
    {field::edge_shutdown, form::celsius, "limit/shutdown_edge_temperature"},
    {field::hotspot_shutdown, form::celsius, "limit/shutdown_hotspot_temperature"},
    {field::memory_shutdown, form::celsius, "limit/shutdown_vram_temperature"},
    {field::package_power, form::watts, "power/socket_power"},
    {field::power_limit, form::watts, "limit/socket_power"},
    {field::power_limit, form::watts, "limit/ppt0/socket_power_limit"},
    {field::lowest_power_limit, form::watts, "limit/min_power"},
    {field::lowest_power_limit, form::watts, "limit/ppt0/min_power_limit"},
    {field::highest_power_limit, form::watts, "limit/max_power"},
    {field::highest_power_limit, form::watts, "limit/ppt0/max_power_limit"},
    {field::energy, form::joules, "energy/total_energy_consumption"},
    {field::core_clock, form::megahertz, "clock/gfx_0/clk"},
    {field::memory_clock, form::megahertz, "clock/mem_0/clk"},
    {field::video_clock, form::megahertz, "clock/vclk_0/clk"},
    {field::highest_core_clock, form::megahertz, "clock/gfx_0/max_clk"},
    {field::highest_memory_clock, form::megahertz, "clock/mem_0/max_clk"},
    {field::core_voltage, form::volts, "power/gfx_voltage"},
    {field::soc_voltage, form::volts, "power/soc_voltage"},
    {field::memory_voltage, form::volts, "power/mem_voltage"},
    {field::fan_percent, form::percent, "fan/usage"},
    {field::fan_rpm, form::rpm, "fan/rpm"},
    {field::throttle, form::throttle, "power/throttle_status"},
};

}  // namespace

constinit const dialect amd_smi{
    .tool = describe(source::amd_smi, "amd-smi",
                     "not found in its default folders; it comes with ROCm"),
    .rows = amd_rows,
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
