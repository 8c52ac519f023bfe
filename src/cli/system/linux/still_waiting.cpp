// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting_notice.hpp"

namespace hmn::cli {

constinit const std::string_view still_waiting =
    "hmn: still waiting for a driver; without persistence mode NVIDIA's takes seconds to start "
    "(to keep it loaded, run nvidia-persistenced or nvidia-smi -pm 1)\n";

}  // namespace hmn::cli
