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

bool all_digits(std::string_view text) {
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
  for (const std::string_view kind : {"uuid:", "pci:", "luid:", "render:", "driver:"})
    if (text.starts_with(kind)) return true;
  return false;
}

Failure no_such_device(std::string_view text, std::string_view why) {
  return failed(fmt::format("--device \"{}\": {}", text, why));
}

Failure out_of_range(std::string_view text, const DeviceList& among) {
  const auto count = among.devices.size();
  if (count == 0)
    return no_such_device(text, among.why_failed.value_or("no such device: there is none"));
  if (count == 1) return no_such_device(text, "no such device: the only index is 0");
  return no_such_device(text, fmt::format("no such device: indexes are 0 to {}", count - 1));
}

}  // namespace

Expected<std::variant<DeviceIndex, DeviceKey>> parse_device_argument(std::string_view text) {
  using Argument = std::variant<DeviceIndex, DeviceKey>;
  if (all_digits(text)) {
    DeviceIndex index = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
    if (parsed.ec == std::errc{}) return Argument(index);
    return misused(fmt::format("--device \"{}\": too large for an index", text));
  }
  if (has_key_prefix(text)) return Argument(std::string(text));
  if (looks_like_pci_address(text)) return Argument(fmt::format("pci:{}", text));
  if (looks_like_uuid(text)) return Argument(fmt::format("uuid:{}", text));
  if (text.find(',') != text.npos)
    return misused(fmt::format("--device \"{}\": expected one device", text));
  return misused(fmt::format(
      "--device \"{}\": expected an index (0), a UUID (GPU-...) or a PCI address (0000:01:00.0)",
      text));
}

Expected<std::vector<std::string>> parse_device_list(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const auto& each : given) {
    for (const auto name : split_list(each)) {
      if (const auto argument = parse_device_argument(name); !argument) return argument.why();
      all.emplace_back(name);
    }
  }
  return all;
}

Expected<DeviceIndex> find_device(const Session& in, std::string_view text) {
  const auto argument = parse_device_argument(text);
  if (!argument) return argument.why();
  const auto& among = in.listed();
  if (const auto* index = std::get_if<DeviceIndex>(&*argument)) {
    if (*index >= among.devices.size()) return out_of_range(text, among);
    return *index;
  }
  if (among.devices.empty() && among.why_failed) return no_such_device(text, *among.why_failed);
  try {
    return in.library().find_device(std::get<DeviceKey>(*argument));
  } catch (const hypomnesis::error& why) {
    return no_such_device(text, why.what());
  }
}

Expected<std::vector<DeviceIndex>> find_devices(const Session& in,
                                                const std::vector<std::string>& given) {
  std::vector<DeviceIndex> all;
  for (const auto& each : given) {
    const auto found = find_device(in, each);
    if (!found) return found.why();
    if (std::find(all.begin(), all.end(), *found) == all.end()) all.push_back(*found);
  }
  return all;
}

std::string parts_of(DeviceIndex whole, const std::vector<hypomnesis::device>& among) {
  std::string parts;
  for (const auto& each : among)
    if (each.parent_index == whole)
      parts += fmt::format("{}{}", parts.empty() ? "--device " : ", ", each.index);
  return parts;
}

Expected<hypomnesis::snapshot_options> of_one_device(const Session& in,
                                                     const std::optional<std::string>& device,
                                                     hypomnesis::snapshot_options what) {
  if (!device) return what;
  const WaitingNotice notice;
  const auto index = find_device(in, *device);
  if (!index) return index.why();
  what.device_index = *index;
  return what;
}

