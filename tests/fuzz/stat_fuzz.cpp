// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include "fuzz.hpp"
#include "procfs/boot.hpp"

using namespace hmn::procfs;

namespace {

std::string line_of(const Stat& s) {
  std::string line = std::to_string(s.pid) + " (" + std::string(s.comm) + ") " + s.state;
  line += " " + std::to_string(s.ppid) + " 1 1 0 -1 " + std::to_string(s.flags) +
          " 0 0 0 0 0 0 0 0 20 0 ";
  line += std::to_string(s.num_threads) + " 0 " + std::to_string(s.starttime) + " ";
  line += s.vsize ? std::to_string(*s.vsize) : "-1";
  line += " " + (s.rss ? std::to_string(*s.rss) : "-1") + " 0\n";
  return line;
}

}  // namespace

void fuzz(std::string_view input) {
  (void)parse_boot_time(input);
  const auto s = parse_stat(input);
  if (!s) return;
  promise(is_inside(s->comm, input));
  promise(!(s->has_exited() && s->is_headless()));
  // No kernel prints a longer name, behind which the parser does not search.
  if (s->comm.size() > 64) return;
  const std::string plain = line_of(*s);
  const auto again = parse_stat(plain);
  promise(again && again->comm == s->comm && again->pid == s->pid && again->state == s->state);
  promise(again->ppid == s->ppid && again->is_kernel_thread() == is_kernel_thread(input));
  promise(again->flags == s->flags && again->num_threads == s->num_threads);
  promise(again->starttime == s->starttime && again->vsize == s->vsize && again->rss == s->rss);
}
