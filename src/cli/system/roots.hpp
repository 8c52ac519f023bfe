// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>

namespace hmn::cli {

// Locations of system files on Linux, moved by the same variables as the library's.
struct roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  std::string top;       // location of container markers; "" is the real root
  std::string cgroup{};  // mount of the control groups; "": from mountinfo
};
roots roots_from_environment();

}  // namespace hmn::cli
