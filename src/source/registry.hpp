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

struct listed_source {
  std::unique_ptr<device_source> device;
  std::uint64_t fallback_for = 0;  // bit n: skipped if source n is working
};

// Sources of one context, in order of preference.
struct source_list {
  std::unique_ptr<host_source> host;
  std::vector<listed_source> devices;
  std::unique_ptr<machine_recorder> recorder;  // if the settings request one
};

#define HMN_MAKER(name, ...) std::unique_ptr<device_source> make_##name(const settings& s);
HMN_DEVICE_SOURCES(HMN_MAKER)
#undef HMN_MAKER

source_list make_sources(const settings& s);

bool is_available(source s) noexcept;

// Fails for a source that is not compiled in.
result<void> require(source s);

}  // namespace hmn
