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
std::uint32_t search_time(const Options& asked) {
  return asked.has_timeout || asked.run == Command::wait ? asked.timeout_ms : usual_search_ms;
}

// Returns the timeout, or that of the screen, which must not stay empty, and of the start of a
// command, which must not be late, unless a device must be found first.
std::uint32_t open_timeout(const Options& asked) {
  if (asked.has_timeout || asked.device) return asked.timeout_ms;
  if (asked.run == Command::top) return before_screen_ms;
  const bool starts_another = asked.run == Command::run || asked.run == Command::spill;
  return starts_another ? before_start_ms : asked.timeout_ms;
}

// Returns whether the command plans or adds up memory, of which that of an NPU is no part.
bool takes_gpus_only(Command run) {
  return run == Command::fit || run == Command::wait || run == Command::run ||
         run == Command::spill || run == Command::watch;
}

Expected<ExitCode> run(const Options& asked) {
  if (auto refused = check_files(asked)) return *std::move(refused);
  // Never closed: the kernel ends what a driver's library holds in less time.
  static const auto in = Session::open(
      {open_timeout(asked), search_time(asked), std::min(asked.timeout_ms, default_deadline_ms),
       asked.has_timeout, asked.trace, asked.machine, asked.run == Command::record_machine,
       asked.run != Command::top && asked.run != Command::exporter, takes_gpus_only(asked.run)});
  if (!in) return in.why();
  outlive_driver_exits();
  const auto as = choose_style(standard_output_surroundings(), asked.colour);
  return entry_of(asked.run).run(*in, asked, as);
}

// Reports failures of the library, and of memory, as failures of the command.
Expected<ExitCode> run_or_fail(const Options& asked) {
  try {
    return run(asked);
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& why) {
    return failed(why.what());
  }
}

ExitCode refuse(const Failure& why) {
  write_notice(why.message);
  return why.code;
}

// Replaces exit code 1, which could be mistaken for that of a command that was run, or for a spill.
Failure failure_of(Failure why, Command run) {
  const bool wraps = run == Command::run || run == Command::spill;
  if (why.code != ExitCode::failed) return why;
  if (wraps) why.code = ExitCode::wrapper_failed;
  if (run == Command::watch) why.code = ExitCode::usage;
  return why;
}

ExitCode main_of(int count, const char* const* arguments) {
  prepare_streams();
  const auto parsed = parse_options(count, arguments);
  if (!parsed) return refuse(parsed.why());
  if (const auto* answer = std::get_if<Information>(&*parsed)) return write_output(answer->text);
  const auto& asked = std::get<Options>(*parsed);
  const auto result = run_or_fail(asked);
  return result ? *result : refuse(failure_of(result.why(), asked.run));
}

}  // namespace
int run_program(int count, const char* const* arguments) {
  try {
    return static_cast<int>(main_of(count, arguments));
  } catch (const std::bad_alloc&) {
    write_report("hmn: out of memory\n");
    return static_cast<int>(ExitCode::failed);
  } catch (const std::exception& error) {
    write_notice(error.what());
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace hmn::cli
