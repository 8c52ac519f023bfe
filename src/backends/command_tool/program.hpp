// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/command_tool/description.hpp"
#include "platform/subprocess.hpp"

namespace hmn::command_tool {

// The program of this machine.
class program {
 public:
  // Without a wanted path it is looked for in its usual folders. Never in PATH: whoever sets it
  // would choose the program.
  program(const description& d, std::string wanted_path)
      : d_(d), wanted_path_(std::move(wanted_path)) {}

  // Is there one to run?
  result<void> find();
  // True once after another file has taken its place.
  bool was_replaced();
  // Runs it to its end, the deadline or the cap of output.
  platform::outcome run(std::vector<std::string> arguments, bool with_errors, reading& r) const;

  [[nodiscard]] const description& what() const noexcept { return d_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] failure not_here(const message_text& message) const {
    return {status::no_source, d_.from, {}, message};
  }

  const description& d_;
  std::string wanted_path_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

}  // namespace hmn::command_tool
