// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/verdict_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hmn::cli::fit {
namespace {

constexpr std::string_view weights_alone = "unknown: the weights alone fit";

// Formats "20 + 12".
std::string layers_of(const spread& placed) {
  std::string text;
  for (const auto& part : placed.parts)
    text += fmt::format("{}{}", text.empty() ? "" : " + ", part.layers);
  return text;
}

}  // namespace

verdict verdict_of(const answer& all) {
  auto best = verdict::unknown;
  const auto take = [&best](verdict is) {
    if (best == verdict::unknown || is < best) best = is;
  };
  if (all.together) return all.together->placed.whole.is;
  for (const auto& each : all.devices) take(each.placed.is);
  if (all.devices.empty()) take(all.in_ram.is);
  return best;
}

exit_code exit_code_of(verdict is) noexcept {
  switch (is) {
    case verdict::fits:
      return exit_code::done;
    case verdict::partly:
      return exit_code::tight;
    case verdict::does_not_fit:
      return exit_code::does_not_fit;
    case verdict::unknown:
      break;
  }
  return exit_code::failed;
}

std::string_view verdict_word(verdict is) noexcept {
  switch (is) {
    case verdict::fits:
      return "fits";
    case verdict::partly:
      return "partly";
    case verdict::does_not_fit:
      return "does_not_fit";
    case verdict::unknown:
      break;
  }
  return "unknown";
}

tone tone_of(verdict is) noexcept {
  switch (is) {
    case verdict::fits:
      return tone::good;
    case verdict::partly:
      return tone::warning;
    case verdict::does_not_fit:
      return tone::bad;
    case verdict::unknown:
      break;
  }
  return tone::faint;
}

std::string verdict_text(const answer& all, const device_answer& on) {
  if (!on.why_unknown.empty()) return "unknown: " + on.why_unknown;
  const auto layers = all.needs.layer_weights.size();
  switch (on.placed.is) {
    case verdict::fits:
      return "fits";
    case verdict::partly:
      if (on.placed.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPU", on.placed.layers, layers);
    case verdict::does_not_fit:
      return "does not fit";
    case verdict::unknown:
      break;
  }
  return std::string(weights_alone);
}

std::string together_text(const answer& all) {
  const auto& placed = all.together->placed;
  switch (placed.whole.is) {
    case verdict::fits:
      return fmt::format("fits: {} layers", layers_of(placed));
    case verdict::partly:
      if (placed.whole.layers == 0) return "does not fit: in RAM alone it does";
      return fmt::format("fits with {} of {} layers on the GPUs", layers_of(placed),
                         all.needs.layer_weights.size());
    case verdict::does_not_fit:
      return "does not fit";
    case verdict::unknown:
      break;
  }
  return all.ram_usable ? std::string(weights_alone) : "unknown: free RAM is not known";
}

std::string ram_verdict_text(const answer& all) {
  if (!all.ram_usable) return "unknown";
  if (all.in_ram.is == verdict::fits) return "fits";
  return all.in_ram.is == verdict::unknown ? std::string(weights_alone) : "does not fit";
}

}  // namespace hmn::cli::fit
