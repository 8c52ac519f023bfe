// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/failure.hpp"

namespace hmn::command_tool {

// A vendor's management command, and the words that its failures are made of.
struct description {
  source from;
  std::string_view name;  // "nvidia-smi"
  std::string_view gpu;   // "an NVIDIA GPU"
  std::uint32_t vendor;
  std::string_view driver;                    // the kernel's
  std::span<const std::string_view> folders;  // where it is looked for; each ends with a slash
  std::string_view absent;                    // why it is in none of them
  std::string_view when_late = {};            // what may help when it does not answer
  std::string_view file = {};                 // of the program, where it is not its name
  bool may_have_no_driver = false;            // a card without one may still be the tool's
  bool is_known_by_place = false;             // a card is told by its address before its uuid

  [[nodiscard]] failure fail(status code, const message_text& message) const {
    return failure_of{from}(code, message);
  }
};

}  // namespace hmn::command_tool
