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

// Returns what --device names, which may be given several times and have commas: "0,GPU-...".
Expected<std::vector<std::string>> parse_device_list(const std::vector<std::string>& given);

// Returns the index of the device that --device names.
Expected<DeviceIndex> find_device(const Session& in, std::string_view text);

// Returns the indexes of several, each once, in the order given.
Expected<std::vector<DeviceIndex>> find_devices(const Session& in,
                                                const std::vector<std::string>& given);

// Returns "--device 1, 2" for the parts of a device that are devices of their own; empty: none is.
std::string parts_of(DeviceIndex whole, const std::vector<hypomnesis::device>& among);

// Limits a snapshot to the device of --device, if given; says if it waits for a driver.
Expected<hypomnesis::snapshot_options> of_one_device(const Session& in,
                                                     const std::optional<std::string>& device,
                                                     hypomnesis::snapshot_options what);

struct Variable {
  const char* name;
  std::string value;
};

// Environment variables that restrict a vendor's runtime to some devices.
struct Visibility {
  std::vector<Variable> set;
  std::vector<const char*> unset;  // that would choose among the remaining devices
};

// Takes devices of one vendor in the order that the runtime is to have. Returns an empty result for
// a vendor without such variables; fails for a device that the runtime has no name for.
Expected<Visibility> make_visible(const std::vector<hypomnesis::device>& chosen,
                                  const std::vector<hypomnesis::device>& all);

}  // namespace hmn::cli
