// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/values.hpp"
#include "cli/system/file.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

// Start of a line of a recording, which has one file, program run or answer per line.
struct LineStart {
  std::string_view text;
  std::string_view prefix;
};
constexpr LineStart line_starts[] = {{"{\"path\":\"", ""}, {"{\"node\":\"", "answers of "}};

bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// Replaces numbers and PCI addresses by "*".
std::string generalize_path(std::string_view path) {
  std::string kind;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    kind += '/';
    kind += is_number(part) ? "*" : part;
  }
  return kind;
}

// Returns a line for each kind of file in the recording: "/proc/*/stat (31)".
std::vector<std::string> list_file_kinds(std::string_view text) {
  std::map<std::string, int> counts;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const auto& start : line_starts) {
      if (!line.starts_with(start.text)) continue;
      const auto rest = line.substr(start.text.size());
      ++counts[std::string(start.prefix) + generalize_path(rest.substr(0, rest.find('"')))];
    }
    if (line.starts_with("{\"name\":")) ++counts["a device as its driver describes it"];
  }
  std::vector<std::string> lines;
  for (const auto& [kind, count] : counts) {
    lines.push_back(count == 1 ? kind : fmt::format("{} ({})", kind, count));
  }
  return lines;
}

Expected<std::string> get_recording(const Session& session) {
  using hypomnesis::status_code;
  try {
    return session.library().recording();
  } catch (const hypomnesis::error& error) {
    if (error.status() == status_code::state)
      return make_failure("a simulated machine is not recorded");
    if (error.status() == status_code::limit)
      return make_failure("more was read than the 16 MiB of a machine file");
    throw;
  }
}

Expected<ExitCode> run_record_machine(const Session& session, const Options& options,
                                      const Style&) {
  hypomnesis::snapshot_options request;
  request.collect = everything;
  session.collect(request);
  const auto text = get_recording(session);
  if (!text) return text.error();
  if (auto failure = write_file(*options.file, *text, Readers::owner)) return *std::move(failure);
  for (const auto& line : list_file_kinds(*text)) write_notice("kept: " + line);
  write_notice(fmt::format(
      "{}: {} bytes; of processes it keeps program names, numbers and known words; "
      "review it before you share it",
      options.file->path == "-" ? "standard output" : fmt::format("\"{}\"", options.file->path),
      text->size()));
  return ExitCode::done;
}

constexpr Option record_machine_options[] = {
    {"FILE", 0, "", "File to write", Completion::file, "json", Occurrence::required},
    force_option("Replace an existing file"),
};

constexpr std::string_view record_machine_examples =
    "Examples:\n"
    "  hmn record-machine machine.json\n"
    "  hmn --machine machine.json           the same machine, anywhere\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-record-machine(1).";

std::optional<Failure> read_record_machine(const Arguments& arguments, Options& options) {
  std::optional<std::string> file;
  if (auto failure = read_text(arguments, "FILE", expected_path, file)) return failure;
  options.file = {"FILE", *file, {}, arguments.has("--force")};
  return std::nullopt;
}

}  // namespace

const Command record_machine_command = {
    .id = CommandId::record_machine,
    .name = "record-machine",
    .purpose = "Record this machine to a file to replay elsewhere",
    .options = record_machine_options,
    .examples = record_machine_examples,
    .read = read_record_machine,
    .run = run_record_machine,
};

}  // namespace hmn::cli
