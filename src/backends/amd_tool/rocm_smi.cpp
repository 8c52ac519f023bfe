// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/amd_tool_source.hpp"
#include "source/registry.hpp"

namespace hmn::amd_tool {
namespace {

// python_smi_tools/rocm_smi.py of ROCm 3 to 7. --showbw is never used: it sleeps for a second.
constexpr row rocm_rows[] = {
    {field::name, form::text, "card series"},
    {field::name, form::text, "device name"},
    {field::name, form::text, "product_name"},
    {field::unique_id, form::hexadecimal, "unique id"},
    {field::bus, form::text, "pci bus"},
    {field::pci_device, form::hexadecimal, "device id"},
    {field::pci_device, form::hexadecimal, "gpu id"},
    {field::vram_total, form::bytes, "vram total memory"},
    {field::vram_total, form::bytes, "vram"},
    {field::vram_used, form::bytes, "vram total used memory"},
    {field::visible_total, form::bytes, "vis_vram total memory"},
    {field::visible_used, form::bytes, "vis_vram total used memory"},
    {field::host_total, form::bytes, "gtt total memory"},
    {field::host_used, form::bytes, "gtt total used memory"},
    {field::gpu_busy, form::percent, "gpu use"},
    {field::memory_busy, form::percent, "gpu memory read/write activity"},
    {field::memory_busy, form::percent, "gpu memory use"},
    {field::edge, form::celsius, "temperature (sensor edge)"},
    {field::hotspot, form::celsius, "temperature (sensor junction)"},
    {field::memory_temperature, form::celsius, "temperature (sensor memory)"},
    {field::average_power, form::watts, "average graphics package power"},
    {field::package_power, form::watts, "current socket graphics package power"},
    {field::power_limit, form::watts, "max graphics package power"},
    {field::energy, form::joules, "accumulated energy"},
    {field::core_clock, form::megahertz, "sclk clock speed"},
    {field::memory_clock, form::megahertz, "mclk clock speed"},
    {field::soc_clock, form::megahertz, "socclk clock speed"},
    {field::fabric_clock, form::megahertz, "fclk clock speed"},
    {field::core_voltage, form::volts, "voltage"},
    {field::fan_percent, form::percent, "fan speed"},
    {field::fan_rpm, form::rpm, "fan rpm"},
    {field::pcie_link, form::link, "pcie clock level"},
};

}  // namespace

constinit const dialect rocm_smi{
    .tool = describe(source::rocm_smi, "rocm-smi",
                     "not found in its default folders; it comes with ROCm"),
    .rows = rocm_rows,
    .identity = {},
    .readings =
        "--showproductname --showuniqueid --showid --showbus --showdriverversion --showuse "
        "--showmemuse --showtemp --showpower --showmaxpower --showenergycounter --showclocks "
        "--showvoltage --showfan --showpids --showmeminfo vram vis_vram gtt --json",
    .plain = "--showproductname --showuse --showtemp --showpower --showmeminfo vram --json",
    .processes = {},
    .may_scale_kib_by_1000 = false,
};

}  // namespace hmn::amd_tool

namespace hmn {

std::unique_ptr<device_source> make_rocm_smi(const settings& s) {
  return std::make_unique<amd_tool::amd_source>(amd_tool::rocm_smi, s, s.rocm_smi_path);
}

}  // namespace hmn
