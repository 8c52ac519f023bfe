// SPDX-License-Identifier: MIT OR Apache-2.0
//
// All sources of a build, in order of preference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "source/interface.hpp"
#include "source/sources.def"

namespace hmn {

struct SourceEntry {
  std::unique_ptr<DeviceSource> device;
  std::uint64_t fallback_for = 0;  // bit n: skipped if source n is working
};

// Sources of one context, in order of preference.
struct SourceList {
  std::unique_ptr<HostSource> host;
  std::vector<SourceEntry> devices;
  std::unique_ptr<MachineRecorder> recorder;  // if the settings request one
};

#define HMN_MAKER(name, ...) std::unique_ptr<DeviceSource> make_##name(const Settings& settings);
HMN_DEVICE_SOURCES(HMN_MAKER)
#undef HMN_MAKER

SourceList make_sources(const Settings& settings);

bool is_available(Source s) noexcept;

// Fails for a source that was not compiled in.
Result<void> require(Source s);

}  // namespace hmn
