// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace hmn::cli {

// Returns none for a variable that is unset, empty or ignored: HMN_* after a privileged start,
// those of trees on a system without them.
std::optional<std::string> environment_value(const char* name);
std::string host_name();
void set_environment(const char* name, const std::string& value);
void unset_environment(const char* name);

// Locations of system files on Linux, moved by the same variables as the library's.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  std::string top;       // location of container markers; "" is the real root
  std::string cgroup{};  // mount of the control groups; "": from mountinfo
};
Roots roots_from_environment();

// Environment that determines the format of text.
struct Surroundings {
  bool is_terminal = false;
  unsigned columns = 0;  // 0: unknown
  unsigned lines = 0;    // 0: unknown
  std::string term;      // "dumb": no colours
  std::string no_color;
  std::string locale;  // the first nonempty one of LC_ALL, LC_CTYPE, LANG
};
Surroundings standard_output_surroundings();

}  // namespace hmn::cli