namespace {

using hypomnesis::run_state;
using hypomnesis::vendor_id;

std::string_view pci_of(const hypomnesis::device& of) {
  return of.pci_bus_id ? std::string_view(*of.pci_bus_id) : std::string_view{};
}

// Follows the CUDA Programming Guide, "CUDA Environment Variables": UUIDs as printed by nvidia-smi
// -L, including MIG's, of which CUDA uses one at a time; indexes match nvidia-smi with
// CUDA_DEVICE_ORDER=PCI_BUS_ID.
Expected<Visibility> for_cuda(const std::vector<hypomnesis::device>& chosen) {
  const bool have_uuids =
      std::all_of(chosen.begin(), chosen.end(), [](const auto& each) { return each.uuid; });
  std::vector<std::string> names;
  for (const auto& each : chosen) {
    if (each.parent_index && chosen.size() > 1)
      return failed(fmt::format("GPU {} is a partition, which CUDA uses alone", each.index));
    if (!have_uuids && (!each.driver_index || each.parent_index))
      return failed(fmt::format("GPU {} has no UUID to put into CUDA_VISIBLE_DEVICES", each.index));
    names.push_back(have_uuids ? *each.uuid : fmt::to_string(*each.driver_index));
  }
  Visibility out;
  if (!have_uuids) out.set.push_back({"CUDA_DEVICE_ORDER", "PCI_BUS_ID"});
  out.set.push_back({"CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(names, ","))});
  return out;
}

// Follows ROCm, "GPU isolation techniques": ROCR_VISIBLE_DEVICES takes "GPU-" and the card's unique
// id. The ROCr runtime refuses an id shared by several devices, as partitions of a card do
// (amd_filter_device.cpp). The other variables count within its selection.
Expected<Visibility> for_rocm(const std::vector<hypomnesis::device>& chosen,
                              const std::vector<hypomnesis::device>& all) {
  const auto of_amd = std::count_if(all.begin(), all.end(), [](const hypomnesis::device& each) {
    return each.vendor == vendor_id::amd && each.state != run_state::lost;
  });
  std::vector<std::string> names;
  for (const auto& one : chosen) {
    const auto same_id = std::count_if(all.begin(), all.end(), [&](const hypomnesis::device& each) {
      return each.uuid && each.uuid == one.uuid;
    });
    if (one.uuid && same_id == 1)
      names.push_back(*one.uuid);
    else if (of_amd == 1)
      names.push_back("0");
    else
      return failed(fmt::format(
          "GPU {} has no id of its own to put into ROCR_VISIBLE_DEVICES, and is not the only one",
          one.index));
  }
  Visibility out;
  out.unset = {"HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};
  out.set.push_back({"ROCR_VISIBLE_DEVICES", fmt::format("{}", fmt::join(names, ","))});
  return out;
}

// Follows the oneAPI Level Zero specification, "Environment Variables" and "Affinity Mask":
// ordinals in the driver's order, which can be forced to PCI order; with COMPOSITE they count cards
// rather than tiles.
Expected<Visibility> for_level_zero(const std::vector<hypomnesis::device>& chosen,
                                    const std::vector<hypomnesis::device>& all) {
  std::vector<std::ptrdiff_t> ordinals;
  for (const auto& one : chosen) {
    if (pci_of(one).empty())
      return failed(
          fmt::format("GPU {} has no PCI address to count for ZE_AFFINITY_MASK", one.index));
    ordinals.push_back(std::count_if(all.begin(), all.end(), [&](const hypomnesis::device& each) {
      return each.vendor == vendor_id::intel && each.state != run_state::lost &&
             !each.parent_index && !pci_of(each).empty() && pci_of(each) < pci_of(one);
    }));
  }
  Visibility out;
  out.set = {{"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"},
             {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1"},
             {"ZE_AFFINITY_MASK", fmt::format("{}", fmt::join(ordinals, ","))}};
  return out;
}

}  // namespace

Expected<Visibility> make_visible(const std::vector<hypomnesis::device>& chosen,
                                  const std::vector<hypomnesis::device>& all) {
  const auto vendor = chosen.front().vendor;
  if (vendor == vendor_id::nvidia) return for_cuda(chosen);
  if (vendor == vendor_id::amd) return for_rocm(chosen, all);
  if (vendor == vendor_id::intel) return for_level_zero(chosen, all);
  return Visibility{};
}

}  // namespace hmn::cli
