// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <hypomnesis.hpp>

#include <algorithm>
#include <iterator>

#include "cli/commands/commands.hpp"

namespace hmn::cli {
namespace {

constexpr std::size_t text_column = 30;

std::string format_row(const std::string& title, std::string_view text) {
  return fmt::format("  {:<{}}{}\n", title, text_column - 2, text);
}

// Returns "-i, --interval DURATION", or "PID ...".
std::string format_title(const Option& option) {
  auto title = std::string(option.name);
  if (!option.is_argument())
    title =
        (option.letter != 0 ? fmt::format("-{}, ", option.letter) : std::string(4, ' ')) + title;
  if (!option.value.empty()) title += fmt::format(" {}", option.value);
  if (option.occurrence == Occurrence::many) title += " ...";
  return title;
}

std::string format_usage_argument(const Option& option) {
  auto text = std::string(option.name);
  if (option.completion == Completion::program) text += " [ARGUMENT...]";
  if (option.occurrence == Occurrence::many) text += "...";
  return option.occurrence == Occurrence::required ? text : fmt::format("[{}]", text);
}

std::string format_usage(const Command& command) {
  auto text = fmt::format("Usage: hmn{}{}", command.name.empty() ? "" : " ", command.name);
  for (const auto& option : command.options)
    if (!option.is_argument() && option.occurrence == Occurrence::required)
      text += fmt::format(" {} {}", option.name, option.value);
  text += " [OPTIONS]";
  if (command.id == CommandId::summary && command.run != nullptr) text += " [COMMAND]";
  for (const auto& option : command.options)
    if (option.is_argument()) text += " " + format_usage_argument(option);
  return text + "\n";
}

std::string format_rows(const std::vector<Option>& options, std::string_view heading,
                        bool is_argument) {
  std::string rows;
  for (const auto& option : options)
    if (option.is_argument() == is_argument && option.completion != Completion::program)
      rows += format_row(format_title(option), option.help);
  return rows.empty() ? rows : fmt::format("\n{}:\n{}", heading, rows);
}

std::string format_command_rows() {
  std::string rows = "\nCommands:\n";
  for (const auto* command : list_commands())
    rows += format_row(std::string(command->name), command->purpose);
  return rows;
}

Expected<Information> print_help(const Arguments& arguments) {
  const auto name = arguments.text("COMMAND");
  if (!name) return Information{format_help(summary_command)};
  const auto* const command = find_command(*name);
  if (command == nullptr) return unknown_command_error(*name);
  return Information{format_help(*command)};
}

constexpr Option help_options[] = {
    {"COMMAND", 0, "", "Command whose help to print", Completion::command},
};

constexpr std::string_view help_examples =
    "Examples:\n"
    "  hmn help                             what hmn can do\n"
    "  hmn help ps                          the same as hmn ps --help\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

constexpr std::string_view version_examples =
    "Examples:\n"
    "  hmn version                          the same as hmn --version\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

Expected<Information> print_version(const Arguments&) {
  return Information{format_version()};
}

}  // namespace

std::string format_version() {
  return fmt::format("hmn {}\n", hypomnesis::version_string());
}

std::string format_help(const Command& command) {
  const auto options = list_options(command);
  return fmt::format("{}\n{}{}{}{}\n{}\n", command.purpose, format_usage(command),
                     format_rows(options, "Arguments", true),
                     format_rows(options, "Options", false),
                     &command == &summary_command ? format_command_rows() : "", command.examples);
}

const Command help_command = {
    .name = "help",
    .purpose = "Print this help, or the help of a command",
    .options = help_options,
    .examples = help_examples,
    .print = print_help,
};

const Command version_command = {
    .name = "version",
    .purpose = "Print the version",
    .examples = version_examples,
    .print = print_version,
};

}  // namespace hmn::cli
