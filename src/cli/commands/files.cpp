// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/files.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/system/child.hpp"
#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

std::vector<OutputTarget> list_output_files(const Options& options) {
  std::vector<OutputTarget> files;
  const auto add = [&files](const std::optional<OutputTarget>& file) {
    if (file) files.push_back(*file);
  };
  switch (options.command) {
    case CommandId::run:
      add(options.run.record);
      add(options.run.plot);
      files.insert(files.end(), options.run.reports.begin(), options.run.reports.end());
      return files;
    case CommandId::spill:
      return options.spill.reports;
    case CommandId::record_machine:
      add(options.file);
      return files;
    case CommandId::exporter:
      add(options.exporter.text_file);
      return files;
    default:
      return files;
  }
}

struct OptionFile {
  const char* option;
  std::string path;
};

std::vector<OptionFile> list_input_files(const Options& options) {
  std::vector<OptionFile> files;
  if (!options.machine.empty())
    files.push_back({"--machine", options.machine});
  else if (const auto file = get_environment("HMN_SIMULATION"))
    files.push_back({"HMN_SIMULATION", *file});
  if (options.exporter.web_config) files.push_back({"--web-config", *options.exporter.web_config});
  if (!options.words.empty() &&
      options.words.front().find_first_of(path_separators) != std::string::npos)
    files.push_back({"COMMAND", options.words.front()});
  return files;
}

// Returns a failure if two options name the same file: the second would overwrite the first.
std::optional<Failure> check_distinct(const std::vector<OutputTarget>& output_files,
                                      std::vector<OptionFile> earlier_files) {
  for (const auto& file : output_files) {
    for (const auto& earlier : earlier_files)
      if (is_same_file(file.path, earlier.path))
        return make_usage_error(fmt::format("{} and {} name the same file: \"{}\"", earlier.option,
                                            file.option, file.path));
    earlier_files.push_back({file.option, file.path});
  }
  return std::nullopt;
}

// Adds a hint if a file was meant for --json, which no longer takes one, and was read as the
// command.
Failure add_hint(Failure failure, const Options& options) {
  const auto& word = options.words.front();
  if (options.command != CommandId::wait && (word == "-" || word.ends_with(".json")))
    failure.message += "; --json takes no file, --output FILE does";
  return failure;
}

}  // namespace

std::optional<Failure> check_files(const Options& options) {
  if (!options.words.empty())
    if (auto missing = Child::check_program(options.words.front()))
      return add_hint(*std::move(missing), options);
  const auto output_files = list_output_files(options);
  if (auto failure = check_distinct(output_files, list_input_files(options))) return failure;
  for (const auto& file : output_files)
    if (auto failure = check_writable(file)) return failure;
  return std::nullopt;
}

void report_unwritten_file(const std::optional<Failure>& failure, ExitCode& code) {
  if (!failure) return;
  write_notice(failure->message);
  if (code == ExitCode::done) code = ExitCode::wrapper_failed;
}

}  // namespace hmn::cli
