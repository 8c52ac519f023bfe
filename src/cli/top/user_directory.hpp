// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hmn::cli::top {

// Names of users, looked up on a thread of its own: they may come over a network that hangs.
class user_directory {
 public:
  user_directory();
  // Returns the number until the name is known.
  std::string of(std::uint32_t pid, std::uint32_t uid);

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

}  // namespace hmn::cli::top
