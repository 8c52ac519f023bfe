// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/amd_tool_source.hpp"
#include "source/registry.hpp"

namespace hmn::amd_tool {
namespace {

// python_smi_tools/rocm_smi.py of ROCm 3 to 7. --showbw is never used: it sleeps for a second.
constexpr Row rocm_rows[] = {
    {Field::name, Form::text, "card series"},
    {Field::name, Form::text, "device name"},
    {Field::name, Form::text, "product_name"},
    {Field::unique_id, Form::hexadecimal, "unique id"},
    {Field::bus, Form::text, "pci bus"},
    {Field::pci_device, Form::hexadecimal, "device id"},
    {Field::pci_device, Form::hexadecimal, "gpu id"},
    {Field::vram_total, Form::bytes, "vram total memory"},
    {Field::vram_total, Form::bytes, "vram"},
    {Field::vram_used, Form::bytes, "vram total used memory"},
    {Field::visible_total, Form::bytes, "vis_vram total memory"},
    {Field::visible_used, Form::bytes, "vis_vram total used memory"},
    {Field::host_total, Form::bytes, "gtt total memory"},
    {Field::host_used, Form::bytes, "gtt total used memory"},
    {Field::gpu_busy, Form::percent, "gpu use"},
    {Field::memory_busy, Form::percent, "gpu memory read/write activity"},
    {Field::memory_busy, Form::percent, "gpu memory use"},
    {Field::edge, Form::celsius, "temperature (sensor edge)"},
    {Field::hotspot, Form::celsius, "temperature (sensor junction)"},
    {Field::memory_temperature, Form::celsius, "temperature (sensor memory)"},
    {Field::average_power, Form::watts, "average graphics package power"},
    {Field::package_power, Form::watts, "current socket graphics package power"},
    {Field::power_limit, Form::watts, "max graphics package power"},
    {Field::energy, Form::joules, "accumulated energy"},
    {Field::core_clock, Form::megahertz, "sclk clock speed"},
    {Field::memory_clock, Form::megahertz, "mclk clock speed"},
    {Field::soc_clock, Form::megahertz, "socclk clock speed"},
    {Field::fabric_clock, Form::megahertz, "fclk clock speed"},
    {Field::core_voltage, Form::volts, "voltage"},
    {Field::fan_percent, Form::percent, "fan speed"},
    {Field::fan_rpm, Form::rpm, "fan rpm"},
    {Field::pcie_link, Form::link, "pcie clock level"},
};

}  // namespace

constinit const Dialect rocm_smi{
    .tool = describe(Source::rocm_smi, "rocm-smi",
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

std::unique_ptr<DeviceSource> make_rocm_smi(const Settings& s) {
  return std::make_unique<amd_tool::AmdSource>(amd_tool::rocm_smi, s, s.rocm_smi_path);
}

}  // namespace hmn
