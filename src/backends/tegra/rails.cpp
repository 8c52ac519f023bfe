// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/rails.hpp"

#include <algorithm>
#include <utility>

#include "backends/tegra/files.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"

namespace hmn::tegra {
namespace {

// TX1, Nano, TX2, AGX Xavier.
constexpr std::string_view own[] = {"VDD_GPU", "POM_5V_GPU", "VDD_SYS_GPU", "GPU"};
// AGX Orin; Xavier NX, Orin NX and Nano.
constexpr std::string_view shared[] = {"VDD_GPU_SOC", "VDD_CPU_GPU_CV"};

template <std::size_t N>
bool is_in(const std::string_view (&labels)[N], std::string_view label) noexcept {
  return std::ranges::find(labels, label) != std::end(labels);
}

void look_at(const std::string& folder, rail& best, bool& is_sure) {
  for (const char channel : {'1', '2', '3'}) {
    const char name[] = {'i', 'n', channel, '_', 'l', 'a', 'b', 'e', 'l', '\0'};
    auto told = read_line(folder, name);
    if (may_pass(told.error)) is_sure = false;
    std::string label = std::move(told.value);
    const feeds what = rail_of(label);
    const bool is_better = what == feeds::gpu_alone || best.what == feeds::nothing_of_it;
    if (what == feeds::nothing_of_it || !is_better) continue;
    best = {what, folder, channel, std::move(label)};
  }
}

}  // namespace

feeds rail_of(std::string_view label) noexcept {
  if (is_in(own, label)) return feeds::gpu_alone;
  return is_in(shared, label) ? feeds::gpu_and_others : feeds::nothing_of_it;
}

rail find_rail(std::string_view sys_root, bool& is_sure) {
  rail best;
  const std::string sensors = compose({sys_root, "/class/hwmon"});
  const int error = platform::for_each_entry(sensors.c_str(), [&](std::string_view name) {
    const std::string folder = compose({sensors, "/", name});
    const auto chip = read_line(folder, "name");
    if (may_pass(chip.error)) is_sure = false;
    if (chip.value == "ina3221") look_at(folder, best, is_sure);
    return best.what != feeds::gpu_alone;
  });
  if (may_pass(error)) is_sure = false;
  return best;
}

std::optional<double> read_power(const rail& r) {
  if (r.what == feeds::nothing_of_it) return std::nullopt;
  const std::string_view channel(&r.channel, 1);
  const auto millivolts = read_number(r.folder, compose({"in", channel, "_input"}));
  const auto milliamperes = read_number(r.folder, compose({"curr", channel, "_input"}));
  if (!millivolts || !milliamperes || millivolts.value < 0 || milliamperes.value < 0) return {};
  return static_cast<double>(millivolts.value) * static_cast<double>(milliamperes.value) * 1e-6;
}

}  // namespace hmn::tegra
