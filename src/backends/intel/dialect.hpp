// SPDX-License-Identifier: MIT OR Apache-2.0
//
// In what Intel's two kernel drivers differ; the rest of this folder is what they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/intel/regions.hpp"
#include "model/compose.hpp"
#include "platform/device_query.hpp"

namespace hmn::intel {

// File names of one GT (a part of the chip with engines of its own, and its own clock).
struct gt_files {
  std::string_view actual;
  std::string_view requested;
  std::string_view highest;
  std::string_view throttle;  // folder below that of the clock files; empty: that one
  std::string_view throttle_status;
  std::string_view throttle_prefix;  // of the reasons; empty: they are not told
};

struct gt {
  std::string folder;  // of the clock files
  const gt_files* files = nullptr;
  bool is_media = false;
};

struct dialect {
  source from;
  std::string_view name;  // of the kernel driver, and of its sensor chip
  platform::device_question regions;
  std::optional<memory_regions> (*parse)(std::span<const std::byte>) noexcept;
  // Whether the query tells more of RAM than clients do: xe counts it, i915 only has its size.
  bool counts_system;
  // 0, or errno of a folder that could not be listed.
  int (*find_gts)(const drm::card&, std::vector<gt>&);
};

// The numbered entries of a folder, "gt0", "gt1": `prefix` and digits, in order.
std::vector<std::uint32_t> numbers_in(const std::string& folder, std::string_view prefix,
                                      int& error);

}  // namespace hmn::intel
