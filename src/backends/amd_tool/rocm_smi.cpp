// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/source.hpp"
#include "backends/source_list.hpp"

namespace hmn::amd_tool {
namespace {

// python_smi_tools/rocm_smi.py of ROCm 3 to 7. --showbw is never used: it sleeps for a second.
constexpr std::string_view rocm_keys =
    "card series|device name|product_name\n"
    "unique id\n"
    "pci bus\n"
    "device id|gpu id\n"
    "\n"  // driver
    "vram total memory|vram\n"
    "vram total used memory\n"
    "vis_vram total memory\n"
    "vis_vram total used memory\n"
    "gtt total memory\n"
    "gtt total used memory\n"
    "gpu use\n"
    "gpu memory read/write activity|gpu memory use\n"
    "\n"  // media_busy
    "temperature (sensor edge)\n"
    "temperature (sensor junction)\n"
    "temperature (sensor memory)\n"
    "\n"  // edge_limit
    "\n"  // hotspot_limit
    "\n"  // memory_limit
    "\n"  // edge_shutdown
    "\n"  // hotspot_shutdown
    "\n"  // memory_shutdown
    "average graphics package power\n"
    "current socket graphics package power\n"
    "max graphics package power\n"
    "\n"  // lowest_power_limit
    "\n"  // highest_power_limit
    "accumulated energy\n"
    "sclk clock speed\n"
    "mclk clock speed\n"
    "socclk clock speed\n"
    "fclk clock speed\n"
    "\n"  // video_clock
    "\n"  // highest_core_clock
    "\n"  // highest_memory_clock
    "voltage\n"
    "\n"  // soc_voltage
    "\n"  // memory_voltage
    "fan speed\n"
    "fan rpm\n"
    "pcie clock level\n"
    "\n";  // throttle
static_assert(has_all_fields(rocm_keys));

}  // namespace

constinit const dialect rocm_smi{
    .tool = describe(source::rocm_smi, "rocm-smi",
                     "not found in its default folders; it comes with ROCm"),
    .keys = rocm_keys,
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
