// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/choices.hpp"
#include "cli/fit/demand.hpp"
#include "cli/fit/placement.hpp"
#include "cli/measure/gpu.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli::fit {

// Device and the part of the model that fits on it.
struct DeviceAnswer {
  Gpu gpu;
  std::vector<hypomnesis::pool> pools;
  std::optional<std::uint64_t> usable;
  bool shares_ram = false;
  Placement placement;
  std::string unknown_reason;
};

// Devices that share the model.
struct CombinedAnswer {
  std::vector<std::size_t> devices;  // indices into the answer's devices
  std::uint64_t usable = 0;          // RAM that several share is counted once
  CombinedPlacement placement;
};

// File of a folder, as the answer would be for it.
struct FileAnswer {
  std::string name;
  std::uint64_t weights = 0;
  std::optional<double> bits;  // per weight
  Verdict verdict = Verdict::unknown;
};

struct Answer {
  Model model;
  Demand demand;
  std::vector<DeviceAnswer> devices;
  std::optional<CombinedAnswer> combined;
  std::optional<std::uint64_t> ram_usable;
  std::optional<std::uint64_t> host_only_ram;  // the part that is no device's memory
  Placement ram_placement;                     // the whole model, without a device
  std::vector<std::size_t> target;  // indices of the devices that the choices are for; empty: RAM
  std::vector<Choice> choices;
  std::optional<double> fitting_bits;  // of a file that would fit on the target
  std::string path;                    // of the model's file or folder
  std::vector<FileAnswer> files;       // of a folder that has several; empty: one
};

// Returns the verdict of the combined devices, else of the best single one; without devices that of
// RAM.
Verdict choose_verdict(const Answer& answer);
ExitCode choose_exit_code(Verdict verdict) noexcept;

std::string_view verdict_word(Verdict verdict) noexcept;        // for JSON: "fits", "partly"
std::string_view precision_word(Precision precision) noexcept;  // "counted", "at_least", "about"
// Formats "fits", "fits with 20 of 32 layers on the GPU", "does not fit", "unknown: asleep".
std::string format_verdict(const Answer& answer, const DeviceAnswer& device);
std::string format_combined_verdict(const Answer& answer);

std::string format_answer_text(const Answer& answer, const FitOptions& options, const Style& style);
std::string format_answer_json(const Answer& answer, const FitOptions& options);

}  // namespace hmn::cli::fit
