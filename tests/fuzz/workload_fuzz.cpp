// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/workload.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  const Workload workload = parse_workload(input);
  for (const auto* text : {&workload.container, &workload.pod, &workload.job, &workload.unit}) {
    promise(text->find('/') == std::string::npos);
    promise(text->find('\n') == std::string::npos);
  }
  promise(workload.pod.find('_') == std::string::npos);
  promise(workload.container.empty() == workload.runtime.empty());
}
