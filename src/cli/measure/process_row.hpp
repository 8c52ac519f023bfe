// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/measure/gpu.hpp"
#include "cli/measure/sort_key.hpp"

namespace hmn::cli {

// Process on one device.
struct process_row {
  hypomnesis::usage usage{};
  std::shared_ptr<const gpu> on;  // never null
  bool is_unattributed = false;   // use by no visible process, in the same values
  // Looked up on request only.
  std::optional<std::string> user;
  std::optional<std::uint32_t> namespace_pid;
};

// Shortens an id to 12 digits, as the runtimes' own commands do; a name stays as it is.
std::string short_container(std::string_view id);

void sort_rows(std::vector<process_row>& rows, sort_key by);

struct process_filter {
  std::optional<std::uint32_t> pid;
  std::optional<std::string> device;  // as given by the user
  std::optional<std::string> match;
};

// Returns "2 GPU processes found matching device=0 (512 MiB allocated total).". is_partial: rows
// are missing.
std::string count_sentence(const std::vector<process_row>& rows, const process_filter& filter,
                           bool is_partial = false);

}  // namespace hmn::cli
