// SPDX-License-Identifier: MIT OR Apache-2.0
//
// status, smaps_rollup: half a line is never a number.
#include "procfs/process.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

namespace {

void check(const Amount& whole, const Amount& of_beginning, const Amount& of_twice) {
  promise(whole.bytes % 1024 == 0);
  promise(whole.what == Amount::Is::known || whole.bytes == 0);
  promise(of_beginning.what == Amount::Is::missing ||
          (of_beginning.what == whole.what && of_beginning.bytes == whole.bytes));
  promise(whole.what == Amount::Is::missing ||
          (of_twice.what == whole.what && of_twice.bytes == whole.bytes));
}

}  // namespace

void fuzz(std::string_view input) {
  const unsigned cut = take_byte(input);
  const std::string_view beginning = input.substr(0, input.size() * cut / 256);
  const std::string twice = std::string(input) + "\n" + std::string(input);
  const StatusMemory a = parse_status(input);
  const StatusMemory b = parse_status(beginning);
  const StatusMemory c = parse_status(twice);
  check(a.vm_rss, b.vm_rss, c.vm_rss);
  check(a.vm_hwm, b.vm_hwm, c.vm_hwm);
  check(a.vm_size, b.vm_size, c.vm_size);
  check(a.vm_swap, b.vm_swap, c.vm_swap);
  const SmapsRollup r = parse_smaps_rollup(input);
  const SmapsRollup s = parse_smaps_rollup(beginning);
  const SmapsRollup t = parse_smaps_rollup(twice);
  check(r.pss, s.pss, t.pss);
  check(r.private_clean, s.private_clean, t.private_clean);
  check(r.private_dirty, s.private_dirty, t.private_dirty);
  promise(parse_namespace_pids(input).size() <= input.size());
  (void)parse_effective_capabilities(input);
  if (r.unique().what == Amount::Is::known) promise(r.unique().bytes >= r.private_dirty.bytes);
}
