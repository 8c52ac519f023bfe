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

std::vector<FileToWrite> written_by(const Options& of) {
  std::vector<FileToWrite> all;
  const auto add = [&all](const std::optional<FileToWrite>& each) {
    if (each) all.push_back(*each);
  };
  switch (of.run) {
    case Command::run:
      add(of.measured.record);
      add(of.measured.plot);
      all.insert(all.end(), of.measured.reports.begin(), of.measured.reports.end());
      return all;
    case Command::spill:
      return of.spill.reports;
    case Command::record_machine:
      add(of.file);
      return all;
    case Command::exporter:
      add(of.exporter.text_file);
      return all;
    default:
      return all;
  }
}

struct NamedFile {
  const char* option;
  std::string path;
};

std::vector<NamedFile> read_by(const Options& of) {
  std::vector<NamedFile> all;
  if (!of.machine.empty())
    all.push_back({"--machine", of.machine});
  else if (const auto file = environment_value("HMN_SIMULATION"))
    all.push_back({"HMN_SIMULATION", *file});
  if (of.exporter.web_config) all.push_back({"--web-config", *of.exporter.web_config});
  if (!of.words.empty() && of.words.front().find_first_of(path_separators) != std::string::npos)
    all.push_back({"COMMAND", of.words.front()});
  return all;
}

// Returns why two options cannot name one file, of which the second would overwrite the first.
std::optional<Failure> check_distinct(const std::vector<FileToWrite>& written,
                                      std::vector<NamedFile> before) {
  for (const auto& each : written) {
    for (const auto& other : before)
      if (is_same_file(each.path, other.path))
        return misused(fmt::format("{} and {} name the same file: \"{}\"", other.option,
                                   each.option, each.path));
    before.push_back({each.option, each.path});
  }
  return std::nullopt;
}

// Names the option that took a file once, whose file is now taken for the command.
Failure with_hint(Failure why, const Options& of) {
  const auto& word = of.words.front();
  if (of.run != Command::wait && (word == "-" || word.ends_with(".json")))
    why.message += "; --json takes no file, --output FILE does";
  return why;
}

}  // namespace

std::optional<Failure> check_files(const Options& of) {
  if (!of.words.empty())
    if (auto missing = Child::why_not_found(of.words.front()))
      return with_hint(*std::move(missing), of);
  const auto written = written_by(of);
  if (auto twice = check_distinct(written, read_by(of))) return twice;
  for (const auto& each : written)
    if (auto refused = why_not_writable(each)) return refused;
  return std::nullopt;
}

void count_unwritten(const std::optional<Failure>& why, ExitCode& code) {
  if (!why) return;
  write_notice(why->message);
  if (code == ExitCode::done) code = ExitCode::wrapper_failed;
}

}  // namespace hmn::cli
