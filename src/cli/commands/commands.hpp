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
enum class completion { nothing, words, list, file, device, pid, user, machine, command, program };

// How often an option may be given: of one that is given again the last counts, unless it may be
// given only once. An argument may be missing, unless it is required.
enum class uses { last, once, many, required };

// An option of a command, or an argument. Parsing, the help, the completions of shells and the
// manual pages follow it.
struct option {
  std::string_view name;   // "--interval"; of an argument "MODEL"
  char letter = 0;         // of "-i"; 0: none
  std::string_view value;  // "DURATION"; empty: it takes none
  std::string_view help;
  completion completes = completion::nothing;
  std::string_view words = {};  // to complete, between blanks; of a file, the ends of names
  uses times = uses::last;
  std::string_view alias = {};  // an earlier name, accepted and not listed

  constexpr bool is_argument() const { return !name.starts_with("--"); }
};

// Options of several commands. A letter means the same in each.
constexpr option interval_option(std::string_view help, std::string_view words) {
  return {"--interval", 'i', "DURATION", help, completion::words, words};
}
constexpr option duration_option = {
    "--duration", 0, "DURATION", "Exit after this time", completion::words, "10s 1m 1h"};
constexpr option device_option(
    std::string_view help = "Only this device: index, UUID or PCI address", uses times = uses::once,
    std::string_view more = "") {
  return {"--device", 'd', "DEVICE", help, completion::device, more, times};
}
constexpr option json_option(std::string_view help) {
  return {"--json", 'j', "", help};
}
constexpr option csv_option = {"--csv", 0, "", "Print comma-separated values"};
constexpr option user_option = {"--user", 'u', "USER",
                                "Only processes of this user: name or number", completion::user};
constexpr option match_option(std::string_view help) {
  return {"--match", 0, "GLOB", help, completion::nothing, "", uses::once};
}
constexpr option sort_option(std::string_view help, std::string_view words) {
  return {"--sort", 0, "KEY", help, completion::words, words};
}
constexpr option output_option = {
    "--output", 'o', "FILE", "Write the report to FILE as JSON (.json)", completion::file, "json"};
constexpr option force_option(std::string_view help) {
  return {"--force", 0, "", help};
}

// The command that hmn is to run, with its own arguments.
constexpr option command_argument(uses times) {
  return {"COMMAND", 0, "", "", completion::program, "", times};
}

// Options and arguments as given on a command line.
class arguments {
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
struct command_entry {
  command id = command::summary;
  std::string_view name;
  std::string_view purpose;
  std::span<const option> takes = {};  // in addition to those of every command
  std::string_view examples;
  // Stores what was given, or returns what is wrong with it.
  std::optional<failure> (*read)(const arguments& from, options& to) = nullptr;
  expected<exit_code> (*run)(const session& in, const options& asked, const style& as) = nullptr;
  // Of a command that only prints something.
  expected<information> (*print)(const arguments& from) = nullptr;
};

extern const command_entry summary_command;
extern const command_entry top_command;
extern const command_entry ps_command;
extern const command_entry snapshot_command;
extern const command_entry log_command;
extern const command_entry metrics_command;
extern const command_entry fit_command;
extern const command_entry record_machine_command;
extern const command_entry run_command;
extern const command_entry wait_command;
extern const command_entry spill_command;
extern const command_entry watch_command;
extern const command_entry exporter_command;
extern const command_entry doctor_command;
extern const command_entry completion_command;
extern const command_entry help_command;
extern const command_entry version_command;

// Returns the commands in the order of the help, without the summary.
std::span<const command_entry* const> all_commands();
// Returns the command of that name; nullptr: there is none.
const command_entry* find_command(std::string_view name);
const command_entry& entry_of(command id);
failure no_such_command(std::string_view name);

// Returns the options and arguments of a command, with those of every command.
std::vector<option> options_of(const command_entry& of);

std::string help_text(const command_entry& of);
std::string version_text();

}  // namespace hmn::cli
