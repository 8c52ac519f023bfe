// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/ps_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <string_view>

#include "cli/commands/common_options.hpp"
#include "cli/commands/process_columns.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

expected<std::uint32_t> parse_pid(std::string_view text) {
  std::uint32_t pid = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, pid);
  if (parsed.ec == std::errc{} && parsed.ptr == end && pid > 0) return pid;
  return misused(fmt::format("--pid \"{}\": expected a whole number from 1 to {}", text,
                             std::numeric_limits<std::uint32_t>::max()));
}

// Returns why sums cannot be combined with options about single processes.
std::optional<failure> other_than_groups(const ps_texts& from) {
  const char* const other = from.columns        ? "--columns"
                            : from.show_pools   ? "--show-pools"
                            : from.sort         ? "--sort"
                            : from.unattributed ? "--unattributed"
                                                : nullptr;
  if (other == nullptr) return std::nullopt;
  return misused(fmt::format("{} and --by: only one of them", other));
}

}  // namespace

const char* const ps_examples =
    "Examples:\n"
    "  hmn ps --device GPU-8f6d2b1e-...     by UUID; also 0 or 0000:01:00.0\n"
    "  hmn ps --match 'python*' --sort total\n"
    "  hmn ps --by user                     sums per user\n"
    "  hmn ps --columns pid,user,vram,load,container,command\n"
    "  hmn ps --json | jq 'sort_by(-(.used_bytes // 0))[:5]'\n"
    "\n"
    "Columns: pid, name, vram, shared, ram, device, type, user, load, container,\n"
    "nspid, command; peak: the highest use that the driver has accounted (NVIDIA's\n"
    "accounting mode, which root enables), else unknown. A value that the device or\n"
    "its driver does not have is -, one that is not known ?.\n"
    "\n"
    "Exit status: 0 done (also when the list is empty), 1 failed, no such device or\n"
    "process, 2 wrong usage. See hmn-ps(1).";

void add_ps(CLI::App& app, ps_texts& into) {
  app.add_option("--pid", into.pid, "Only this process")->type_name("PID");
  app.add_option("--match", into.match, "Only processes whose name matches (* ? [a-z])")
      ->type_name("GLOB");
  add_values(app,
             {{"--sort", &into.sort, "KEY", "Order: vram, shared, total, ram, pid, name [vram]"},
              {"--by", &into.by, "WHAT", "Totals by user, container or device instead"},
              {"--columns", &into.columns, "LIST", "Columns, separated by commas"}});
  app.add_flag("--unattributed", into.unattributed,
               "Also memory that belongs to no visible process");
  app.add_flag("--show-pools", into.show_pools, "One line per memory pool of each process");
}

std::optional<failure> apply_ps(const ps_texts& from, options& to) {
  if (from.pid) {
    const auto pid = parse_pid(*from.pid);
    if (!pid) return pid.why();
    to.pid = *pid;
  }
  if (from.sort) {
    const auto key = parse_sort_key(*from.sort);
    if (!key) return key.why();
    to.sort = *key;
  }
  if (from.columns) {
    auto columns = parse_columns(*from.columns);
    if (!columns) return columns.why();
    to.columns = *std::move(columns);
  }
  if (from.columns && from.show_pools)
    return misused("--columns and --show-pools: only one of them");
  if (from.by) {
    constexpr grouping known[] = {grouping::user, grouping::container, grouping::device};
    const auto by = parse_grouping("--by", *from.by, known);
    if (!by) return by.why();
    to.by = *by;
    if (auto twice = other_than_groups(from)) return twice;
  }
  to.show_pools = from.show_pools;
  to.unattributed = from.unattributed;
  if (auto wrong = refuse_empty("--match", from.match, a_name_pattern)) return wrong;
  to.match = from.match;
  return std::nullopt;
}

}  // namespace hmn::cli
