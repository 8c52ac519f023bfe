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

// What a shell completes where a value is expected.
enum class Completion { nothing, words, list, file, device, pid, user, machine, command, program };

// How often an option may be given: of one that is given again the last counts, unless it may be
// given only once. An argument may be missing, unless it is required.
enum class Uses { last, once, many, required };

// An option of a command, or an argument. Parsing, the help, the completions of shells and the
// manual pages follow it.
struct Option {
  std::string_view name;   // "--interval"; of an argument "MODEL"
  char letter = 0;         // of "-i"; 0: none
  std::string_view value;  // "DURATION"; empty: it takes none
  std::string_view help;
  Completion completes = Completion::nothing;
  std::string_view words = {};  // to complete, between blanks; of a file, the ends of names
  Uses times = Uses::last;
  std::string_view alias = {};  // an earlier name, accepted and not listed

  constexpr bool is_argument() const { return !name.starts_with("--"); }
};

// Options of several commands. A letter means the same in each.
constexpr Option interval_option(std::string_view help, std::string_view words) {
  return {"--interval", 'i', "DURATION", help, Completion::words, words};
}
constexpr Option duration_option = {
    "--duration", 0, "DURATION", "Exit after this time", Completion::words, "10s 1m 1h"};
constexpr Option device_option(
    std::string_view help = "Only this device: index, UUID or PCI address", Uses times = Uses::once,
    std::string_view more = "") {
  return {"--device", 'd', "DEVICE", help, Completion::device, more, times};
}
constexpr Option json_option(std::string_view help) {
  return {"--json", 'j', "", help};
}
constexpr Option csv_option = {"--csv", 0, "", "Print comma-separated values"};
constexpr Option user_option = {"--user", 'u', "USER",
                                "Only processes of this user: name or number", Completion::user};
constexpr Option match_option(std::string_view help) {
  return {"--match", 0, "GLOB", help, Completion::nothing, "", Uses::once};
}
constexpr Option sort_option(std::string_view help, std::string_view words) {
  return {"--sort", 0, "KEY", help, Completion::words, words};
}
constexpr Option output_option = {
    "--output", 'o', "FILE", "Write the report to FILE as JSON (.json)", Completion::file, "json"};
constexpr Option force_option(std::string_view help) {
  return {"--force", 0, "", help};
}

// The command that hmn is to run, with its own arguments.
constexpr Option command_argument(Uses times) {
  return {"COMMAND", 0, "", "", Completion::program, "", times};
}

// Options and arguments as given on a command line.
class Arguments {
 public:
  bool has(std::string_view name) const { return values_.contains(name); }
  // Returns the value that was given last; none: it was not given.
  std::optional<std::string> text(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  void set(std::string_view name, std::vector<std::string> values) {
    values_.emplace(name, std::move(values));
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// A command: what it is called with, and what it does.
struct CommandEntry {
  Command id = Command::summary;
  std::string_view name;
  std::string_view purpose;
  std::span<const Option> takes = {};  // in addition to those of every command
  std::string_view examples;
  // Stores what was given, or returns what is wrong with it.
  std::optional<Failure> (*read)(const Arguments& from, Options& to) = nullptr;
  Expected<ExitCode> (*run)(const Session& in, const Options& asked, const Style& as) = nullptr;
  // Of a command that only prints something.
  Expected<Information> (*print)(const Arguments& from) = nullptr;
};

extern const CommandEntry summary_command;
extern const CommandEntry top_command;
extern const CommandEntry ps_command;
extern const CommandEntry snapshot_command;
extern const CommandEntry log_command;
extern const CommandEntry metrics_command;
extern const CommandEntry fit_command;
extern const CommandEntry record_machine_command;
extern const CommandEntry run_command;
extern const CommandEntry wait_command;
extern const CommandEntry spill_command;
extern const CommandEntry watch_command;
extern const CommandEntry exporter_command;
extern const CommandEntry doctor_command;
extern const CommandEntry completion_command;
extern const CommandEntry help_command;
extern const CommandEntry version_command;

// Returns the commands in the order of the help, without the summary.
std::span<const CommandEntry* const> all_commands();
// Returns the command of that name; nullptr: there is none.
const CommandEntry* find_command(std::string_view name);
const CommandEntry& entry_of(Command id);
Failure no_such_command(std::string_view name);

// Returns the options and arguments of a command, with those of every command.
std::vector<Option> options_of(const CommandEntry& of);

std::string help_text(const CommandEntry& of);
std::string version_text();

}  // namespace hmn::cli
