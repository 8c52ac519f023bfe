// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/shared/command_tool/description.hpp"
#include "platform/subprocess.hpp"
#include "source/interface.hpp"

namespace hmn::command_tool {

// Program on this machine.
class program {
 public:
  // Without a wanted path the default folders are searched. Never PATH: whoever sets it would
  // choose the program.
  program(const description& d, std::string wanted_path)
      : d_(d), wanted_path_(std::move(wanted_path)) {}

  // Checks for a program to run.
  result<void> find();
  // Returns true once after the file has been replaced.
  bool was_replaced();
  // Runs it until it exits, the deadline passes or the output limit is reached.
  platform::outcome run(std::vector<std::string> arguments, bool with_errors, reading& r) const;

  [[nodiscard]] const description& what() const noexcept { return d_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const description& d_;
  std::string wanted_path_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

}  // namespace hmn::command_tool
