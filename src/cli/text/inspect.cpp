// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/inspect.hpp"

#include <fmt/format.h>

#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint32_t numbers = 64;  // of backends: a mask has as many bits

bool has_a_place_of_its_own(std::uint32_t number) {
  return number == HMN_BACKEND_NVML || number == HMN_BACKEND_NVIDIA_SMI ||
         number == HMN_BACKEND_SIMULATED;
}

constexpr std::uint64_t bit(std::uint32_t number) {
  return std::uint64_t{1} << number;
}

// The sources that one system alone has.
constexpr std::uint64_t systems[] = {
    bit(HMN_BACKEND_AMDGPU) | bit(HMN_BACKEND_KFD) | bit(HMN_BACKEND_ROCM_SMI) |
        bit(HMN_BACKEND_I915) | bit(HMN_BACKEND_XE) | bit(HMN_BACKEND_DRM) |
        bit(HMN_BACKEND_TEGRA) | bit(HMN_BACKEND_DMEM) | bit(HMN_BACKEND_AMD_SMI),
    bit(HMN_BACKEND_DXGI) | bit(HMN_BACKEND_PDH),
    bit(HMN_BACKEND_METAL) | bit(HMN_BACKEND_MACMON),
};

// Of a system none of whose sources this library has.
std::uint64_t of_other_systems() {
  std::uint64_t here = 0;
  for (std::uint32_t number = 1; number < numbers; ++number) {
    if (hmn_feature(HMN_FEATURE_BACKEND + number) != 0) here |= bit(number);
  }
  std::uint64_t others = 0;
  for (const std::uint64_t system : systems) {
    if ((system & here) == 0) others |= system;
  }
  return others;
}

// Another has answered in its place.
bool was_asked(const hmn_backend_info& of) {
  return of.state != HMN_STATE_UNKNOWN || of.status != HMN_E_EMPTY;
}

finding inspect_source(std::string_view name, const hmn_backend_info& of) {
  const auto state = was_asked(of) ? state_word(of.state).value_or("unknown") : "not needed";
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

std::string native_text(const hmn_backend_info& of) {
  const bool told = std::string_view(of.message).find("code ") != std::string_view::npos;
  if (told) return {};
  if (of.native_domain == HMN_NATIVE_NVML) return fmt::format(" (NVML code {})", of.native_code);
  if (of.native_domain == HMN_NATIVE_EXIT) return fmt::format(" (exit code {})", of.native_code);
  if (of.native_domain == HMN_NATIVE_ERRNO) return fmt::format(" (errno {})", of.native_code);
  if (of.native_domain == HMN_NATIVE_WIN32)
    return fmt::format(" (Windows error {})", of.native_code);
  return {};
}

}  // namespace

finding fine(std::string text) {
  return {verdict::fine, std::move(text), {}};
}
finding note(std::string text) {
  return {verdict::note, std::move(text), {}};
}
finding trouble(std::string text, std::string advice) {
  return {verdict::trouble, std::move(text), std::move(advice)};
}

finding inspect_backend(std::string_view name, const hmn_backend_info& of, bool needed) {
  if (of.state == HMN_STATE_READY || of.state == HMN_STATE_ASLEEP) {
    const auto version = (of.present & HMN_BACKEND_INFO_HAS_VERSION) != 0
                             ? fmt::format(", driver {}", of.version)
                             : std::string();
    return fine(fmt::format("{} answers{}", name, version));
  }
  if (!was_asked(of)) return note(fmt::format("{}: not needed", name));
  const auto text =
      fmt::format("{}: {}{}", name, of.message[0] != 0 ? of.message : hmn_status_name(of.status),
                  native_text(of));
  return needed && of.state != HMN_STATE_OFF ? trouble(text) : note(text);
}

section inspect_sources(const context& in) {
  section out{"Sources", {}};
  const std::uint64_t others = of_other_systems();
  for (std::uint32_t number = 1; number < numbers; ++number) {
    const std::string_view name = hmn_backend_name(number);
    if (name == "unknown" || has_a_place_of_its_own(number)) continue;
    if ((bit(number) & others) != 0) continue;
    if (const auto told = in.backend(number)) out.findings.push_back(inspect_source(name, *told));
  }
  return out;
}

}  // namespace hmn::cli
