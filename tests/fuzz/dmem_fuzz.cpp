// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dmem/survey.hpp"
#include "fuzz.hpp"

using namespace hmn;
using namespace hmn::dmem;

void fuzz(std::string_view input) {
  if (const auto region = parse_region(input)) {
    promise(is_inside(region->device, input) && is_inside(region->name, input));
    promise(!region->device.empty() && !region->name.empty());
    promise(region->device.find('/') == std::string_view::npos);
    promise(!region->is_unlimited || region->bytes == 0);
  }
  for (const PoolKey pool : {PoolKey{PoolKind::vram}, PoolKey{PoolKind::vram, 2},
                             PoolKey{PoolKind::host}, PoolKey{PoolKind::stolen}}) {
    const auto sum = sum_regions(input, "0000:03:00.0", pool);
    promise(sum == sum_regions(input, "00000000:03:00.0", pool));
    promise(!sum_regions(input, "", pool));
  }
}
