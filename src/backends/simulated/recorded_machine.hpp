// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/simulated/reader.hpp"
#include "model/json_value.hpp"
#include "platform/recording.hpp"

namespace hmn::simulated {

// The "recording" of a machine file.
struct recorded_machine {
  std::shared_ptr<platform::recording> answers;
  std::uint32_t moved = 0;  // bit n: roots[n] was not the usual place
};

recorded_machine read_recording(const json::value& v, const place& at, problems& found);

// Bytes of a text of two hexadecimal digits each; false when it is none.
bool read_hex(std::string_view digits, std::string& out);

}  // namespace hmn::simulated
