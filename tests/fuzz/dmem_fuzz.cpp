// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dmem/survey.hpp"
#include "fuzz.hpp"

using namespace hmn;
using namespace hmn::dmem;

void fuzz(std::string_view input) {
  if (const auto r = parse_region(input)) {
    promise(is_inside(r->device, input) && is_inside(r->name, input));
    promise(!r->device.empty() && !r->name.empty());
    promise(r->device.find('/') == std::string_view::npos);
    promise(!r->is_unlimited || r->bytes == 0);
  }
  for (const PoolKey pool : {PoolKey{PoolKind::vram}, PoolKey{PoolKind::vram, 2},
                             PoolKey{PoolKind::host}, PoolKey{PoolKind::stolen}}) {
    const auto sum = sum_of(input, "0000:03:00.0", pool);
    promise(sum == sum_of(input, "00000000:03:00.0", pool));
    promise(!sum_of(input, "", pool));
  }
}
