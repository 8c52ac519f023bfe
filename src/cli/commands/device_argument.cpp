// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/device_argument.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/system/waiting.hpp"
#include "cli/text/arguments.hpp"
#include "cli/text/unicode.hpp"

namespace hmn::cli {
namespace {

bool is_all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Accepts "0000:01:00.0", "00000000:01:00.0", "01:00.0" and "01:00".
bool looks_like_pci_address(std::string_view text) {
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (colons < 1 || colons > 2) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
}

bool looks_like_uuid(std::string_view text) {
  return text.find('-') != std::string_view::npos && text.find(':') == std::string_view::npos &&
         text.front() != '-';
}

bool has_key_prefix(std::string_view text) {
  for (const std::string_view prefix : {"uuid:", "pci:", "luid:", "render:", "driver:"})
    if (text.starts_with(prefix)) return true;
  return false;
}

Failure device_argument_error(std::string_view text, std::string_view reason) {
  return make_failure(fmt::format("--device \"{}\": {}", text, reason));
}

Failure device_index_error(std::string_view text, const DeviceList& device_list) {
  const auto count = device_list.devices.size();
  if (count == 0)
    return device_argument_error(
        text, device_list.failure_reason.value_or("no such device: there is none"));
  if (count == 1) return device_argument_error(text, "no such device: the only index is 0");
  return device_argument_error(text, fmt::format("no such device: indexes are 0 to {}", count - 1));
}

}  // namespace

Expected<std::variant<DeviceIndex, DeviceKey>> parse_device_argument(std::string_view text) {
  using Argument = std::variant<DeviceIndex, DeviceKey>;
  if (is_all_digits(text)) {
    DeviceIndex index = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
    if (parsed.ec == std::errc{}) return Argument(index);
    return make_usage_error(fmt::format("--device \"{}\": too large for an index", text));
  }
  if (has_key_prefix(text)) return Argument(std::string(text));
  if (looks_like_pci_address(text)) return Argument(fmt::format("pci:{}", text));
  if (looks_like_uuid(text)) return Argument(fmt::format("uuid:{}", text));
  if (text.find(',') != text.npos)
    return make_usage_error(fmt::format("--device \"{}\": expected one device", text));
  return make_usage_error(fmt::format(
      "--device \"{}\": expected an index (0), a UUID (GPU-...) or a PCI address (0000:01:00.0)",
      text));
}

Expected<std::vector<std::string>> parse_device_list(const std::vector<std::string>& values) {
  std::vector<std::string> names;
  for (const auto& value : values) {
    for (const auto name : split_list(value)) {
      if (const auto argument = parse_device_argument(name); !argument) return argument.error();
      names.emplace_back(name);
    }
  }
  return names;
}

Expected<DeviceIndex> find_device(const Session& session, std::string_view text) {
  const auto argument = parse_device_argument(text);
  if (!argument) return argument.error();
  const auto& device_list = session.device_list();
  if (const auto* index = std::get_if<DeviceIndex>(&*argument)) {
    if (*index >= device_list.devices.size()) return device_index_error(text, device_list);
    return *index;
  }
  if (device_list.devices.empty() && device_list.failure_reason)
    return device_argument_error(text, *device_list.failure_reason);
  try {
    return session.library().find_device(std::get<DeviceKey>(*argument));
  } catch (const hypomnesis::error& error) {
    return device_argument_error(text, error.what());
  }
}

Expected<std::vector<DeviceIndex>> find_devices(const Session& session,
                                                const std::vector<std::string>& names) {
  std::vector<DeviceIndex> indexes;
  for (const auto& name : names) {
    const auto index = find_device(session, name);
    if (!index) return index.error();
    if (std::find(indexes.begin(), indexes.end(), *index) == indexes.end())
      indexes.push_back(*index);
  }
  return indexes;
}

std::string format_partition_option(DeviceIndex parent_index,
                                    const std::vector<hypomnesis::device>& devices) {
  std::string parts;
  for (const auto& device : devices)
    if (device.parent_index == parent_index)
      parts += fmt::format("{}{}", parts.empty() ? "--device " : ", ", device.index);
  return parts;
}

Expected<hypomnesis::snapshot_options> limit_to_device(const Session& session,
                                                       const std::optional<std::string>& device,
                                                       hypomnesis::snapshot_options options) {
  if (!device) return options;
  const WaitingNotice notice;
  const auto index = find_device(session, *device);
  if (!index) return index.error();
  options.device_index = *index;
  return options;
}

namespace {

using hypomnesis::run_state;
using hypomnesis::vendor_id;

std::string_view get_pci_address(const hypomnesis::device& device) {
  return device.pci_bus_id ? std::string_view(*device.pci_bus_id) : std::string_view{};
}

// Follows the CUDA Programming Guide, "CUDA Environment Variables": UUIDs as printed by nvidia-smi
// -L, including MIG's, of which CUDA uses one at a time; indexes match nvidia-smi with
// CUDA_DEVICE_ORDER=PCI_BUS_ID.
Expected<Visibility> make_cuda_visibility(const std::vector<hypomnesis::device>& devices) {
  const bool have_uuids =
      std::all_of(devices.begin(), devices.end(), [](const auto& device) { return device.uuid; });
  std::vector<std::string> names;
  for (const auto& device : devices) {
    if (device.parent_index && devices.size() > 1)
      return make_failure(
          fmt::format("GPU {} is a partition, which CUDA uses alone", device.index));
    if (!have_uuids && (!device.driver_index || device.parent_index))
      return make_failure(
          fmt::format("GPU {} has no UUID to put into CUDA_VISIBLE_DEVICES", device.index));
    names.push_back(have_uuids ? *device.uuid : fmt::to_string(*device.driver_index));
  }
  Visibility visibility;
  if (!have_uuids) visibility.set.push_back({"CUDA_DEVICE_ORDER", "PCI_BUS_ID"});
  visibility.set.push_back({"CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(names, ","))});
  return visibility;
}

// Follows ROCm, "GPU isolation techniques": ROCR_VISIBLE_DEVICES takes "GPU-" and the card's unique
// id. The ROCr runtime refuses an id shared by several devices, as partitions of a card do
// (amd_filter_device.cpp). The other variables count within its selection.
Expected<Visibility> make_rocm_visibility(const std::vector<hypomnesis::device>& devices,
                                          const std::vector<hypomnesis::device>& all_devices) {
  const auto amd_device_count =
      std::count_if(all_devices.begin(), all_devices.end(), [](const hypomnesis::device& device) {
        return device.vendor == vendor_id::amd && device.state != run_state::lost;
      });
  std::vector<std::string> names;
  for (const auto& device : devices) {
    const auto same_id_count = std::count_if(
        all_devices.begin(), all_devices.end(),
        [&](const hypomnesis::device& other) { return other.uuid && other.uuid == device.uuid; });
    if (device.uuid && same_id_count == 1)
      names.push_back(*device.uuid);
    else if (amd_device_count == 1)
      names.push_back("0");
    else
      return make_failure(fmt::format(
          "GPU {} has no id of its own to put into ROCR_VISIBLE_DEVICES, and is not the only one",
          device.index));
  }
  Visibility visibility;
  visibility.unset = {"HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};
  visibility.set.push_back({"ROCR_VISIBLE_DEVICES", fmt::format("{}", fmt::join(names, ","))});
  return visibility;
}

// Follows the oneAPI Level Zero specification, "Environment Variables" and "Affinity Mask":
// ordinals in the driver's order, which can be forced to PCI order; with COMPOSITE they count cards
// rather than tiles.
Expected<Visibility> make_level_zero_visibility(
    const std::vector<hypomnesis::device>& devices,
    const std::vector<hypomnesis::device>& all_devices) {
  std::vector<std::ptrdiff_t> ordinals;
  for (const auto& device : devices) {
    if (get_pci_address(device).empty())
      return make_failure(
          fmt::format("GPU {} has no PCI address to count for ZE_AFFINITY_MASK", device.index));
    ordinals.push_back(
        std::count_if(all_devices.begin(), all_devices.end(), [&](const hypomnesis::device& other) {
          return other.vendor == vendor_id::intel && other.state != run_state::lost &&
                 !other.parent_index && !get_pci_address(other).empty() &&
                 get_pci_address(other) < get_pci_address(device);
        }));
  }
  Visibility visibility;
  visibility.set = {{"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"},
                    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1"},
                    {"ZE_AFFINITY_MASK", fmt::format("{}", fmt::join(ordinals, ","))}};
  return visibility;
}

}  // namespace

Expected<Visibility> make_visibility(const std::vector<hypomnesis::device>& devices,
                                     const std::vector<hypomnesis::device>& all_devices) {
  const auto vendor = devices.front().vendor;
  if (vendor == vendor_id::nvidia) return make_cuda_visibility(devices);
  if (vendor == vendor_id::amd) return make_rocm_visibility(devices, all_devices);
  if (vendor == vendor_id::intel) return make_level_zero_visibility(devices, all_devices);
  return Visibility{};
}

}  // namespace hmn::cli
