// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

namespace hmn::cli::top {

enum class key {
  character,
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  tab,
  backspace,
  f1,
  f9
};

struct key_press {
  key what = key::character;
  char32_t character = 0;
};

}  // namespace hmn::cli::top
