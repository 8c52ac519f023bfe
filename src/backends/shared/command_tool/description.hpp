// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/failure.hpp"

namespace hmn::command_tool {

// Vendor's management command, and the words used in its error messages.
struct description {
  failure_of fail;
  std::string_view name;  // "nvidia-smi"
  std::string_view gpu;   // "an NVIDIA GPU"
  std::uint32_t vendor;
  std::string_view driver;                    // of the kernel
  std::span<const std::string_view> folders;  // searched for the program; each ends with a slash
  std::string_view absent;                    // error if it is in none of them
  std::string_view when_late = {};            // advice if it does not answer
  std::string_view file = {};                 // of the program, if different from its name
  bool may_have_no_driver = false;            // a card without a driver may still be the tool's
  bool is_known_by_place = false;             // address is compared before the uuid
};

}  // namespace hmn::command_tool
