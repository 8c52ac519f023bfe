// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include "cli/inspect.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint32_t numbers = 64;  // of backends: a mask has as many bits

bool has_a_place_of_its_own(std::uint32_t number) {
  return number == HMN_BACKEND_NVML || number == HMN_BACKEND_NVIDIA_SMI ||
         number == HMN_BACKEND_SIMULATED;
}

finding inspect_source(std::string_view name, const hmn_backend_info& of) {
  const auto state = state_word(of.state).value_or("unknown");
  auto text = fmt::format("{}: {}", name, state);
  if (has(of, HMN_BACKEND_INFO_HAS_VERSION)) text += fmt::format(", {}", of.version);
  switch (of.state) {
    case HMN_STATE_READY:
    case HMN_STATE_ASLEEP:
      return {verdict::fine, text, {}};
    case HMN_STATE_ABSENT:
    case HMN_STATE_OFF:
    case HMN_STATE_UNKNOWN:
      break;
    default:
      return {verdict::trouble, of.message[0] != 0 ? text + ": " + of.message : text, {}};
  }
  return {verdict::note, of.message[0] != 0 ? text + ", " + of.message : text, {}};
}

}  // namespace

section inspect_sources(const context& in) {
  section out{"Sources", {}};
  for (std::uint32_t number = 1; number < numbers; ++number) {
    const std::string_view name = hmn_backend_name(number);
    if (name == "unknown" || has_a_place_of_its_own(number)) continue;
    if (const auto told = in.backend(number)) out.findings.push_back(inspect_source(name, *told));
  }
  return out;
}

}  // namespace hmn::cli
