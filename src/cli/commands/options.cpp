// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cli/commands/commands.hpp"
#include "cli/commands/device_argument.hpp"
#include "cli/commands/values.hpp"
#include "cli/text/arguments.hpp"

namespace hmn::cli {
namespace {

constexpr const CommandEntry* commands[] = {
    &top_command,     &ps_command,         &snapshot_command,       &log_command,
    &metrics_command, &fit_command,        &record_machine_command, &run_command,
    &wait_command,    &spill_command,      &watch_command,          &exporter_command,
    &doctor_command,  &completion_command, &help_command,           &version_command};

constexpr Option common_options[] = {
    {"--timeout", 0, "DURATION", "Maximum wait for drivers: 30 (seconds), 500ms, 5m",
     Completion::words, "1s 10s 60s 5m"},
    {"--machine", 0, "FILE", "Read a simulated or recorded machine: file or name",
     Completion::machine, "apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation",
     Uses::once},
    {"--color", 0, "WHEN", "Use colours: auto, always, never [auto]", Completion::words,
     "auto always never"},
    {"--trace", 0, "", "Print each driver call on standard error"},
};
constexpr Option help_option = {"--help", 'h', "", "Print this help"};
constexpr Option version_option = {"--version", 'V', "", "Print the version"};

std::string name_with_hmn(const CommandEntry& of) {
  return of.name.empty() ? "hmn" : fmt::format("hmn {}", of.name);
}

Failure usage_failure(const CommandEntry& of, std::string_view message) {
  return misused(fmt::format("{} (see `{} --help`)", message, name_with_hmn(of)));
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

// Option of another tool, what does the same here, and the command line for a command without that.
struct OtherOption {
  std::string_view word;
  std::string_view options;  // between blanks
  std::string_view line;
};
// nvidia-smi, rocm-smi, nvtop, gpustat, llama.cpp and exporters.
constexpr OtherOption other_options[] = {{"-l", "--interval", "hmn top"},
                                         {"--loop", "--interval", "hmn top"},
                                         {"--loop-ms", "--interval", "hmn top"},
                                         {"--watch", "--interval", "hmn top"},
                                         {"-L", "", "hmn"},
                                         {"--list-gpus", "", "hmn"},
                                         {"-q", "", "hmn metrics"},
                                         {"--query", "", "hmn metrics"},
                                         {"--query-gpu", "", "hmn log --csv"},
                                         {"--query-compute-apps", "", "hmn ps --csv"},
                                         {"--format", "--json --csv", "hmn --json"},
                                         {"--id", "--device", "hmn --device"},
                                         {"--gpu", "--device", "hmn --device"},
                                         {"--port", "--listen", "hmn exporter --listen"},
                                         {"--ctx", "--context", "hmn fit --context"},
                                         {"--ctx-size", "--context", "hmn fit --context"}};

// Command of another tool, and the one that does the same.
struct OtherCommand {
  std::string_view word;
  std::string_view name;
};
constexpr OtherCommand other_commands[] = {{"monitor", "top"},  {"pmon", "top"},
                                           {"dmon", "log"},     {"serve", "exporter"},
                                           {"estimate", "fit"}, {"record", "record-machine"},
                                           {"measure", "run"}};

// Returns "; did you mean --listen?" for an option that another tool has; empty: none has it.
std::string advice_on_other(std::string_view word, const std::vector<std::string_view>& names) {
  const auto* const found =
      std::find_if(std::begin(other_options), std::end(other_options),
                   [word](const OtherOption& each) { return each.word == word; });
  if (found == std::end(other_options)) return {};
  std::vector<std::string_view> here;
  for (const auto name : split_list(found->options, ' '))
    if (std::find(names.begin(), names.end(), name) != names.end()) here.push_back(name);
  if (here.empty()) return fmt::format("; did you mean `{}`?", found->line);
  return fmt::format("; did you mean {}?", fmt::join(here, " or "));
}

Failure no_such_option(const CommandEntry& of, const std::string& word) {
  std::vector<std::string_view> names;
  const auto all = options_of(of);
  for (const auto& each : all)
    if (!each.is_argument()) names.push_back(each.name);
  const bool is_letter = !word.starts_with("--");
  const auto name = word.substr(0, is_letter ? 2 : word.find('='));
  auto advice = advice_on_other(name, names);
  if (advice.empty()) advice = advice_on(word.substr(0, word.find('=')), names);
  return usage_failure(of, fmt::format("\"{}\": no such option{}", word, advice));
}

Failure unexpected_word(const CommandEntry& of, const std::string& word) {
  if (is_option(word)) return no_such_option(of, word);
  return usage_failure(of, fmt::format("\"{}\": unexpected argument", word));
}

// Returns an option of any command by its letter or its name.
std::optional<Option> find_option(char letter, std::string_view name) {
  std::vector<const CommandEntry*> all(std::begin(commands), std::end(commands));
  all.push_back(&summary_command);
  for (const auto* command : all)
    for (const auto& each : options_of(*command))
      if (letter != 0 ? each.letter == letter : each.name == name || each.alias == name)
        return each;
  return std::nullopt;
}

// Returns how many words an option takes, with its value if that is the next one; 0: there is no
// such option.
std::size_t words_taken_by(std::string_view word) {
  if (word.starts_with("--")) {
    const auto found = find_option(0, word.substr(0, word.find('=')));
    if (!found) return 0;
    return found->value.empty() || word.find('=') != word.npos ? 1 : 2;
  }
  for (std::size_t i = 1; i < word.size(); ++i) {
    const auto found = find_option(word[i], "");
    if (!found) return 0;
    if (!found->value.empty()) return i + 1 == word.size() ? 2 : 1;
  }
  return 1;
}

// Returns the position of the command; the end: there is none, or an unknown option before it.
std::size_t find_command_in(const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size() && is_option(words[at])) {
    const auto taken = words_taken_by(words[at]);
    if (taken == 0) return words.size();
    at += taken;
  }
  return std::min(at, words.size());
}

// Returns what is added; null for the command that hmn is to run, whose words are left over.
const CLI::Option* declare(CLI::App& app, const Option& of) {
  if (of.completes == Completion::program) {
    app.prefix_command();
    return nullptr;
  }
  auto names = of.letter != 0 ? fmt::format("-{},{}", of.letter, of.name) : std::string(of.name);
  if (!of.alias.empty()) names += fmt::format(",{}", of.alias);
  if (of.name == "--help") return app.set_help_flag(names);
  if (of.name == "--version") return app.set_version_flag(names, version_text);
  if (!of.is_argument() && of.value.empty()) return app.add_flag(names)->disable_flag_override();
  auto* const added = app.add_option(names);
  added->type_name(std::string(of.value));
  // That a required option is missing is said by what reads it, with an example.
  const bool is_required = of.times == Uses::required;
  if (is_required && of.is_argument()) added->required();
  if (of.times == Uses::last || (is_required && !of.is_argument()))
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (of.times == Uses::many)
    added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(of.is_argument());
  return added;
}

std::optional<Failure> read_device(const Arguments& from, const CommandEntry& by, Options& to) {
  const bool takes_several = std::any_of(by.takes.begin(), by.takes.end(), [](const Option& each) {
    return each.name == "--device" && each.times == Uses::many;
  });
  if (takes_several) return std::nullopt;
  to.device = from.text("--device");
  if (!to.device) return std::nullopt;
  const auto argument = parse_device_argument(*to.device);
  return argument ? std::nullopt : std::optional(argument.why());
}

std::optional<Failure> read_common(const Arguments& from, const CommandEntry& by, Options& to) {
  to.json = from.has("--json");
  to.trace = from.has("--trace");
  const bool has_own_timeout =
      std::any_of(by.takes.begin(), by.takes.end(),
                  [](const Option& each) { return each.name == "--timeout"; });
  if (!has_own_timeout) {
    to.has_timeout = from.has("--timeout");
    if (auto wrong = read_milliseconds(from, "--timeout", to.timeout_ms)) return wrong;
  }
  if (const auto colour = from.text("--color")) {
    const auto choice = choose_word("--color", *colour, colour_choice_words);
    if (!choice) return choice.why();
    to.colour = static_cast<ColourChoice>(*choice);
  }
  std::optional<std::string> machine;
  if (auto wrong = read_text(from, "--machine", a_path, machine)) return wrong;
  to.machine = machine.value_or("");
  return read_device(from, by, to);
}

// Returns the argument that is a command for hmn to run; null: there is none.
const Option* program_of(const CommandEntry& of) {
  const auto found = std::find_if(of.takes.begin(), of.takes.end(), [](const Option& each) {
    return each.completes == Completion::program;
  });
  return found == of.takes.end() ? nullptr : &*found;
}

// Stores the command that hmn is to run.
std::optional<Failure> read_program(const std::vector<std::string>& words, const CommandEntry& by,
                                    Options& to) {
  const auto* const example = by.id == Command::run     ? "hmn run make -j8"
                              : by.id == Command::spill ? "hmn spill ./train"
                                                        : "hmn wait --free 8GiB ./train";
  const auto* const program = program_of(by);
  if (program == nullptr)
    return words.empty()
               ? std::nullopt
               : std::optional(misused(fmt::format("\"{}\": unexpected argument", words.front())));
  if (words.empty() && program->times == Uses::required)
    return misused(fmt::format("expected a command, as in `{}`", example));
  if (!words.empty() && words.front().empty())
    return misused(fmt::format("COMMAND \"\": expected a command, as in `{}`", example));
  to.words = words;
  return std::nullopt;
}

// Rewrites CLI11's "--device: At Most 1 required but received 2", "--timeout: 1 required DURATION
// missing" and "json was given a disallowed flag override".
std::string mismatch_text(std::string_view message) {
  if (message.ends_with(" flag override"))
    return fmt::format("--{}: takes no value", message.substr(0, message.find(' ')));
  const std::string option(message.substr(0, message.find(':')));
  if (message.find("At Most 1 ") != message.npos) return option + ": expected once";
  return message.ends_with(" missing") ? option + ": expected a value" : std::string(message);
}

using Outcome = std::variant<Options, Information>;

// What is left of a command line once its command is known: `own` words, then those from a "--"
// on, where they are the command that hmn is to run.
struct LineOfWords {
  std::vector<std::string> own;
  std::vector<std::string> tail;
};

// Returns the command that hmn is to run: from the first word that is no option of hmn's, or after
// "--"; a later "--" belongs to it.
std::vector<std::string> program_in(std::vector<std::string> rest,
                                    const std::vector<std::string>& tail) {
  const bool is_begun = !rest.empty();
  rest.insert(rest.end(), tail.begin() + (is_begun || tail.empty() ? 0 : 1), tail.end());
  return rest;
}

// Returns an option with nothing after its "=": CLI11 would take the next word for its value.
std::optional<std::string> find_empty_value(const CommandEntry& of,
                                            const std::vector<std::string>& words) {
  for (std::size_t at = 0; at < words.size() && words[at] != "--";) {
    const auto& word = words[at];
    if (!is_option(word) && program_of(of) != nullptr) return std::nullopt;
    const auto name = word.substr(0, word.size() - 1);
    const auto found = word.ends_with('=') ? find_option(0, name) : std::nullopt;
    if (found && !found->value.empty()) return name;
    at += is_option(word) ? std::max<std::size_t>(words_taken_by(word), 1) : 1;
  }
  return std::nullopt;
}

Expected<Outcome> outcome_of(const CommandEntry& of, const Arguments& given,
                             const std::vector<std::string>& rest,
                             const std::vector<std::string>& tail) {
  if (!rest.empty() && is_option(rest.front())) return no_such_option(of, rest.front());
  if (of.print != nullptr) {
    const auto printed = of.print(given);
    return printed ? Expected<Outcome>(*printed) : printed.why();
  }
  Options to;
  to.run = of.id;
  if (auto wrong = read_common(given, of, to)) return *std::move(wrong);
  if (of.read != nullptr)
    if (auto wrong = of.read(given, to)) return *std::move(wrong);
  if (auto wrong = read_program(program_in(rest, tail), of, to)) return *std::move(wrong);
  return Outcome(std::move(to));
}

// Returns what no option and no argument has taken.
std::vector<std::string> rest_of(const CLI::App& app) {
  auto rest = app.remaining(true);
  std::erase(rest, "--");
  return rest;
}

Expected<Outcome> parse(const CommandEntry& of, const LineOfWords& line) {
  if (const auto name = find_empty_value(of, line.own))
    return usage_failure(of, *name + ": expected a value");
  CLI::App app;
  auto takes = options_of(of);
  if (of.print != nullptr)
    takes.insert(takes.end(), std::begin(common_options), std::end(common_options));
  if (&of != &summary_command) takes.push_back(version_option);
  std::vector<const CLI::Option*> declared;
  for (const auto& each : takes) declared.push_back(declare(app, each));
  try {
    app.parse(std::vector<std::string>(line.own.rbegin(), line.own.rend()));
  } catch (const CLI::CallForHelp&) {
    return Outcome(Information{help_text(of)});
  } catch (const CLI::CallForVersion& version) {
    return Outcome(Information{version.what()});
  } catch (const CLI::ExtrasError&) {
    return unexpected_word(of, rest_of(app).front());
  } catch (const CLI::RequiredError& error) {
    const auto extra = rest_of(app);
    return extra.empty() ? usage_failure(of, error.what()) : unexpected_word(of, extra.front());
  } catch (const CLI::ArgumentMismatch& error) {
    return usage_failure(of, mismatch_text(error.what()));
  } catch (const CLI::ParseError& error) {
    return usage_failure(of, error.what());
  }
  Arguments given;
  for (std::size_t i = 0; i < takes.size(); ++i)
    if (declared[i] != nullptr && declared[i]->count() > 0)
      given.set(takes[i].name, declared[i]->results());
  return outcome_of(of, given, rest_of(app), line.tail);
}

}  // namespace

std::span<const CommandEntry* const> all_commands() {
  return commands;
}

const CommandEntry* find_command(std::string_view name) {
  const auto* const* const found =
      std::find_if(std::begin(commands), std::end(commands),
                   [name](const CommandEntry* each) { return each->name == name; });
  return found == std::end(commands) ? nullptr : *found;
}

const CommandEntry& entry_of(Command id) {
  for (const auto* each : commands)
    if (each->id == id && each->run != nullptr) return *each;
  return summary_command;
}

Failure no_such_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto* each : commands) names.push_back(each->name);
  const auto* const other =
      std::find_if(std::begin(other_commands), std::end(other_commands),
                   [name](const OtherCommand& each) { return each.word == name; });
  auto advice = other != std::end(other_commands) ? fmt::format("; did you mean {}?", other->name)
                                                  : advice_on(name, names);
  const auto last = names.back();
  names.pop_back();
  if (advice.empty()) advice = fmt::format("; there are {} and {}", fmt::join(names, ", "), last);
  return misused(fmt::format("\"{}\": no such command{} (see `hmn --help`)", name, advice));
}

