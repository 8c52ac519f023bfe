// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/simulated/reader.hpp"
#include "model/json.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// Contents of "recording" in a machine file.
struct recorded_machine {
  std::shared_ptr<platform::recording> answers;
  std::uint32_t moved = 0;  // bit n: roots[n] was not the default
};

recorded_machine read_recording(const json::value& v, const place& at, problems& found);

// Decodes pairs of hexadecimal digits; returns false if malformed.
bool read_hex(std::string_view digits, std::string& out);

}  // namespace hmn::simulated
