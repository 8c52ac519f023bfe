// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace hmn::cli {

// Returns none for a variable that is unset, empty or ignored. Ignored are HMN_* after a privileged
// start, and the roots of /proc, /sys and similar on systems without them.
std::optional<std::string> get_environment(const char* name);
// The same, but none for any variable after a privileged start.
std::optional<std::string> get_trusted_environment(const char* name);
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
Roots read_roots();

// Environment that determines the format of text.
struct Environment {
  bool is_terminal = false;
  unsigned columns = 0;  // 0: unknown
  unsigned lines = 0;    // 0: unknown
  std::string term;      // "dumb": no colours
  std::string no_color;
  std::string locale;  // the first nonempty one of LC_ALL, LC_CTYPE, LANG
};
Environment detect_output_environment();

}  // namespace hmn::cli