std::vector<Option> options_of(const CommandEntry& of) {
  std::vector<Option> all(of.takes.begin(), of.takes.end());
  const auto add = [&](const Option& each) {
    if (std::none_of(of.takes.begin(), of.takes.end(),
                     [&](const Option& own) { return own.name == each.name; }))
      all.push_back(each);
  };
  if (of.print == nullptr) std::for_each(std::begin(common_options), std::end(common_options), add);
  add(help_option);
  if (&of == &summary_command) add(version_option);
  return all;
}

// An option in front of a command belongs to the command.
Expected<std::variant<Options, Information>> parse_options(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto end = std::find(words.begin(), words.end(), "--");
  LineOfWords line{{words.begin(), end}, {end, words.end()}};
  const auto* of = &summary_command;
  if (const auto at = find_command_in(line.own); at < line.own.size()) {
    of = find_command(line.own[at]);
    if (of == nullptr) return no_such_command(line.own[at]);
    line.own.erase(line.own.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (program_of(*of) == nullptr) {  // CLI11 knows "--"
    line.own.insert(line.own.end(), line.tail.begin(), line.tail.end());
    line.tail.clear();
  }
  auto parsed = parse(*of, line);
  if (!parsed) return parsed.why();
  if (auto* const to = std::get_if<Options>(&*parsed))
    to->exporter.command_line.assign(argv, argv + argc);
  return parsed;
}

}  // namespace hmn::cli
