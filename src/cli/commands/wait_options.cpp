// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/wait_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/text/duration.hpp"
#include "cli/text/size_argument.hpp"

namespace hmn::cli {

const char* const wait_examples =
    "Examples:\n"
    "  hmn wait --free 12GiB\n"
    "  hmn wait --free 8GiB --any --timeout 1h -- env\n"
    "  hmn wait --free 512MiB --device 0 --json\n"
    "\n"
    "Exit status: 0 done (with a command: the command's own), 1 failed, no GPU, no such\n"
    "device or none that large, 2 wrong usage, 124 the time was up, 126 the command\n"
    "cannot be run, 127 it was not found. See hmn-wait(1).";

void add_wait(CLI::App& app, wait_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("--free", into.free, "How much room: 20GiB, 512MiB")
      ->type_name("SIZE")
      ->multi_option_policy(last);
  app.add_flag("--any", into.any, "Whichever device has it first (the default)");
  app.add_option("--interval", into.interval, "From one look to the next [5s]")
      ->type_name("DURATION")
      ->multi_option_policy(last);
  app.add_option("--timeout", into.timeout, "Give up after that time: 30s, 5m, 1h")
      ->type_name("DURATION")
      ->multi_option_policy(last);
}

std::optional<failure> apply_wait(const wait_texts& from, bool has_device, wait_options& to) {
  if (!from.free) return misused("--free is missing: how much room to wait for (--free 20GiB)");
  const auto bytes = parse_size_argument(*from.free);
  if (!bytes) return misused("--free " + bytes.why().message);
  to.bytes = *bytes;
  if (from.any && has_device) return misused("--any and --device: only one of them");
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (from.timeout) {
    const auto timeout = parse_time("--timeout", *from.timeout);
    if (!timeout) return timeout.why();
    to.timeout_ms = *timeout;
  }
  return std::nullopt;
}

}  // namespace hmn::cli
