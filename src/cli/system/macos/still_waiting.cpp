// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/waiting_notice.hpp"

namespace hmn::cli {

constinit const std::string_view still_waiting = "hmn: still waiting for a driver\n";

}  // namespace hmn::cli
