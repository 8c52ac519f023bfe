// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Differences between Intel's two kernel drivers; they share the rest of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/shared/intel/regions.hpp"
#include "model/compose.hpp"
#include "model/function_ref.hpp"
#include "platform/device_query.hpp"

namespace hmn::intel {

// File names of one GT (part of the chip with its own engines and clock).
struct gt_files {
  std::string_view actual;
  std::string_view requested;
  std::string_view highest;
  std::string_view throttle;  // subfolder of the clock files' folder; empty: the same folder
  std::string_view throttle_status;
  std::string_view throttle_prefix;  // of the reasons; empty: not reported
};

struct gt {
  std::string folder;  // folder of the clock files
  const gt_files* files = nullptr;
  bool is_media = false;
};

struct dialect {
  source from;
  std::string_view name;  // name of the kernel driver and its sensor chip
  platform::device_question regions;
  std::optional<memory_regions> (*parse)(std::span<const std::byte>) noexcept;
  // Whether the query reports RAM usage beyond that of clients: xe counts it, i915 reports the size
  // only.
  bool counts_system;
  // Returns 0, or errno of a folder that could not be listed.
  int (*find_gts)(const drm::card&, std::vector<gt>&);
};

// Visits the numbers of a folder's entries "gt0", "gt1" in order: `prefix` and digits, below 64.
// Returns 0, or errno of a folder that could not be listed.
int each_number(const std::string& folder, std::string_view prefix,
                function_ref<void(std::uint32_t)> visit);

}  // namespace hmn::intel
