// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nvidia_smi/rows.hpp"
#include "model/failure.hpp"

namespace hmn::nvidia_smi {

// Fields that a row has no value for, alike ones together.
struct missing {
  std::uint32_t fields = 0;
  status code = status::unsupported;
  std::string message;
};

void add_missing(std::vector<missing>& to, std::uint32_t field, status code, std::string message);

// Says why `cell` gave no value: its own word, or that the tool has no such column.
void add_missing(std::vector<missing>& to, std::uint32_t field, status code, const gpu_cell& cell);

}  // namespace hmn::nvidia_smi
