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

std::vector<file_to_write> written_by(const options& of) {
  std::vector<file_to_write> all;
  const auto add = [&all](const std::optional<file_to_write>& each) {
    if (each) all.push_back(*each);
  };
  switch (of.run) {
    case command::run:
      add(of.measured.record);
      add(of.measured.plot);
      all.insert(all.end(), of.measured.reports.begin(), of.measured.reports.end());
      return all;
    case command::spill:
      return of.spill.reports;
    case command::record_machine:
      add(of.file);
      return all;
    case command::exporter:
      add(of.exporter.text_file);
      return all;
    default:
      return all;
  }
}

struct named_file {
  const char* option;
  std::string path;
};

std::vector<named_file> read_by(const options& of) {
  std::vector<named_file> all;
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
std::optional<failure> check_distinct(const std::vector<file_to_write>& written,
                                      std::vector<named_file> before) {
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
failure with_hint(failure why, const options& of) {
  const auto& word = of.words.front();
  if (of.run != command::wait && (word == "-" || word.ends_with(".json")))
    why.message += "; --json takes no file, --output FILE does";
  return why;
}

}  // namespace

std::optional<failure> check_files(const options& of) {
  if (!of.words.empty())
    if (auto missing = child::why_not_found(of.words.front()))
      return with_hint(*std::move(missing), of);
  const auto written = written_by(of);
  if (auto twice = check_distinct(written, read_by(of))) return twice;
  for (const auto& each : written)
    if (auto refused = why_not_writable(each)) return refused;
  return std::nullopt;
}

void count_unwritten(const std::optional<failure>& why, exit_code& code) {
  if (!why) return;
  write_notice(why->message);
  if (code == exit_code::done) code = exit_code::wrapper_failed;
}

}  // namespace hmn::cli
