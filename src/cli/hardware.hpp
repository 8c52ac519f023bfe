// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn::cli {

// Where to look; the same variables as the library's move them.
struct roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  std::string top;       // where marks of containers lie; "" is the real root
  std::string cgroup{};  // mount of the control groups; "": as mountinfo says
};
roots roots_from_environment();

// A display or compute adapter on the PCI bus.
struct adapter {
  std::string address;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::string driver;          // of the kernel; empty: none is bound
  std::string runtime_status;  // "active", "suspended", …; empty: not told
};
std::vector<adapter> find_adapters(const roots& in);
// "0000:01:00.0 NVIDIA [10de:2684]"
std::string describe(const adapter& of);

// At most 1 MiB of a file; nothing when it cannot be read.
std::optional<std::string> read_text_file(const std::string& path);
std::optional<std::string> read_link_target(const std::string& path);
std::vector<std::string> list_folder(const std::string& path);

}  // namespace hmn::cli
