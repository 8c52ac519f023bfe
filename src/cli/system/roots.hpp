// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

namespace hmn::cli {

// Where to look on Linux; the same variables as the library's move them.
struct roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  std::string top;       // where marks of containers lie; "" is the real root
  std::string cgroup{};  // mount of the control groups; "": as mountinfo says
};
roots roots_from_environment();

}  // namespace hmn::cli
