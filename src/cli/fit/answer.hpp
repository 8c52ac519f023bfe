// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/demand.hpp"
#include "cli/fit/placement.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli::fit {

// Device and the parts of the model that it takes.
struct device_answer {
  gpu on;
  std::vector<hypomnesis::pool> pools;
  std::optional<std::uint64_t> usable;
  bool shares_ram = false;
  placement placed;
  std::string why_unknown;
};

// Devices that share the model.
struct together_answer {
  std::vector<std::size_t> devices;  // positions in the answer's
  std::uint64_t usable = 0;          // RAM that several share is counted once
  spread placed;
};

struct answer {
  model of;
  demand needs;
  std::vector<device_answer> devices;
  std::optional<together_answer> together;
  std::optional<std::uint64_t> ram_usable;
  std::optional<std::uint64_t> ram_beside;  // what of it is no device's memory
  placement in_ram;                         // the whole model, without a device
};

// Reserve on each device for the runtime itself.
constexpr std::uint64_t reserve_bytes = 512u << 20;

// Returns the verdict of the devices together, else the best single one; without devices that of
// RAM.
verdict verdict_of(const answer& all);
exit_code exit_code_of(verdict is) noexcept;

std::string_view verdict_word(verdict is) noexcept;      // for JSON: "fits", "partly"
std::string_view precision_word(precision is) noexcept;  // "counted", "at_least", "about"
// Formats "fits", "fits with 20 of 32 layers on the GPU", "does not fit", "unknown: asleep".
std::string verdict_text(const answer& all, const device_answer& on);
std::string together_text(const answer& all);

std::string answer_text(const answer& all, const fit_options& asked, const style& as);
std::string answer_json(const answer& all, const fit_options& asked);

}  // namespace hmn::cli::fit
