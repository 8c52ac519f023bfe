// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/amdgpu.hpp"
#include "backends/amdgpu/sysfs.hpp"
#include "fuzz.hpp"
#include "model/telemetry.hpp"

using namespace hmn;
using namespace hmn::amdgpu;

namespace {

void check_table(std::string_view input) {
  const auto metrics = parse_gpu_metrics(input);
  if (!metrics) return;
  promise(input.size() >= 32);
  constexpr std::uint32_t known_bits =
      throttle::power | throttle::thermal | throttle::hardware | throttle::other;
  promise(!metrics->throttle || (convert_throttle(*metrics->throttle) & ~known_bits) == 0);
  promise(!metrics->media_percent || *metrics->media_percent >= 0);
  promise(!metrics->regulator_celsius || *metrics->regulator_celsius > 0);
  promise(!metrics->energy_joules || *metrics->energy_joules > 0);
}

}  // namespace

void fuzz(std::string_view input) {
  const ClockLevels levels = parse_clock_levels(input);
  promise(!levels.current_mhz || *levels.current_mhz <= levels.max_mhz.value_or(0));
  const ErrorCounts errors = parse_error_counts(input);
  promise((!errors.corrected && !errors.uncorrected) || input.find(':') != std::string_view::npos);
  const auto uuid = format_uuid(input);
  promise(uuid.empty() || uuid.view().size() == 20);
  const std::string_view name = find_marketing_name(input, 0x15bf, 0xc1);
  promise(is_inside(name, input));
  check_table(input);
}
