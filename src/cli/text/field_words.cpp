// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/field_words.hpp"

#include <iterator>
#include <string_view>

namespace hmn::cli {
namespace {

struct named_field {
  hmn_flags subject;  // HMN_COLLECT_*
  hmn_flags bit;      // of `present`
  std::string_view words;
};
// What belongs to another figure, as the window of a load does, has no words of its own.
constexpr named_field fields[] = {
    {HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_NAME, "name"},
    {HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_UUID, "UUID"},
    {HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_PCI, "PCI address"},
    {HMN_COLLECT_DEVICES, HMN_DEVICE_HAS_DRIVER, "driver version"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_TOTAL, "total memory"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_FREE, "free memory"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_USED, "used memory"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_RESERVED, "reserved memory"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_USABLE, "usable memory"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_BUDGET, "budget"},
    {HMN_COLLECT_POOLS, HMN_POOL_HAS_UNATTRIBUTED, "unattributed memory"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_GPU_BUSY, "load"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_BUSY, "load of the memory controller"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENCODER_BUSY, "encoder load"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_DECODER_BUSY, "decoder load"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_TEMPERATURE, "temperature"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_HOTSPOT, "hotspot temperature"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_TEMPERATURE, "memory temperature"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER, "power"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_POWER_LIMIT, "power limit"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY, "energy"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_CORE_CLOCK, "core clock"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_MEMORY_CLOCK, "memory clock"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_PERCENT, "fan speed"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_FAN_RPM, "fan turns"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_GENERATION, "PCIe generation"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_WIDTH, "PCIe width"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_RX, "PCIe bytes received"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_PCIE_TX, "PCIe bytes sent"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_THROTTLE, "throttle reasons"},
    {HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_P_STATE, "P-state"},
};

}  // namespace

std::string field_words(const hypomnesis::diagnostic& of) {
  std::string list;
  if (!of.field) return list;
  if (of.subject == hypomnesis::part::metrics)
    return std::string(hypomnesis::name(static_cast<hypomnesis::metric_id>(*of.field)));
  for (const auto& each : fields) {
    if (number(of.subject) != each.subject || (*of.field & each.bit) == 0) continue;
    list.append(list.empty() ? "" : ", ").append(each.words);
  }
  return list;
}

}  // namespace hmn::cli
