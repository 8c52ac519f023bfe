// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include "fuzz.hpp"
#include "procfs/boot.hpp"

using namespace hmn::procfs;

namespace {

std::string format_line(const Stat& stat) {
  std::string line = std::to_string(stat.pid) + " (" + std::string(stat.comm) + ") " + stat.state;
  line += " " + std::to_string(stat.ppid) + " 1 1 0 -1 " + std::to_string(stat.flags) +
          " 0 0 0 0 0 0 0 0 20 0 ";
  line += std::to_string(stat.num_threads) + " 0 " + std::to_string(stat.starttime) + " ";
  line += stat.vsize ? std::to_string(*stat.vsize) : "-1";
  line += " " + (stat.rss ? std::to_string(*stat.rss) : "-1") + " 0\n";
  return line;
}

}  // namespace

void fuzz(std::string_view input) {
  (void)parse_boot_time(input);
  const auto stat = parse_stat(input);
  if (!stat) return;
  promise(is_inside(stat->comm, input));
  promise(!(stat->has_exited() && stat->is_headless()));
  // No kernel prints a longer name, and the parser does not search beyond.
  if (stat->comm.size() > 64) return;
  const std::string plain = format_line(*stat);
  const auto again = parse_stat(plain);
  promise(again && again->comm == stat->comm && again->pid == stat->pid &&
          again->state == stat->state);
  promise(again->ppid == stat->ppid && again->is_kernel_thread() == is_kernel_thread(input));
  promise(again->flags == stat->flags && again->num_threads == stat->num_threads);
  promise(again->starttime == stat->starttime && again->vsize == stat->vsize &&
          again->rss == stat->rss);
}
