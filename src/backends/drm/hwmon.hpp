// SPDX-License-Identifier: MIT OR Apache-2.0
//
// <device>/hwmon/hwmon<N>: sensors by their labels, since numbers moved between kernel versions.
// Reading one may wake a sleeping card.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/errno_or.hpp"

namespace hmn::drm {

// The folder of the sensor chip that calls itself `name`; any when it is empty. Empty: none, or
// `error` is why it cannot be told.
std::string find_hwmon(std::string_view device_folder, std::string_view name, int* error = nullptr);

// Of the inputs "<kind><digits>_input" ("temp", "energy", "fan") the one whose "_label" is `label`;
// with an empty label the one with the lowest number that has no label at all. "temp2"; empty:
// none.
std::string find_input(std::string_view hwmon, std::string_view kind, std::string_view label);

}  // namespace hmn::drm
