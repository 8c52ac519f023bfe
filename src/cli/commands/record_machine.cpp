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

// Start of a line: a recording has each file, run and answer on its own line.
struct Beginning {
  std::string_view text;
  std::string_view prefix;
};
constexpr Beginning beginnings[] = {{"{\"path\":\"", ""}, {"{\"node\":\"", "answers of "}};

bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// Replaces numbers and PCI addresses by "*".
std::string kind_of(std::string_view path) {
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
std::vector<std::string> kinds_in_recording(std::string_view text) {
  std::map<std::string, int> counts;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const auto& each : beginnings) {
      if (!line.starts_with(each.text)) continue;
      const auto rest = line.substr(each.text.size());
      ++counts[std::string(each.prefix) + kind_of(rest.substr(0, rest.find('"')))];
    }
    if (line.starts_with("{\"name\":")) ++counts["a device as its driver describes it"];
  }
  std::vector<std::string> lines;
  for (const auto& [kind, count] : counts) {
    lines.push_back(count == 1 ? kind : fmt::format("{} ({})", kind, count));
  }
  return lines;
}

Expected<std::string> recording_of(const Session& in) {
  using hypomnesis::status_code;
  try {
    return in.library().recording();
  } catch (const hypomnesis::error& why) {
    if (why.status() == status_code::state) return failed("a simulated machine is not recorded");
    if (why.status() == status_code::limit)
      return failed("more was read than the 16 MiB of a machine file");
    throw;
  }
}

Expected<ExitCode> run_record_machine(const Session& in, const Options& asked, const Style&) {
  hypomnesis::snapshot_options what;
  what.collect = everything;
  in.collect(what);
  const auto text = recording_of(in);
  if (!text) return text.why();
  if (auto refused = write_file(*asked.file, *text, Readers::owner)) return *std::move(refused);
  for (const auto& line : kinds_in_recording(*text)) write_notice("kept: " + line);
  write_notice(fmt::format(
      "{}: {} bytes; of processes the programs are kept, else numbers and words that "
      "are looked for; read it before you pass it on",
      asked.file->path == "-" ? "standard output" : fmt::format("\"{}\"", asked.file->path),
      text->size()));
  return ExitCode::done;
}

constexpr Option options_of_record[] = {
    {"FILE", 0, "", "File to write", Completion::file, "json", Uses::required},
    force_option("Replace an existing file"),
};

constexpr std::string_view examples_of_record =
    "Examples:\n"
    "  hmn record-machine machine.json\n"
    "  hmn --machine machine.json           the same machine, anywhere\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-record-machine(1).";

std::optional<Failure> read_record(const Arguments& from, Options& to) {
  std::optional<std::string> file;
  if (auto wrong = read_text(from, "FILE", a_path, file)) return wrong;
  to.file = {"FILE", *file, {}, from.has("--force")};
  return std::nullopt;
}

}  // namespace

const CommandEntry record_machine_command = {
    .id = Command::record_machine,
    .name = "record-machine",
    .purpose = "Record this machine to a file to replay elsewhere",
    .takes = options_of_record,
    .examples = examples_of_record,
    .read = read_record,
    .run = run_record_machine,
};

}  // namespace hmn::cli
