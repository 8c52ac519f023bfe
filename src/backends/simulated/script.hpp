// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Machine and its changes: read once, then constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/reader.hpp"
#include "backends/simulated/recorded_machine.hpp"

namespace hmn::simulated {

inline constexpr std::size_t most_changes = 1000;

// Time of a change: one of the two.
struct moment {
  std::optional<std::uint64_t> at_reading;
  std::optional<std::uint64_t> after_ms;
};

class script {
 public:
  // Applies each change once its time has come and all earlier changes are applied.
  [[nodiscard]] const machine& at(std::uint64_t reading, std::uint64_t elapsed_ms) const noexcept;
  // Returns the recording of a machine's own files; empty if none.
  [[nodiscard]] const recorded_machine& recorded() const noexcept { return recorded_; }
  [[nodiscard]] const machine& beginning() const noexcept { return states_.front(); }
  // Whether any state of the host has the process.
  [[nodiscard]] bool knows(std::uint32_t pid) const noexcept;

 private:
  friend std::variant<script, problem> read_script(std::string_view text, std::uint32_t self_pid);

  std::vector<machine> states_;
  recorded_machine recorded_;
  std::vector<moment> moments_;  // [n]: from states_[n] to states_[n + 1]
};

std::variant<script, problem> read_script(std::string_view text, std::uint32_t self_pid);

}  // namespace hmn::simulated
