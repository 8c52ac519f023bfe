// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/expected.hpp"
#include "cli/measure/session.hpp"

namespace hmn::cli {

using DeviceIndex = std::uint32_t;
using DeviceKey = std::string;  // in the form of hmn_device_find

// Parses an index, a UUID, a PCI address, or a key of hmn_device_find.
Expected<std::variant<DeviceIndex, DeviceKey>> parse_device_argument(std::string_view text);

// Splits the values of --device, which may be repeated and contain commas: "0,GPU-...".
Expected<std::vector<std::string>> parse_device_list(const std::vector<std::string>& values);

// Returns the index of the device that --device names.
Expected<DeviceIndex> find_device(const Session& session, std::string_view text);

// Returns the indexes of several devices, without duplicates, in the order given.
Expected<std::vector<DeviceIndex>> find_devices(const Session& session,
                                                const std::vector<std::string>& names);

// Returns "--device 1, 2" for the partitions of a device that are devices themselves; empty: it has
// none.
std::string format_partition_option(DeviceIndex parent_index,
                                    const std::vector<hypomnesis::device>& devices);

// Limits a snapshot to the device of --device, if given; prints a notice while it waits for a
// driver.
Expected<hypomnesis::snapshot_options> limit_to_device(const Session& session,
                                                       const std::optional<std::string>& device,
                                                       hypomnesis::snapshot_options options);

struct EnvironmentVariable {
  const char* name;
  std::string value;
};

// Environment variables that restrict a vendor's runtime to some devices.
struct Visibility {
  std::vector<EnvironmentVariable> set;
  std::vector<const char*> unset;  // they would select among the remaining devices
};

// `devices` are of one vendor, in the order that the runtime is to use. Returns an empty result for
// a vendor without such variables; fails for a device that the runtime has no name for.
Expected<Visibility> make_visibility(const std::vector<hypomnesis::device>& devices,
                                     const std::vector<hypomnesis::device>& all_devices);

}  // namespace hmn::cli
