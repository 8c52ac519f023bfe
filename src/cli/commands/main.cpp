// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/main.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "cli/commands/commands.hpp"
#include "cli/commands/files.hpp"
#include "cli/commands/options.hpp"
#include "cli/system/streams.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/output.hpp"
#include "cli/units.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint32_t usual_search_ms = 5000;
// Longest wait for drivers before the screen shows what is known, or a command is started.
constexpr std::uint32_t before_screen_ms = 2000;
constexpr std::uint32_t before_start_ms = 200;

// Bounds the wait for a driver that starts or hangs, unless the user has given a timeout.
std::uint32_t search_time(const options& asked) {
  return asked.has_timeout || asked.run == command::wait ? asked.timeout_ms : usual_search_ms;
}

// Returns the timeout, or that of the screen, which must not stay empty, and of the start of a
// command, which must not be late, unless a device must be found first.
std::uint32_t open_timeout(const options& asked) {
  if (asked.has_timeout || asked.device) return asked.timeout_ms;
  if (asked.run == command::top) return before_screen_ms;
  const bool starts_another = asked.run == command::run || asked.run == command::spill;
  return starts_another ? before_start_ms : asked.timeout_ms;
}

// Returns whether the command plans or adds up memory, of which that of an NPU is no part.
bool takes_gpus_only(command run) {
  return run == command::fit || run == command::wait || run == command::run ||
         run == command::spill || run == command::watch;
}

expected<exit_code> run(const options& asked) {
  if (auto refused = check_files(asked)) return *std::move(refused);
  // Never closed: the kernel ends what a driver's library holds in less time.
  static const auto in = session::open(
      {open_timeout(asked), search_time(asked), std::min(asked.timeout_ms, default_deadline_ms),
       asked.has_timeout, asked.trace, asked.machine, asked.run == command::record_machine,
       asked.run != command::top && asked.run != command::exporter, takes_gpus_only(asked.run)});
  if (!in) return in.why();
  outlive_driver_exits();
  const auto as = choose_style(standard_output_surroundings(), asked.colour);
  return entry_of(asked.run).run(*in, asked, as);
}

// Reports failures of the library, and of memory, as failures of the command.
expected<exit_code> run_or_fail(const options& asked) {
  try {
    return run(asked);
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& why) {
    return failed(why.what());
  }
}

exit_code refuse(const failure& why) {
  write_notice(why.message);
  return why.code;
}

// Replaces exit code 1, which could be mistaken for that of a command that was run, or for a spill.
failure failure_of(failure why, command run) {
  const bool wraps = run == command::run || run == command::spill;
  if (why.code != exit_code::failed) return why;
  if (wraps) why.code = exit_code::wrapper_failed;
  if (run == command::watch) why.code = exit_code::usage;
  return why;
}

exit_code main_of(int count, const char* const* arguments) {
  prepare_streams();
  const auto parsed = parse_options(count, arguments);
  if (!parsed) return refuse(parsed.why());
  if (const auto* answer = std::get_if<information>(&*parsed)) return write_output(answer->text);
  const auto& asked = std::get<options>(*parsed);
  const auto result = run_or_fail(asked);
  return result ? *result : refuse(failure_of(result.why(), asked.run));
}

}  // namespace
int run_program(int count, const char* const* arguments) {
  try {
    return static_cast<int>(main_of(count, arguments));
  } catch (const std::bad_alloc&) {
    write_report("hmn: out of memory\n");
    return static_cast<int>(exit_code::failed);
  } catch (const std::exception& error) {
    write_notice(error.what());
    return static_cast<int>(exit_code::failed);
  }
}

}  // namespace hmn::cli
