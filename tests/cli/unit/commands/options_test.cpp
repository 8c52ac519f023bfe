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

Options parsed(std::vector<const char*> arguments) {
  const auto answer = parse(std::move(arguments));
  REQUIRE(answer);
  REQUIRE(std::holds_alternative<Options>(*answer));
  return std::get<Options>(*answer);
}

std::string refused_options(std::vector<const char*> arguments) {
  const auto answer = parse(std::move(arguments));
  REQUIRE_FALSE(answer);
  CHECK(answer.why().code == ExitCode::usage);
  return answer.why().message;
}

std::string reported(std::vector<const char*> arguments) {
  const auto answer = parse(std::move(arguments));
  REQUIRE(answer);
  REQUIRE(std::holds_alternative<Information>(*answer));
  return std::get<Information>(*answer).text;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("no argument is the summary with its defaults") {
  const auto plain = parsed({});
  CHECK(plain.run == Command::summary);
  CHECK_FALSE(plain.json);
  CHECK(plain.timeout_ms == 60'000);
  CHECK_FALSE(plain.trace);
  CHECK(plain.machine.empty());
  CHECK(plain.colour == ColourChoice::automatic);
  CHECK(parsed({"--json"}).json);
  CHECK(parsed({"--json", "--trace"}).json);
}

TEST_CASE("each word is its command") {
  CHECK(parsed({"ps"}).run == Command::ps);
  CHECK(parsed({"snapshot"}).run == Command::snapshot);
  CHECK(parsed({"doctor"}).run == Command::doctor);
}

TEST_CASE("common options stand before or after the command, the later one wins") {
  CHECK(parsed({"--timeout", "5s", "ps"}).timeout_ms == 5'000);
  CHECK(parsed({"ps", "--timeout=5s"}).timeout_ms == 5'000);
  CHECK(parsed({"--timeout", "5s", "ps", "--timeout", "6s"}).timeout_ms == 6'000);
  CHECK(parsed({"--timeout", "5s", "--timeout", "7s"}).timeout_ms == 7'000);
  CHECK(parsed({"--timeout", "99999999h"}).timeout_ms == 4294967295u);
  CHECK(parsed({"--machine", "a.json", "doctor"}).machine == "a.json");
  CHECK(parsed({"snapshot", "--machine", "b.json"}).machine == "b.json");
  CHECK(parsed({"--trace", "ps"}).trace);
  CHECK(parsed({"ps", "--trace"}).trace);
  CHECK(parsed({"--color", "never"}).colour == ColourChoice::never);
  CHECK(parsed({"--color=always", "ps"}).colour == ColourChoice::always);
}

TEST_CASE("options of ps") {
  const auto all = parsed(
      {"ps", "--pid", "42", "--device", "GPU-1", "--sort", "ram", "--match", "py*", "--json"});
  CHECK(all.pid == 42u);
  CHECK(all.devices == std::vector<std::string>{"GPU-1"});
  CHECK(all.sort == SortKey::ram);
  CHECK(all.match == "py*");
  CHECK(all.json);
  CHECK(contains(refused_options({"ps", "--match", ""}), "--match \"\": expected"));
}

TEST_CASE("keys of --sort, and two that are kept for old scripts") {
  CHECK(parsed({"ps"}).sort == SortKey::vram);
  CHECK(parsed({"ps", "--sort", "vram"}).sort == SortKey::vram);
  CHECK(parsed({"ps", "--sort", "dedicated"}).sort == SortKey::vram);
  CHECK(parsed({"ps", "--sort", "committed"}).sort == SortKey::vram);
  CHECK(parsed({"ps", "--sort", "shared"}).sort == SortKey::shared);
  CHECK(parsed({"ps", "--sort", "total"}).sort == SortKey::total);
  CHECK(parsed({"ps", "--sort", "pid"}).sort == SortKey::pid);
  CHECK(parsed({"ps", "--sort", "name"}).sort == SortKey::name);
  CHECK(contains(refused_options({"ps", "--sort", "VRAM"}), "\"VRAM\""));
  const auto message = refused_options({"ps", "--sort", "bogus"});
  CHECK(contains(message, "\"bogus\""));
  CHECK(contains(message, "vram, shared, total, ram, pid, name, load or user"));
  CHECK_FALSE(contains(message, "dedicated"));
}

TEST_CASE("hmn watch without options") {
  const auto usual = parsed({"watch"}).watch;
  CHECK(usual.pids.empty());
  CHECK(usual.interval_ms == 5000);
  CHECK_FALSE(usual.duration_ms);
  CHECK(usual.top == 5);
  CHECK_FALSE(usual.follow_new);
  CHECK(parsed({"watch", "7", "8", "7"}).watch.pids == std::vector<std::uint32_t>{7, 8});
  CHECK(contains(refused_options({"watch", "--interval", "bogus"}), "\"bogus\""));
  CHECK(contains(refused_options({"watch", "--duration", "0"}), "--duration"));
}

TEST_CASE("hmn spill without options, and the command after them") {
  const auto usual = parsed({"spill", "--", "python", "train.py", "--lr", "0.1"});
  CHECK(usual.spill.interval_ms == 100);
  CHECK(usual.words == std::vector<std::string>{"python", "train.py", "--lr", "0.1"});
  CHECK(parsed({"spill", "--interval", "1ms", "--", "true"}).spill.interval_ms == 1);
  CHECK(contains(refused_options({"spill", "--interval", "0ms", "--", "true"}), "at least 1ms"));
  CHECK(contains(refused_options({"spill"}), "expected a command"));
}

TEST_CASE("values are named where they are wrong, with what was expected") {
  CHECK(contains(refused_options({"--timeout", ""}), "--timeout"));
  CHECK(contains(refused_options({"--color", "blue"}), "auto, always or never"));
  CHECK(contains(refused_options({"--machine", ""}), "path of a file"));
  CHECK(contains(refused_options({"ps", "--pid", "x"}), "\"x\""));
  CHECK(contains(refused_options({"ps", "--pid", "0"}), "from 1 to 4294967295"));
  CHECK(contains(refused_options({"ps", "--pid", "4294967296"}), "4294967296"));
  CHECK(contains(refused_options({"ps", "--pid", "-1"}), "--pid"));
  CHECK(contains(refused_options({"ps", "--pid", "1", "--pid", "2"}), "--pid"));
}

TEST_CASE("what is not known is named") {
  CHECK(contains(refused_options({"--bogus"}), "\"--bogus\": no such option"));
  CHECK(contains(refused_options({"pss"}), "\"pss\": no such command"));
  CHECK(contains(refused_options({"ps", "extra"}), "\"extra\": unexpected argument"));
  CHECK(contains(refused_options({"ps", "--bogus"}), "hmn ps --help"));
  CHECK(contains(refused_options({"--pid", "1"}), "\"--pid\""));
  CHECK(contains(refused_options({"ps", "--sort"}), "--sort"));
  CHECK(contains(refused_options({"ps", "doctor"}), "doctor"));
}

TEST_CASE("what was probably meant is named, whatever its case") {
  CHECK(contains(refused_options({"pss"}), "did you mean ps?"));
  CHECK(contains(refused_options({"Top"}), "did you mean top?"));
  CHECK(contains(refused_options({"help", "LOG"}), "did you mean log?"));
  CHECK(contains(refused_options({"top", "--interva", "1s"}), "did you mean --interval?"));
  CHECK(contains(refused_options({"ps", "--Sort=ram"}), "did you mean --sort?"));
  CHECK_FALSE(contains(refused_options({"bogus"}), "did you mean"));
  CHECK_FALSE(contains(refused_options({"ps", "--bogus"}), "did you mean"));
}

TEST_CASE("a letter is of one option, and an option has one letter") {
  std::map<char, std::string_view> names;
  std::map<std::string_view, char> letters;
  std::vector<const CommandEntry*> all(all_commands().begin(), all_commands().end());
  all.push_back(&summary_command);
  for (const auto* command : all)
    for (const auto& each : options_of(*command)) {
      CHECK(letters.emplace(each.name, each.letter).first->second == each.letter);
      if (each.letter != 0) CHECK(names.emplace(each.letter, each.name).first->second == each.name);
    }
}

TEST_CASE("a word that is completed is accepted") {
  for (const auto* command : all_commands())
    for (const auto& each : options_of(*command)) {
      if (each.completes != Completion::words && each.completes != Completion::list) continue;
      std::istringstream words{std::string(each.words)};
      for (std::string word; words >> word;) {
        const std::string name(command->name);
        const std::string option(each.name);
        const auto answer = each.is_argument()
                                ? parse({name.c_str(), word.c_str()})
                                : parse({name.c_str(), option.c_str(), word.c_str()});
        // Some other argument may be missing.
        if (!answer) CHECK_FALSE(contains(answer.why().message, word));
      }
    }
}

TEST_CASE("letters are read as getopt does") {
  CHECK(parsed({"log", "-n5"}).log.count == 5u);
  CHECK(parsed({"log", "-n", "5", "-i", "2"}).log.interval_ms == 2000);
  CHECK(parsed({"log", "-jd0", "-i2s"}).device == "0");
  CHECK(parsed({"-jd", "0", "log"}).device == "0");
  CHECK(parsed({"-jd0", "ps"}).json);
  CHECK(parsed({"ps", "-p", "42"}).pid == 42u);
  CHECK(parsed({"top", "-u", "www", "-n", "2"}).top.frames == 2u);
  CHECK(parsed({"top", "--frames", "2"}).top.frames == 2u);
  CHECK(parsed({"run", "-o", "x.json", "make", "-j8"}).words.size() == 2);
  CHECK(contains(refused_options({"log", "-n", "x"}), "--count \"x\": expected a whole number"));
}

TEST_CASE("an option in front of a command is the command's") {
  for (const char* const name : {"ps", "log", "metrics", "doctor", "watch", "snapshot"})
    CHECK(parsed({"--json", name}).json);
  CHECK(parsed({"--json", "wait", "--free", "1GiB"}).json);
  CHECK(parsed({"--json", "run", "make", "--json"}).words.size() == 2);
  CHECK(parsed({"--json", "run", "make"}).measured.reports.size() == 1);
  CHECK(parsed({"--device", "0", "ps"}).devices.front() == "0");
  CHECK(parsed({"--sort=ram", "ps", "--match", "x"}).sort == SortKey::ram);
  CHECK(parsed({"--machine", "x", "ps"}).machine == "x");
  CHECK(parsed({"--timeout", "3s", "wait", "--free", "1GiB"}).wait.timeout_ms == 3000u);
  CHECK(parsed({"--timeout", "3s", "exporter"}).exporter.timeout_ms == 3000u);
  CHECK(contains(refused_options({"--json", "top"}), "\"--json\": no such option (see `hmn top"));
  CHECK(contains(refused_options({"--machine", "x", "ps", "--machine", "y"}), "expected once"));
}

TEST_CASE("a command begins at the first word that is no option, or after --") {
  using Words = std::vector<std::string>;
  CHECK(parsed({"run", "make", "-j8"}).words == Words{"make", "-j8"});
  CHECK(parsed({"run", "--interval", "1s", "make", "--json"}).words == Words{"make", "--json"});
  CHECK(parsed({"run", "make", "--json", "x"}).measured.reports.empty());
  CHECK(parsed({"run", "--json", "make", "x"}).words == Words{"make", "x"});
  CHECK(parsed({"run", "sh", "--", "x", "--"}).words == Words{"sh", "--", "x", "--"});
  CHECK(parsed({"run", "--", "--odd", "--"}).words == Words{"--odd", "--"});
  CHECK(parsed({"run", "ps", "-h"}).words == Words{"ps", "-h"});
  CHECK(parsed({"spill", "hmn", "run", ""}).words == Words{"hmn", "run", ""});
  CHECK(parsed({"wait", "--free", "1GiB", "env", "-i"}).words == Words{"env", "-i"});
  CHECK(contains(refused_options({"run", "--odd", "make"}), "\"--odd\": no such option"));
  CHECK(contains(refused_options({"run", "--record", "--", "make"}), "--record"));
}

TEST_CASE("hmn help is the help") {
  CHECK(reported({"help"}) == reported({"--help"}));
  CHECK(reported({"help", "ps"}) == reported({"ps", "--help"}));
  CHECK(contains(refused_options({"help", "bogus"}), "no such command"));
}

TEST_CASE("help and version answer before anything else is asked") {
  CHECK(reported({"--version"}).starts_with("hmn "));
  CHECK(reported({"-V"}) == reported({"--version"}));
  CHECK(reported({"version"}) == reported({"--version"}));
  CHECK(contains(reported({"--help"}), "snapshot"));
  CHECK(reported({"-h"}) == reported({"--help"}));
  CHECK(contains(reported({"ps", "-h"}), "--match"));
  CHECK(contains(reported({"ps", "--help"}), "Examples:"));
  CHECK(contains(reported({"--help", "--bogus"}), "Examples:"));
}
