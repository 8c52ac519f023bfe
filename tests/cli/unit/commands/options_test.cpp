// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/options.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"

using namespace hmn::cli;

namespace {

auto parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "hmn");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

Options parse_valid(std::vector<const char*> arguments) {
  const auto answer = parse(std::move(arguments));
  REQUIRE(answer);
  REQUIRE(std::holds_alternative<Options>(*answer));
  return std::get<Options>(*answer);
}

std::string parse_error(std::vector<const char*> arguments) {
  const auto answer = parse(std::move(arguments));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ExitCode::usage);
  return answer.error().message;
}

std::string information_text(std::vector<const char*> arguments) {
  const auto answer = parse(std::move(arguments));
  REQUIRE(answer);
  REQUIRE(std::holds_alternative<Information>(*answer));
  return std::get<Information>(*answer).text;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("without arguments the summary runs with default options") {
  const auto plain = parse_valid({});
  CHECK(plain.command == CommandId::summary);
  CHECK_FALSE(plain.json);
  CHECK(plain.timeout_ms == 60'000);
  CHECK_FALSE(plain.trace);
  CHECK(plain.machine.empty());
  CHECK(plain.colour == ColourChoice::automatic);
  CHECK(parse_valid({"--json"}).json);
  CHECK(parse_valid({"--json", "--trace"}).json);
}

TEST_CASE("a command is selected by its name") {
  CHECK(parse_valid({"ps"}).command == CommandId::ps);
  CHECK(parse_valid({"snapshot"}).command == CommandId::snapshot);
  CHECK(parse_valid({"doctor"}).command == CommandId::doctor);
}

TEST_CASE("common options may come before or after the command, and the last one wins") {
  CHECK(parse_valid({"--timeout", "5s", "ps"}).timeout_ms == 5'000);
  CHECK(parse_valid({"ps", "--timeout=5s"}).timeout_ms == 5'000);
  CHECK(parse_valid({"--timeout", "5s", "ps", "--timeout", "6s"}).timeout_ms == 6'000);
  CHECK(parse_valid({"--timeout", "5s", "--timeout", "7s"}).timeout_ms == 7'000);
  CHECK(parse_valid({"--timeout", "99999999h"}).timeout_ms == 4294967295u);
  CHECK(parse_valid({"--machine", "a.json", "doctor"}).machine == "a.json");
  CHECK(parse_valid({"snapshot", "--machine", "b.json"}).machine == "b.json");
  CHECK(parse_valid({"--trace", "ps"}).trace);
  CHECK(parse_valid({"ps", "--trace"}).trace);
  CHECK(parse_valid({"--color", "never"}).colour == ColourChoice::never);
  CHECK(parse_valid({"--color=always", "ps"}).colour == ColourChoice::always);
}

TEST_CASE("ps accepts filters, a sort key, a pattern and JSON output") {
  const auto all = parse_valid(
      {"ps", "--pid", "42", "--device", "GPU-1", "--sort", "ram", "--match", "py*", "--json"});
  CHECK(all.pid == 42u);
  CHECK(all.devices == std::vector<std::string>{"GPU-1"});
  CHECK(all.sort == SortKey::ram);
  CHECK(all.match == "py*");
  CHECK(all.json);
  CHECK(contains(parse_error({"ps", "--match", ""}), "--match \"\": expected"));
}

TEST_CASE("--sort accepts each key, and two old names as aliases") {
  CHECK(parse_valid({"ps"}).sort == SortKey::vram);
  CHECK(parse_valid({"ps", "--sort", "vram"}).sort == SortKey::vram);
  CHECK(parse_valid({"ps", "--sort", "dedicated"}).sort == SortKey::vram);
  CHECK(parse_valid({"ps", "--sort", "committed"}).sort == SortKey::vram);
  CHECK(parse_valid({"ps", "--sort", "shared"}).sort == SortKey::shared);
  CHECK(parse_valid({"ps", "--sort", "total"}).sort == SortKey::total);
  CHECK(parse_valid({"ps", "--sort", "pid"}).sort == SortKey::pid);
  CHECK(parse_valid({"ps", "--sort", "name"}).sort == SortKey::name);
  CHECK(contains(parse_error({"ps", "--sort", "VRAM"}), "\"VRAM\""));
  const auto message = parse_error({"ps", "--sort", "bogus"});
  CHECK(contains(message, "\"bogus\""));
  CHECK(contains(message, "vram, shared, total, ram, pid, name, load or user"));
  CHECK_FALSE(contains(message, "dedicated"));
}

TEST_CASE("watch has default options, removes duplicate PIDs and refuses invalid durations") {
  const auto defaults = parse_valid({"watch"}).watch;
  CHECK(defaults.pids.empty());
  CHECK(defaults.interval_ms == 5000);
  CHECK_FALSE(defaults.duration_ms);
  CHECK(defaults.top_count == 5);
  CHECK_FALSE(defaults.follow_new);
  CHECK(parse_valid({"watch", "7", "8", "7"}).watch.pids == std::vector<std::uint32_t>{7, 8});
  CHECK(contains(parse_error({"watch", "--interval", "bogus"}), "\"bogus\""));
  CHECK(contains(parse_error({"watch", "--duration", "0"}), "--duration"));
}

TEST_CASE("spill has a default interval and requires a command after its options") {
  const auto options = parse_valid({"spill", "--", "python", "train.py", "--lr", "0.1"});
  CHECK(options.spill.interval_ms == 100);
  CHECK(options.words == std::vector<std::string>{"python", "train.py", "--lr", "0.1"});
  CHECK(parse_valid({"spill", "--interval", "1ms", "--", "true"}).spill.interval_ms == 1);
  CHECK(contains(parse_error({"spill", "--interval", "0ms", "--", "true"}), "at least 1ms"));
  CHECK(contains(parse_error({"spill"}), "expected a command"));
}

TEST_CASE("an invalid option value is refused with the option's name and the expected values") {
  CHECK(contains(parse_error({"--timeout", ""}), "--timeout"));
  CHECK(contains(parse_error({"--color", "blue"}), "auto, always or never"));
  CHECK(contains(parse_error({"--machine", ""}), "path of a file"));
  CHECK(contains(parse_error({"ps", "--pid", "x"}), "\"x\""));
  CHECK(contains(parse_error({"ps", "--pid", "0"}), "from 1 to 4294967295"));
  CHECK(contains(parse_error({"ps", "--pid", "4294967296"}), "4294967296"));
  CHECK(contains(parse_error({"ps", "--pid", "-1"}), "--pid"));
  CHECK(contains(parse_error({"ps", "--pid", "1", "--pid", "2"}), "--pid"));
}

TEST_CASE("an unknown option, command or argument is quoted in the error") {
  CHECK(contains(parse_error({"--bogus"}), "\"--bogus\": no such option"));
  CHECK(contains(parse_error({"pss"}), "\"pss\": no such command"));
  CHECK(contains(parse_error({"ps", "extra"}), "\"extra\": unexpected argument"));
  CHECK(contains(parse_error({"ps", "--bogus"}), "hmn ps --help"));
  CHECK(contains(parse_error({"--pid", "1"}), "\"--pid\""));
  CHECK(contains(parse_error({"ps", "--sort"}), "--sort"));
  CHECK(contains(parse_error({"ps", "doctor"}), "doctor"));
}

TEST_CASE("a misspelled command or option is answered with a suggestion, whatever its case") {
  CHECK(contains(parse_error({"pss"}), "did you mean ps?"));
  CHECK(contains(parse_error({"Top"}), "did you mean top?"));
  CHECK(contains(parse_error({"help", "LOG"}), "did you mean log?"));
  CHECK(contains(parse_error({"top", "--interva", "1s"}), "did you mean --interval?"));
  CHECK(contains(parse_error({"ps", "--Sort=ram"}), "did you mean --sort?"));
  CHECK_FALSE(contains(parse_error({"bogus"}), "did you mean"));
  CHECK_FALSE(contains(parse_error({"ps", "--bogus"}), "did you mean"));
}

TEST_CASE("across all commands each letter means one option, and each option has one letter") {
  std::map<char, std::string_view> name_by_letter;
  std::map<std::string_view, char> letter_by_name;
  std::vector<const Command*> commands(list_commands().begin(), list_commands().end());
  commands.push_back(&summary_command);
  for (const auto* command : commands)
    for (const auto& option : list_options(*command)) {
      CHECK(letter_by_name.emplace(option.name, option.letter).first->second == option.letter);
      if (option.letter != 0)
        CHECK(name_by_letter.emplace(option.letter, option.name).first->second == option.name);
    }
}

TEST_CASE("every word that completion offers is accepted") {
  for (const auto* command : list_commands())
    for (const auto& option : list_options(*command)) {
      if (option.completion != Completion::words && option.completion != Completion::list) continue;
      std::istringstream words{std::string(option.words)};
      for (std::string word; words >> word;) {
        const std::string command_name(command->name);
        const std::string option_name(option.name);
        const auto answer = option.is_argument()
                                ? parse({command_name.c_str(), word.c_str()})
                                : parse({command_name.c_str(), option_name.c_str(), word.c_str()});
        // Some other argument may be missing.
        if (!answer) CHECK_FALSE(contains(answer.error().message, word));
      }
    }
}

TEST_CASE("short options are parsed as getopt does") {
  CHECK(parse_valid({"log", "-n5"}).log.count == 5u);
  CHECK(parse_valid({"log", "-n", "5", "-i", "2"}).log.interval_ms == 2000);
  CHECK(parse_valid({"log", "-jd0", "-i2s"}).device == "0");
  CHECK(parse_valid({"-jd", "0", "log"}).device == "0");
  CHECK(parse_valid({"-jd0", "ps"}).json);
  CHECK(parse_valid({"ps", "-p", "42"}).pid == 42u);
  CHECK(parse_valid({"top", "-u", "www", "-n", "2"}).top.frames == 2u);
  CHECK(parse_valid({"top", "--frames", "2"}).top.frames == 2u);
  CHECK(parse_valid({"run", "-o", "x.json", "make", "-j8"}).words.size() == 2);
  CHECK(contains(parse_error({"log", "-n", "x"}), "--count \"x\": expected a whole number"));
}

TEST_CASE("an option before the command name applies to that command") {
  for (const char* const name : {"ps", "log", "metrics", "doctor", "watch", "snapshot"})
    CHECK(parse_valid({"--json", name}).json);
  CHECK(parse_valid({"--json", "wait", "--free", "1GiB"}).json);
  CHECK(parse_valid({"--json", "run", "make", "--json"}).words.size() == 2);
  CHECK(parse_valid({"--json", "run", "make"}).run.reports.size() == 1);
  CHECK(parse_valid({"--device", "0", "ps"}).devices.front() == "0");
  CHECK(parse_valid({"--sort=ram", "ps", "--match", "x"}).sort == SortKey::ram);
  CHECK(parse_valid({"--machine", "x", "ps"}).machine == "x");
  CHECK(parse_valid({"--timeout", "3s", "wait", "--free", "1GiB"}).wait.timeout_ms == 3000u);
  CHECK(parse_valid({"--timeout", "3s", "exporter"}).exporter.timeout_ms == 3000u);
  CHECK(contains(parse_error({"--json", "top"}), "\"--json\": no such option (see `hmn top"));
  CHECK(contains(parse_error({"--machine", "x", "ps", "--machine", "y"}), "expected once"));
}

TEST_CASE("the wrapped command begins at the first word that is not an option, or after --") {
  using CommandWords = std::vector<std::string>;
  CHECK(parse_valid({"run", "make", "-j8"}).words == CommandWords{"make", "-j8"});
  CHECK(parse_valid({"run", "--interval", "1s", "make", "--json"}).words ==
        CommandWords{"make", "--json"});
  CHECK(parse_valid({"run", "make", "--json", "x"}).run.reports.empty());
  CHECK(parse_valid({"run", "--json", "make", "x"}).words == CommandWords{"make", "x"});
  CHECK(parse_valid({"run", "sh", "--", "x", "--"}).words == CommandWords{"sh", "--", "x", "--"});
  CHECK(parse_valid({"run", "--", "--odd", "--"}).words == CommandWords{"--odd", "--"});
  CHECK(parse_valid({"run", "ps", "-h"}).words == CommandWords{"ps", "-h"});
  CHECK(parse_valid({"spill", "hmn", "run", ""}).words == CommandWords{"hmn", "run", ""});
  CHECK(parse_valid({"wait", "--free", "1GiB", "env", "-i"}).words == CommandWords{"env", "-i"});
  CHECK(contains(parse_error({"run", "--odd", "make"}), "\"--odd\": no such option"));
  CHECK(contains(parse_error({"run", "--record", "--", "make"}), "--record"));
}

TEST_CASE("hmn help prints the same text as --help") {
  CHECK(information_text({"help"}) == information_text({"--help"}));
  CHECK(information_text({"help", "ps"}) == information_text({"ps", "--help"}));
  CHECK(contains(parse_error({"help", "bogus"}), "no such command"));
}

TEST_CASE("help and version are answered before other arguments are checked") {
  CHECK(information_text({"--version"}).starts_with("hmn "));
  CHECK(information_text({"-V"}) == information_text({"--version"}));
  CHECK(information_text({"version"}) == information_text({"--version"}));
  CHECK(contains(information_text({"--help"}), "snapshot"));
  CHECK(information_text({"-h"}) == information_text({"--help"}));
  CHECK(contains(information_text({"ps", "-h"}), "--match"));
  CHECK(contains(information_text({"ps", "--help"}), "Examples:"));
  CHECK(contains(information_text({"--help", "--bogus"}), "Examples:"));
}
