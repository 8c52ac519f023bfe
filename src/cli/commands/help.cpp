// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <iterator>

#include "cli/commands/commands.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t text_column = 30;

std::string row(const std::string& title, std::string_view text) {
  return fmt::format("  {:<{}}{}\n", title, text_column - 2, text);
}

// Returns "-i, --interval DURATION", or "PID ...".
std::string title_of(const Option& of) {
  auto title = std::string(of.name);
  if (!of.is_argument())
    title = (of.letter != 0 ? fmt::format("-{}, ", of.letter) : std::string(4, ' ')) + title;
  if (!of.value.empty()) title += fmt::format(" {}", of.value);
  if (of.times == Uses::many) title += " ...";
  return title;
}

std::string argument_in_usage(const Option& of) {
  auto text = std::string(of.name);
  if (of.completes == Completion::program) text += " [ARGUMENT...]";
  if (of.times == Uses::many) text += "...";
  return of.times == Uses::required ? text : fmt::format("[{}]", text);
}

std::string usage_of(const CommandEntry& of) {
  auto text = fmt::format("Usage: hmn{}{}", of.name.empty() ? "" : " ", of.name);
  for (const auto& each : of.takes)
    if (!each.is_argument() && each.times == Uses::required)
      text += fmt::format(" {} {}", each.name, each.value);
  text += " [OPTIONS]";
  if (of.id == Command::summary && of.run != nullptr) text += " [COMMAND]";
  for (const auto& each : of.takes)
    if (each.is_argument()) text += " " + argument_in_usage(each);
  return text + "\n";
}

std::string rows_of(const std::vector<Option>& all, std::string_view heading, bool of_arguments) {
  std::string rows;
  for (const auto& each : all)
    if (each.is_argument() == of_arguments && each.completes != Completion::program)
      rows += row(title_of(each), each.help);
  return rows.empty() ? rows : fmt::format("\n{}:\n{}", heading, rows);
}

std::string command_rows() {
  std::string rows = "\nCommands:\n";
  for (const auto* each : all_commands()) rows += row(std::string(each->name), each->purpose);
  return rows;
}

Expected<Information> print_help(const Arguments& from) {
  const auto name = from.text("COMMAND");
  if (!name) return Information{help_text(summary_command)};
  const auto* const found = find_command(*name);
  if (found == nullptr) return no_such_command(*name);
  return Information{help_text(*found)};
}

constexpr Option options_of_help[] = {
    {"COMMAND", 0, "", "Command whose help to print", Completion::command},
};

constexpr std::string_view examples_of_help =
    "Examples:\n"
    "  hmn help                             what hmn can do\n"
    "  hmn help ps                          the same as hmn ps --help\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

constexpr std::string_view examples_of_version =
    "Examples:\n"
    "  hmn version                          the same as hmn --version\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

Expected<Information> print_version(const Arguments&) {
  return Information{version_text()};
}

}  // namespace

std::string version_text() {
  return fmt::format("hmn {}\n", hypomnesis::version_string());
}

std::string help_text(const CommandEntry& of) {
  const auto all = options_of(of);
  return fmt::format("{}\n{}{}{}{}\n{}\n", of.purpose, usage_of(of),
                     rows_of(all, "Arguments", true), rows_of(all, "Options", false),
                     &of == &summary_command ? command_rows() : "", of.examples);
}

const CommandEntry help_command = {
    .name = "help",
    .purpose = "Print this help, or the help of a command",
    .takes = options_of_help,
    .examples = examples_of_help,
    .print = print_help,
};

const CommandEntry version_command = {
    .name = "version",
    .purpose = "Print the version",
    .examples = examples_of_version,
    .print = print_version,
};

}  // namespace hmn::cli
