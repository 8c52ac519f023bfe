// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdlib>

#include "cli/system/process.hpp"
#include "cli/system/waiting.hpp"

namespace hmn::cli {

void block_driver_exits() noexcept {}

void exit_now(int code) noexcept {
  std::_Exit(code);
}

std::span<const SignalChoice> list_signal_choices() {
  return {};
}

std::optional<std::string> send_signal(std::uint32_t, int, const std::function<bool()>&) {
  return "this system has no process descriptors";
}

std::optional<procfs::Workload> read_process_workload(std::uint32_t) {
  return std::nullopt;
}

}  // namespace hmn::cli
