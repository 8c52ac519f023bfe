// SPDX-License-Identifier: MIT OR Apache-2.0
//
// status, smaps_rollup: half a line is never a number.
#include "procfs/process.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

namespace {

void check(const Amount& complete, const Amount& beginning, const Amount& doubled) {
  promise(complete.bytes % 1024 == 0);
  promise(complete.state == Amount::State::valid || complete.bytes == 0);
  promise(beginning.state == Amount::State::missing ||
          (beginning.state == complete.state && beginning.bytes == complete.bytes));
  promise(complete.state == Amount::State::missing ||
          (doubled.state == complete.state && doubled.bytes == complete.bytes));
}

}  // namespace

void fuzz(std::string_view input) {
  const unsigned cut = take_byte(input);
  const std::string_view beginning = input.substr(0, input.size() * cut / 256);
  const std::string twice = std::string(input) + "\n" + std::string(input);
  const StatusMemory memory = parse_status(input);
  const StatusMemory beginning_memory = parse_status(beginning);
  const StatusMemory twice_memory = parse_status(twice);
  check(memory.vm_rss, beginning_memory.vm_rss, twice_memory.vm_rss);
  check(memory.vm_hwm, beginning_memory.vm_hwm, twice_memory.vm_hwm);
  check(memory.vm_size, beginning_memory.vm_size, twice_memory.vm_size);
  check(memory.vm_swap, beginning_memory.vm_swap, twice_memory.vm_swap);
  const SmapsRollup rollup = parse_smaps_rollup(input);
  const SmapsRollup beginning_rollup = parse_smaps_rollup(beginning);
  const SmapsRollup twice_rollup = parse_smaps_rollup(twice);
  check(rollup.pss, beginning_rollup.pss, twice_rollup.pss);
  check(rollup.private_clean, beginning_rollup.private_clean, twice_rollup.private_clean);
  check(rollup.private_dirty, beginning_rollup.private_dirty, twice_rollup.private_dirty);
  promise(parse_namespace_pids(input).size() <= input.size());
  (void)parse_effective_capabilities(input);
  if (rollup.unique().state == Amount::State::valid)
    promise(rollup.unique().bytes >= rollup.private_dirty.bytes);
}
