// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/workload.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  const Container in = parse_container(input);
  promise(in.empty() || is_inside(in.id, input));
  promise(in.id.find('/') == std::string_view::npos);
  promise(in.empty() == in.runtime.empty());
  std::string text;
  append_container(text, in);
  promise(text.size() > in.runtime.size());
}
