// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/library.hpp"

#include <utility>

#include "backends/nvml/call.hpp"
#include "backends/nvml/system.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {

void named_symbol::find(const platform::library& from) noexcept {
  address = nullptr;
  for (generation = 0; generation < names.size() && names[generation] != nullptr; ++generation) {
    address = from.symbol(names[generation]);
    if (address != nullptr) return;
  }
  generation = 0;
}

void symbols::find(const platform::library& from) noexcept {
  const auto each = [&](auto&... all) { (all.find(from), ...); };
  each(init_with_flags, init, shutdown, driver_version, cuda_version_v2, cuda_version);
  each(count, by_index, name, uuid, pci, virtualization, architecture, compute_capability);
  each(memory_v2, memory_v1, bar1, numa_node, c2c, addressing);
  each(compute, mps, graphics);
  each(mig_mode, mig_count, mig_by_index, gpu_instance, compute_instance);
  each(utilization, encoder, decoder, temperature_v, temperature, power, power_limit, energy);
  each(max_clock, threshold, default_power_limit, power_limits, pcie_replays, ecc_errors);
  each(remapped_rows, process_use, accounting_mode, account, fan_count);
  each(clock, fan, fan_of, pcie_generation, pcie_width, p_state, clock_reasons, fields);
  each(event_types, create_events, register_events, wait_for_event, free_events);
}

namespace {

failure not_opened(const platform::library::open_result& tried, const std::string& help) {
  return fail(tried.is_missing ? status::no_source : status::backend,
              {tried.error_text, help.empty() ? "" : ": ", help});
}

}  // namespace

result<platform::library> open_library(const settings& s) {
  if (!s.nvml_path.empty()) {
    auto chosen = platform::library::open(s.nvml_path.c_str());
    if (chosen) return std::move(chosen.value);
    return not_opened(chosen, {});
  }
  const auto places = library_places();
  auto found = platform::library::open(places.front());
  for (const char* path : places.subspan(1)) {
    if (found) break;
    if (platform::exists(path)) found = platform::library::open(path);
  }
  if (found) return std::move(found.value);
  return not_opened(found, found.is_missing ? advice(s) : "");
}

}  // namespace hmn::nvml
