// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/smaps_rollup.hpp"

#include "model/scan.hpp"

namespace hmn::os {

amount smaps_rollup::unique() const noexcept {
  if (private_clean.what != amount::is::known) return private_clean;
  if (private_dirty.what != amount::is::known) return private_dirty;
  const auto bytes = scan::sum(private_clean.bytes, private_dirty.bytes);
  return bytes ? amount{amount::is::known, *bytes} : amount{amount::is::malformed, 0};
}

smaps_rollup parse_smaps_rollup(std::string_view text) noexcept {
  smaps_rollup r;
  const wanted_amount wanted[] = {
      {"Pss", &r.pss}, {"Private_Clean", &r.private_clean}, {"Private_Dirty", &r.private_dirty}};
  parse_amounts(text, wanted);
  return r;
}

}  // namespace hmn::os
