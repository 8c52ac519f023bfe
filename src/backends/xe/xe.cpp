// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/xe/xe.hpp"

#include "backends/intel/driver.hpp"
#include "backends/xe/regions.hpp"

namespace hmn::drm {
namespace {

using intel::gt;

constexpr std::uint32_t query_mem_regions = 1;

constexpr intel::gt_files in_freq{"act_freq",  "cur_freq", "max_freq",
                                  "/throttle", "status",   "reason_"};

// <device>/tile<T>/gt<N>/freq0: the first of a tile is its main one, the other is media.
int find_gts(const card& c, std::vector<gt>& out) {
  int error = 0;
  for (const std::uint32_t tile : intel::numbers_in(std::string(c.folder.view()), "tile", error)) {
    const std::string folder = compose({c.folder.view(), "/tile", tile});
    bool is_first = true;
    for (const std::uint32_t number : intel::numbers_in(folder, "gt", error)) {
      out.push_back({compose({folder, "/gt", number, "/freq0"}), &in_freq, !is_first});
      is_first = false;
    }
  }
  return error;
}

constexpr intel::dialect spoken{
    source::xe,        "xe", {platform::query_language::xe, query_mem_regions},
    xe::parse_regions, true, find_gts};

}  // namespace

std::unique_ptr<driver> make_xe() {
  return std::make_unique<intel::intel_driver>(spoken);
}

}  // namespace hmn::drm
