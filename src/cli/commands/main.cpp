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

constexpr std::uint32_t default_search_ms = 5000;
// Maximum wait for drivers before the first screen is drawn, or a program is started.
constexpr std::uint32_t screen_timeout_ms = 2000;
constexpr std::uint32_t start_timeout_ms = 200;

// Bounds the wait for a driver that starts or hangs, unless the user has given a timeout.
std::uint32_t choose_search_time(const Options& options) {
  return options.has_timeout || options.command == CommandId::wait ? options.timeout_ms
                                                                   : default_search_ms;
}

// Returns the timeout for opening drivers: short if a screen would stay empty or a program would
// start late, unless a device must be found first.
std::uint32_t choose_open_timeout(const Options& options) {
  if (options.has_timeout || options.device) return options.timeout_ms;
  if (options.command == CommandId::top) return screen_timeout_ms;
  const bool starts_program =
      options.command == CommandId::run || options.command == CommandId::spill;
  return starts_program ? start_timeout_ms : options.timeout_ms;
}

// Returns whether the command plans or adds up memory, where NPUs do not count.
bool uses_gpus_only(CommandId command) {
  return command == CommandId::fit || command == CommandId::wait || command == CommandId::run ||
         command == CommandId::spill || command == CommandId::watch;
}

Expected<ExitCode> open_and_run(const Options& options) {
  if (auto failure = check_files(options)) return *std::move(failure);
  // Never closed: at exit the kernel frees a driver library's resources faster.
  static const auto session =
      Session::open({choose_open_timeout(options), choose_search_time(options),
                     std::min(options.timeout_ms, default_deadline_ms), options.has_timeout,
                     options.trace, options.machine, options.command == CommandId::record_machine,
                     options.command != CommandId::top && options.command != CommandId::exporter,
                     uses_gpus_only(options.command)});
  if (!session) return session.error();
  block_driver_exits();
  const auto style = choose_style(detect_output_environment(), options.colour);
  return get_command(options.command).run(*session, options, style);
}

// Reports failures of the library, and of memory, as failures of the command.
Expected<ExitCode> run_and_catch(const Options& options) {
  try {
    return open_and_run(options);
  } catch (const std::bad_alloc&) {
    return make_failure("out of memory");
  } catch (const std::exception& error) {
    return make_failure(error.what());
  }
}

ExitCode report_failure(const Failure& failure) {
  write_notice(failure.message);
  return failure.code;
}

// Replaces exit code 1, which could be mistaken for that of a command that was run, or for a spill.
Failure adjust_exit_code(Failure failure, CommandId command) {
  const bool wraps = command == CommandId::run || command == CommandId::spill;
  if (failure.code != ExitCode::failed) return failure;
  if (wraps) failure.code = ExitCode::wrapper_failed;
  if (command == CommandId::watch) failure.code = ExitCode::usage;
  return failure;
}

ExitCode run_main(int count, const char* const* arguments) {
  prepare_streams();
  const auto parsed = parse_options(count, arguments);
  if (!parsed) return report_failure(parsed.error());
  if (const auto* information = std::get_if<Information>(&*parsed))
    return write_output(information->text);
  const auto& options = std::get<Options>(*parsed);
  const auto result = run_and_catch(options);
  return result ? *result : report_failure(adjust_exit_code(result.error(), options.command));
}

}  // namespace
int run_program(int count, const char* const* arguments) {
  try {
    return static_cast<int>(run_main(count, arguments));
  } catch (const std::bad_alloc&) {
    write_report("hmn: out of memory\n");
    return static_cast<int>(ExitCode::failed);
  } catch (const std::exception& error) {
    write_notice(error.what());
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace hmn::cli
