// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/amd_tool_source.hpp"
#include "source/registry.hpp"

namespace hmn::amd_tool {
namespace {

// amdsmi_cli of ROCm 6 and 7. `metric` is never run without options: its PCIe part sleeps for a
// second per card.
constexpr Row amd_rows[] = {
    {Field::name, Form::text, "asic/market_name"},
    {Field::name, Form::text, "board/product_name"},
    {Field::name, Form::text, "product_name"},
    {Field::unique_id, Form::hexadecimal, "asic/asic_serial"},
    {Field::bus, Form::text, "bus/bdf"},
    {Field::pci_device, Form::hexadecimal, "asic/device_id"},
    {Field::driver, Form::text, "driver/version"},
    {Field::vram_total, Form::bytes, "mem_usage/total_vram"},
    {Field::vram_total, Form::bytes, "vram/size"},
    {Field::vram_used, Form::bytes, "mem_usage/used_vram"},
    {Field::visible_total, Form::bytes, "mem_usage/total_visible_vram"},
    {Field::visible_used, Form::bytes, "mem_usage/used_visible_vram"},
    {Field::host_total, Form::bytes, "mem_usage/total_gtt"},
    {Field::host_used, Form::bytes, "mem_usage/used_gtt"},
    {Field::gpu_busy, Form::percent, "usage/gfx_activity"},
    {Field::memory_busy, Form::percent, "usage/umc_activity"},
    {Field::media_busy, Form::percent, "usage/mm_activity"},
    {Field::edge, Form::celsius, "temperature/edge"},
    {Field::hotspot, Form::celsius, "temperature/hotspot"},
    {Field::memory_temperature, Form::celsius, "temperature/mem"},
    {Field::edge_limit, Form::celsius, "limit/slowdown_edge_temperature"},
    {Field::hotspot_limit, Form::celsius, "limit/slowdown_hotspot_temperature"},
    {Field::memory_limit, Form::celsius, "limit/slowdown_vram_temperature"},
    {Field::edge_shutdown, Form::celsius, "limit/shutdown_edge_temperature"},
    {Field::hotspot_shutdown, Form::celsius, "limit/shutdown_hotspot_temperature"},
    {Field::memory_shutdown, Form::celsius, "limit/shutdown_vram_temperature"},
    {Field::package_power, Form::watts, "power/socket_power"},
    {Field::power_limit, Form::watts, "limit/socket_power"},
    {Field::power_limit, Form::watts, "limit/ppt0/socket_power_limit"},
    {Field::min_power_limit, Form::watts, "limit/min_power"},
    {Field::min_power_limit, Form::watts, "limit/ppt0/min_power_limit"},
    {Field::max_power_limit, Form::watts, "limit/max_power"},
    {Field::max_power_limit, Form::watts, "limit/ppt0/max_power_limit"},
    {Field::energy, Form::joules, "energy/total_energy_consumption"},
    {Field::core_clock, Form::megahertz, "clock/gfx_0/clk"},
    {Field::memory_clock, Form::megahertz, "clock/mem_0/clk"},
    {Field::video_clock, Form::megahertz, "clock/vclk_0/clk"},
    {Field::max_core_clock, Form::megahertz, "clock/gfx_0/max_clk"},
    {Field::max_memory_clock, Form::megahertz, "clock/mem_0/max_clk"},
    {Field::core_voltage, Form::volts, "power/gfx_voltage"},
    {Field::soc_voltage, Form::volts, "power/soc_voltage"},
    {Field::memory_voltage, Form::volts, "power/mem_voltage"},
    {Field::fan_percent, Form::percent, "fan/usage"},
    {Field::fan_rpm, Form::rpm, "fan/rpm"},
    {Field::throttle, Form::throttle, "power/throttle_status"},
};

}  // namespace

constinit const Dialect amd_smi{
    .tool = describe(Source::amd_smi, "amd-smi",
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

std::unique_ptr<DeviceSource> make_amd_smi(const Settings& s) {
  return std::make_unique<amd_tool::AmdSource>(amd_tool::amd_smi, s, s.amd_smi_path);
}

}  // namespace hmn
