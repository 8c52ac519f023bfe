// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/i915/i915.hpp"

#include "backends/i915/regions.hpp"
#include "backends/intel/driver.hpp"

namespace hmn::drm {
namespace {

using intel::gt;

constexpr std::uint32_t query_memory_regions = 4;

constexpr intel::gt_files in_gt{"rps_act_freq_mhz",       "rps_cur_freq_mhz",
                                "rps_max_freq_mhz",       "",
                                "throttle_reason_status", "throttle_reason_"};
// Of the whole card: all there is before Linux 5.18, and of GT 0 since.
constexpr intel::gt_files in_card{
    "gt_act_freq_mhz", "gt_cur_freq_mhz", "gt_max_freq_mhz", "", "", ""};

// <device>/drm/card0/gt/gt<N>: 0 is the main one, others are media.
int find_gts(const card& c, std::vector<gt>& out) {
  const node* const n = c.find(node::kind::card);
  if (n == nullptr) return 0;
  int error = 0;
  const std::string card_folder = compose({c.folder.view(), "/drm/", n->name.view()});
  const std::string folder = compose({card_folder, "/gt"});
  for (const std::uint32_t number : intel::numbers_in(folder, "gt", error)) {
    out.push_back({compose({folder, "/gt", number}), &in_gt, number != 0});
  }
  if (out.empty() && error == 0) out.push_back({card_folder, &in_card, false});
  return error;
}

constexpr intel::dialect spoken{
    source::i915,        "i915", {platform::query_language::i915, query_memory_regions},
    i915::parse_regions, false,  find_gts};

}  // namespace

std::unique_ptr<driver> make_i915() {
  return std::make_unique<intel::intel_driver>(spoken);
}

}  // namespace hmn::drm
