// SPDX-License-Identifier: MIT OR Apache-2.0
#include "source/registry.hpp"

#include <utility>

#include "backends/dmem/dmem.hpp"
#include "backends/dxgi/dxgi.hpp"
#include "backends/os/os.hpp"
#include "backends/pdh/pdh.hpp"
#if HMN_WITH_SIMULATED
#include "backends/simulated/sources.hpp"
#endif

namespace hmn {

namespace {

enum class CreationRule { device, program, drivers };

[[maybe_unused]] bool should_create(Source id, CreationRule rule,
                                    const Settings& settings) noexcept {
  if (rule == CreationRule::drivers) return true;
  return settings.is_enabled(id) && (rule == CreationRule::device || !settings.no_subprocess);
}

std::unique_ptr<HostSource> make_host(const Settings& settings) {
  auto host = make_os(settings);
  if constexpr (HMN_WITH_DMEM != 0) {
    if (settings.is_enabled(Source::dmem)) return make_dmem(std::move(host));
  }
  return host;
}

[[maybe_unused]] void add(SourceList& list, SourceEntry entry) {
  if (entry.device) list.devices.push_back(std::move(entry));
}

SourceList make_real_sources(const Settings& settings) {
  SourceList list;
  list.host = make_host(settings);
#define HMN_ADD(name, backend, rule, fallback_for)                   \
  if constexpr (HMN_WITH_##backend != 0) {                           \
    if (should_create(Source::name, CreationRule::rule, settings)) { \
      add(list, {make_##name(settings), fallback_for});              \
    }                                                                \
  }
  HMN_DEVICE_SOURCES(HMN_ADD)
#undef HMN_ADD
  return list;
}

#define HMN_BUILT(name, backend, ...) | (HMN_WITH_##backend != 0 ? source_bit(Source::name) : 0)
constexpr std::uint64_t compiled_sources =
    source_bit(Source::os) HMN_DEVICE_SOURCES(HMN_BUILT) HMN_OTHER_SOURCES(HMN_BUILT);
#undef HMN_BUILT

}  // namespace

// DXGI lists the adapters; PDH counts what processes use on them.
std::unique_ptr<DeviceSource> make_dxgi(const Settings& settings) {
  static_cast<void>(settings);
  if constexpr (HMN_WITH_DXGI != 0) {
    std::unique_ptr<wddm::Counters> counters;
    if constexpr (HMN_WITH_PDH != 0) {
      if (settings.is_enabled(Source::pdh)) counters = make_pdh();
    }
    return make_dxgi(std::move(counters));
  }
  return nullptr;
}

SourceList make_sources(const Settings& settings) {
#if HMN_WITH_SIMULATED
  const bool is_simulated =
      !settings.simulation_path.empty() && settings.is_enabled(Source::simulated);
  if (is_simulated || settings.record)
    return simulated::make_sources(settings, {make_real_sources, make_os});
#endif
  return make_real_sources(settings);
}

bool is_available(Source s) noexcept {
  return (compiled_sources & source_bit(s)) != 0;
}

Result<void> require(Source s) {
  if (is_available(s)) return {};
  return Failure{Status::unsupported, s, {}, "this library was built without it"};
}

}  // namespace hmn
