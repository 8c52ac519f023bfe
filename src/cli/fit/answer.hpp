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
struct DeviceAnswer {
  Gpu on;
  std::vector<hypomnesis::pool> pools;
  std::optional<std::uint64_t> usable;
  bool shares_ram = false;
  Placement placed;
  std::string why_unknown;
};

// Devices that share the model.
struct TogetherAnswer {
  std::vector<std::size_t> devices;  // positions in the answer's
  std::uint64_t usable = 0;          // RAM that several share is counted once
  Spread placed;
};

struct Answer {
  Model of;
  Demand needs;
  std::vector<DeviceAnswer> devices;
  std::optional<TogetherAnswer> together;
  std::optional<std::uint64_t> ram_usable;
  std::optional<std::uint64_t> ram_beside;  // what of it is no device's memory
  Placement in_ram;                         // the whole model, without a device
};

// Reserve on each device for the runtime itself.
constexpr std::uint64_t reserve_bytes = 512u << 20;

// Returns the verdict of the devices together, else the best single one; without devices that of
// RAM.
Verdict verdict_of(const Answer& all);
ExitCode exit_code_of(Verdict is) noexcept;

std::string_view verdict_word(Verdict is) noexcept;      // for JSON: "fits", "partly"
std::string_view precision_word(Precision is) noexcept;  // "counted", "at_least", "about"
// Formats "fits", "fits with 20 of 32 layers on the GPU", "does not fit", "unknown: asleep".
std::string verdict_text(const Answer& all, const DeviceAnswer& on);
std::string together_text(const Answer& all);

std::string answer_text(const Answer& all, const FitOptions& asked, const Style& as);
std::string answer_json(const Answer& all, const FitOptions& asked);

}  // namespace hmn::cli::fit
