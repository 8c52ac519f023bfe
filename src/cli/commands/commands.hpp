// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/options.hpp"
#include "cli/expected.hpp"
#include "cli/measure/session.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {

// Kind of value that a shell completes.
enum class Completion { nothing, words, list, file, device, pid, user, machine, command, program };

// How often an option may occur. `last`: it may be repeated, and the last one counts. An argument
// may be missing unless it is `required`.
enum class Occurrence { last, once, many, required };

// An option of a command, or an argument. Parsing, the help, shell completions and the manual pages
// are derived from it.
struct Option {
  std::string_view name;   // "--interval"; for an argument "MODEL"
  char letter = 0;         // 'i' for "-i"; 0: none
  std::string_view value;  // "DURATION"; empty: takes no value
  std::string_view help;
  Completion completion = Completion::nothing;
  std::string_view words = {};  // completions, blank-separated; for a file, its suffixes
  Occurrence occurrence = Occurrence::last;
  std::string_view alias = {};  // earlier name, accepted but not listed

  constexpr bool is_argument() const { return !name.starts_with("--"); }
};

// Options shared by several commands. A letter means the same in all of them.
constexpr Option interval_option(std::string_view help, std::string_view words) {
  return {"--interval", 'i', "DURATION", help, Completion::words, words};
}
constexpr Option duration_option = {
    "--duration", 0, "DURATION", "Exit after this time", Completion::words, "10s 1m 1h"};
constexpr Option device_option(
    std::string_view help = "Only this device: index, UUID or PCI address",
    Occurrence occurrence = Occurrence::once, std::string_view words = "") {
  return {"--device", 'd', "DEVICE", help, Completion::device, words, occurrence};
}
constexpr Option json_option(std::string_view help) {
  return {"--json", 'j', "", help};
}
constexpr Option csv_option = {"--csv", 0, "", "Print comma-separated values"};
constexpr Option user_option = {"--user", 'u', "USER",
                                "Only processes of this user: name or number", Completion::user};
constexpr Option match_option(std::string_view help) {
  return {"--match", 0, "GLOB", help, Completion::nothing, "", Occurrence::once};
}
constexpr Option sort_option(std::string_view help, std::string_view words) {
  return {"--sort", 0, "KEY", help, Completion::words, words};
}
constexpr Option output_option = {
    "--output", 'o', "FILE", "Write the report to FILE as JSON (.json)", Completion::file, "json"};
constexpr Option force_option(std::string_view help) {
  return {"--force", 0, "", help};
}

// Program for hmn to run, with its own arguments.
constexpr Option command_argument(Occurrence occurrence) {
  return {"COMMAND", 0, "", "", Completion::program, "", occurrence};
}

// Options and arguments as given on a command line.
class Arguments {
 public:
  bool has(std::string_view name) const { return values_.contains(name); }
  // Returns the last value given; none: the option was not given.
  std::optional<std::string> text(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  void set(std::string_view name, std::vector<std::string> values) {
    values_.emplace(name, std::move(values));
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// A command of hmn: its options and its implementation.
struct Command {
  CommandId id = CommandId::summary;
  std::string_view name;
  std::string_view purpose;
  std::span<const Option> options = {};  // in addition to those of every command
  std::string_view examples;
  // Stores the arguments in `options`; returns a failure if one is invalid.
  std::optional<Failure> (*read)(const Arguments& arguments, Options& options) = nullptr;
  Expected<ExitCode> (*run)(const Session& session, const Options& options,
                            const Style& style) = nullptr;
  // For a command that only prints a text; replaces `read` and `run`.
  Expected<Information> (*print)(const Arguments& arguments) = nullptr;
};

extern const Command summary_command;
extern const Command top_command;
extern const Command ps_command;
extern const Command snapshot_command;
extern const Command log_command;
extern const Command metrics_command;
extern const Command fit_command;
extern const Command record_machine_command;
extern const Command run_command;
extern const Command wait_command;
extern const Command spill_command;
extern const Command watch_command;
extern const Command exporter_command;
extern const Command doctor_command;
extern const Command completion_command;
extern const Command help_command;
extern const Command version_command;

// Returns the commands in the order of the help, without the summary.
std::span<const Command* const> list_commands();
// Returns the command of that name; nullptr: there is none.
const Command* find_command(std::string_view name);
const Command& get_command(CommandId id);
Failure unknown_command_error(std::string_view name);

// Returns the options and arguments of a command, with those of every command.
std::vector<Option> list_options(const Command& command);

std::string format_help(const Command& command);
std::string format_version();

}  // namespace hmn::cli
