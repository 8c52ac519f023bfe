// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/measure/gpu_status.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

// Table of `hmn` on a terminal: a row for the RAM and one for each GPU, then the reasons of what is
// missing, as reason_lines returns them.
std::string summary_table(const std::optional<hypomnesis::system_memory>& ram,
                          const std::vector<gpu_status>& gpus,
                          const std::vector<std::string>& reasons, const style& as);

}  // namespace hmn::cli
