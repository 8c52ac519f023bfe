// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/code.hpp"

namespace hmn::simulated {

bool has_code() noexcept {
  return true;
}

result<sources_maker> find_code() {
  return sources_maker(make_sources);
}

}  // namespace hmn::simulated
