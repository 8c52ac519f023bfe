// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  const auto pids = parse_pids(input);
  promise(pids.size() <= input.size());
  std::string again;
  for (const std::uint32_t pid : pids) {
    promise(pid != 0);
    const PidName name(pid);
    promise(parse_pid(name.view()) == pid);
    again.append(name.view()).append("\n");
  }
  promise(parse_pids(again) == pids);
}
