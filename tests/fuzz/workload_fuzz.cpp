// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/workload.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  const Workload in = parse_workload(input);
  for (const auto* text : {&in.container, &in.pod, &in.job, &in.unit}) {
    promise(text->find('/') == std::string::npos);
    promise(text->find('\n') == std::string::npos);
  }
  promise(in.pod.find('_') == std::string::npos);
  promise(in.container.empty() == in.runtime.empty());
}
