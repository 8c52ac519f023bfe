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

enum class Made { device, program, drivers };

[[maybe_unused]] bool is_wanted(Source id, Made when, const Settings& s) noexcept {
  if (when == Made::drivers) return true;
  return s.is_on(id) && (when == Made::device || !s.no_subprocess);
}

std::unique_ptr<HostSource> make_host(const Settings& s) {
  auto host = make_os(s);
  if constexpr (HMN_WITH_DMEM != 0) {
    if (s.is_on(Source::dmem)) return make_dmem(std::move(host));
  }
  return host;
}

[[maybe_unused]] void add(SourceList& list, ListedSource made) {
  if (made.device) list.devices.push_back(std::move(made));
}

SourceList make_real(const Settings& s) {
  SourceList list;
  list.host = make_host(s);
#define HMN_ADD(name, with, when, fallback_for)   \
  if constexpr (HMN_WITH_##with != 0) {           \
    if (is_wanted(Source::name, Made::when, s)) { \
      add(list, {make_##name(s), fallback_for});  \
    }                                             \
  }
  HMN_DEVICE_SOURCES(HMN_ADD)
#undef HMN_ADD
  return list;
}

#define HMN_BUILT(name, with, ...) | (HMN_WITH_##with != 0 ? bit_of(Source::name) : 0)
constexpr std::uint64_t compiled_in =
    bit_of(Source::os) HMN_DEVICE_SOURCES(HMN_BUILT) HMN_OTHER_SOURCES(HMN_BUILT);
#undef HMN_BUILT

}  // namespace

// DXGI lists the adapters and PDH counts what processes use of them.
std::unique_ptr<DeviceSource> make_dxgi(const Settings& s) {
  static_cast<void>(s);
  if constexpr (HMN_WITH_DXGI != 0) {
    std::unique_ptr<wddm::Counters> counters;
    if constexpr (HMN_WITH_PDH != 0) {
      if (s.is_on(Source::pdh)) counters = make_pdh();
    }
    return make_dxgi(std::move(counters));
  }
  return nullptr;
}

SourceList make_sources(const Settings& s) {
#if HMN_WITH_SIMULATED
  const bool simulates = !s.simulation_path.empty() && s.is_on(Source::simulated);
  if (simulates || s.record) return simulated::make_sources(s, {make_real, make_os});
#endif
  return make_real(s);
}

bool is_available(Source s) noexcept {
  return (compiled_in & bit_of(s)) != 0;
}

Result<void> require(Source s) {
  if (is_available(s)) return {};
  return Failure{Status::unsupported, s, {}, "this library was built without it"};
}

}  // namespace hmn
