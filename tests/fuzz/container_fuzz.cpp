// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/workload.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  const Container container = parse_container(input);
  promise(container.empty() || is_inside(container.id, input));
  promise(container.id.find('/') == std::string_view::npos);
  promise(container.empty() == container.runtime.empty());
  std::string text;
  append_container(text, container);
  promise(text.size() > container.runtime.size());
}
