// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/command_group.hpp"

namespace hmn::cli {

struct command_group::state {};

const command_group::kind& command_group::what() {
  static constexpr kind is{"control group", "control_group", ""};
  return is;
}

expected<command_group> command_group::make(const roots&) {
  return failed("macOS does not count the memory of several processes together");
}

command_group::command_group(std::unique_ptr<state> made) : state_(std::move(made)) {}
command_group::command_group(command_group&& other) noexcept = default;
command_group::~command_group() = default;

expected<child> command_group::start(const std::vector<std::string>& command, std::string&) const {
  return child::start(command);
}

std::optional<std::uint64_t> command_group::peak_bytes() const {
  return std::nullopt;
}

std::optional<std::uint64_t> command_group::current_bytes() const {
  return std::nullopt;
}

std::vector<std::uint32_t> command_group::processes() const {
  return {};
}

}  // namespace hmn::cli
