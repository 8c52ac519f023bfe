// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/describe.hpp"
#include "fuzz.hpp"

void fuzz(std::string_view input) {
  std::string out = "x";
  hmn::macos::append_arguments(out, input);
  promise(out.front() == 'x' && is_utf8(out));
}
