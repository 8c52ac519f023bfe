// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "cli/colour.hpp"
#include "cli/expected.hpp"

namespace hmn::cli {

enum class command { summary, ps, snapshot, doctor };
enum class sort_key { vram, shared, total, ram, pid, name };

struct options {
  command run = command::summary;
  std::uint32_t timeout_ms = 60'000;
  bool trace = false;
  std::string machine;
  colour_choice colour = colour_choice::automatic;
  bool json = false;
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;
  std::optional<std::string> match;
  sort_key sort = sort_key::vram;
};

// The answer to --help or --version.
struct information {
  std::string text;
};

expected<std::variant<options, information>> parse_options(int argc, const char* const* argv);

}  // namespace hmn::cli
