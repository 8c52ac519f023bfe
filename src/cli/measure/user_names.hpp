// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace hmn::cli {

// Names of users, each looked up once, on a thread: they may come over a network that hangs.
class user_names {
 public:
  using clock = std::chrono::steady_clock;

  explicit user_names(bool is_simulated);
  // Waits for a name that is new until that time; then, and in a simulated machine, whose users are
  // not of this one, returns the number.
  std::optional<std::string> of(const hypomnesis::usage& row, clock::time_point until);

 private:
  struct shared;
  std::shared_ptr<shared> shared_;  // NULL: simulated
};

}  // namespace hmn::cli
