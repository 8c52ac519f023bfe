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

constexpr const Command* commands[] = {
    &top_command,     &ps_command,         &snapshot_command,       &log_command,
    &metrics_command, &fit_command,        &record_machine_command, &run_command,
    &wait_command,    &spill_command,      &watch_command,          &exporter_command,
    &doctor_command,  &completion_command, &help_command,           &version_command};

constexpr Option common_options[] = {
    {"--timeout", 0, "DURATION", "Maximum wait for drivers: 30 (seconds), 500ms, 5m",
     Completion::words, "1s 10s 60s 5m"},
    {"--machine", 0, "FILE", "Read a simulated or recorded machine: file or name",
     Completion::machine, "apu failing laptop-asleep mig-a100 server-8gpu unified-gb10 workstation",
     Occurrence::once},
    {"--color", 0, "WHEN", "Use colours: auto, always, never [auto]", Completion::words,
     "auto always never"},
    {"--trace", 0, "", "Print each driver call on standard error"},
};
constexpr Option help_option = {"--help", 'h', "", "Print this help"};
constexpr Option version_option = {"--version", 'V', "", "Print the version"};

std::string format_command_name(const Command& command) {
  return command.name.empty() ? "hmn" : fmt::format("hmn {}", command.name);
}

Failure command_usage_error(const Command& command, std::string_view message) {
  return make_usage_error(
      fmt::format("{} (see `{} --help`)", message, format_command_name(command)));
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

// Option of another tool, its counterparts here, and a command line to suggest if the command has
// none of them.
struct ForeignOption {
  std::string_view word;
  std::string_view counterparts;  // blank-separated
  std::string_view command_line;
};
// nvidia-smi, rocm-smi, nvtop, gpustat, llama.cpp and exporters.
constexpr ForeignOption foreign_options[] = {{"-l", "--interval", "hmn top"},
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

// Command of another tool and its counterpart here.
struct ForeignCommand {
  std::string_view word;
  std::string_view name;
};
constexpr ForeignCommand foreign_commands[] = {{"monitor", "top"},  {"pmon", "top"},
                                               {"dmon", "log"},     {"serve", "exporter"},
                                               {"estimate", "fit"}, {"record", "record-machine"},
                                               {"measure", "run"}};

// Returns "; did you mean --listen?" for an option of another tool; empty: it is not one.
std::string suggest_for_foreign_option(std::string_view word,
                                       const std::vector<std::string_view>& names) {
  const auto* const match =
      std::find_if(std::begin(foreign_options), std::end(foreign_options),
                   [word](const ForeignOption& option) { return option.word == word; });
  if (match == std::end(foreign_options)) return {};
  std::vector<std::string_view> available;
  for (const auto name : split_list(match->counterparts, ' '))
    if (std::find(names.begin(), names.end(), name) != names.end()) available.push_back(name);
  if (available.empty()) return fmt::format("; did you mean `{}`?", match->command_line);
  return fmt::format("; did you mean {}?", fmt::join(available, " or "));
}

Failure unknown_option_error(const Command& command, const std::string& word) {
  std::vector<std::string_view> names;
  const auto options = list_options(command);
  for (const auto& option : options)
    if (!option.is_argument()) names.push_back(option.name);
  const bool is_letter = !word.starts_with("--");
  const auto name = word.substr(0, is_letter ? 2 : word.find('='));
  auto advice = suggest_for_foreign_option(name, names);
  if (advice.empty()) advice = suggest_word(word.substr(0, word.find('=')), names);
  return command_usage_error(command, fmt::format("\"{}\": no such option{}", word, advice));
}

Failure unexpected_word_error(const Command& command, const std::string& word) {
  if (is_option(word)) return unknown_option_error(command, word);
  return command_usage_error(command, fmt::format("\"{}\": unexpected argument", word));
}

// Finds an option of any command by its letter or its name.
std::optional<Option> find_option(char letter, std::string_view name) {
  std::vector<const Command*> all(std::begin(commands), std::end(commands));
  all.push_back(&summary_command);
  for (const auto* command : all)
    for (const auto& option : list_options(*command))
      if (letter != 0 ? option.letter == letter : option.name == name || option.alias == name)
        return option;
  return std::nullopt;
}

// Returns the number of words that an option occupies: 2 if its value is the next word; 0: unknown
// option.
std::size_t count_option_words(std::string_view word) {
  if (word.starts_with("--")) {
    const auto option = find_option(0, word.substr(0, word.find('=')));
    if (!option) return 0;
    return option->value.empty() || word.find('=') != word.npos ? 1 : 2;
  }
  for (std::size_t i = 1; i < word.size(); ++i) {
    const auto option = find_option(word[i], "");
    if (!option) return 0;
    if (!option->value.empty()) return i + 1 == word.size() ? 2 : 1;
  }
  return 1;
}

// Returns the position of the command; words.size() if there is none, or an unknown option before
// it.
std::size_t find_command_position(const std::vector<std::string>& words) {
  std::size_t position = 0;
  while (position < words.size() && is_option(words[position])) {
    const auto count = count_option_words(words[position]);
    if (count == 0) return words.size();
    position += count;
  }
  return std::min(position, words.size());
}

// Adds an option to CLI11. Returns null for the program that hmn is to run, whose words CLI11
// leaves over.
const CLI::Option* declare(CLI::App& app, const Option& option) {
  if (option.completion == Completion::program) {
    app.prefix_command();
    return nullptr;
  }
  auto names = option.letter != 0 ? fmt::format("-{},{}", option.letter, option.name)
                                  : std::string(option.name);
  if (!option.alias.empty()) names += fmt::format(",{}", option.alias);
  if (option.name == "--help") return app.set_help_flag(names);
  if (option.name == "--version") return app.set_version_flag(names, format_version);
  if (!option.is_argument() && option.value.empty())
    return app.add_flag(names)->disable_flag_override();
  auto* const cli_option = app.add_option(names);
  cli_option->type_name(std::string(option.value));
  // A missing required option is reported by the command's reader, with an example.
  const bool is_required = option.occurrence == Occurrence::required;
  if (is_required && option.is_argument()) cli_option->required();
  if (option.occurrence == Occurrence::last || (is_required && !option.is_argument()))
    cli_option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (option.occurrence == Occurrence::many)
    cli_option->expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(option.is_argument());
  return cli_option;
}

std::optional<Failure> read_device(const Arguments& arguments, const Command& command,
                                   Options& options) {
  const bool takes_several =
      std::any_of(command.options.begin(), command.options.end(), [](const Option& option) {
        return option.name == "--device" && option.occurrence == Occurrence::many;
      });
  if (takes_several) return std::nullopt;
  options.device = arguments.text("--device");
  if (!options.device) return std::nullopt;
  const auto argument = parse_device_argument(*options.device);
  return argument ? std::nullopt : std::optional(argument.error());
}

std::optional<Failure> read_common(const Arguments& arguments, const Command& command,
                                   Options& options) {
  options.json = arguments.has("--json");
  options.trace = arguments.has("--trace");
  const bool has_own_timeout =
      std::any_of(command.options.begin(), command.options.end(),
                  [](const Option& option) { return option.name == "--timeout"; });
  if (!has_own_timeout) {
    options.has_timeout = arguments.has("--timeout");
    if (auto failure = read_milliseconds(arguments, "--timeout", options.timeout_ms))
      return failure;
  }
  if (const auto colour = arguments.text("--color")) {
    const auto choice = choose_word("--color", *colour, colour_choice_words);
    if (!choice) return choice.error();
    options.colour = static_cast<ColourChoice>(*choice);
  }
  std::optional<std::string> machine;
  if (auto failure = read_text(arguments, "--machine", expected_path, machine)) return failure;
  options.machine = machine.value_or("");
  return read_device(arguments, command, options);
}

// Finds the argument that is a program for hmn to run; null: there is none.
const Option* find_program_argument(const Command& command) {
  const auto it =
      std::find_if(command.options.begin(), command.options.end(),
                   [](const Option& option) { return option.completion == Completion::program; });
  return it == command.options.end() ? nullptr : &*it;
}

// Stores the program that hmn is to run, with its arguments.
std::optional<Failure> read_program(const std::vector<std::string>& words, const Command& command,
                                    Options& options) {
  const auto* const example = command.id == CommandId::run     ? "hmn run make -j8"
                              : command.id == CommandId::spill ? "hmn spill ./train"
                                                               : "hmn wait --free 8GiB ./train";
  const auto* const program = find_program_argument(command);
  if (program == nullptr)
    return words.empty() ? std::nullopt
                         : std::optional(make_usage_error(
                               fmt::format("\"{}\": unexpected argument", words.front())));
  if (words.empty() && program->occurrence == Occurrence::required)
    return make_usage_error(fmt::format("expected a command, as in `{}`", example));
  if (!words.empty() && words.front().empty())
    return make_usage_error(fmt::format("COMMAND \"\": expected a command, as in `{}`", example));
  options.words = words;
  return std::nullopt;
}

// Rewrites CLI11's "--device: At Most 1 required but received 2", "--timeout: 1 required DURATION
// missing" and "json was given a disallowed flag override".
std::string format_mismatch(std::string_view message) {
  if (message.ends_with(" flag override"))
    return fmt::format("--{}: takes no value", message.substr(0, message.find(' ')));
  const std::string option(message.substr(0, message.find(':')));
  if (message.find("At Most 1 ") != message.npos) return option + ": expected once";
  return message.ends_with(" missing") ? option + ": expected a value" : std::string(message);
}

using Outcome = std::variant<Options, Information>;

// Command line without the name of its command: the `words` of hmn, and the `tail` from "--" on if
// that is the program to run.
struct CommandLine {
  std::vector<std::string> words;
  std::vector<std::string> tail;
};

// Returns the program that hmn is to run: from the first word that is not an option of hmn, or
// after "--"; a later "--" belongs to the program.
std::vector<std::string> join_program_words(std::vector<std::string> rest,
                                            const std::vector<std::string>& tail) {
  const bool has_program = !rest.empty();
  rest.insert(rest.end(), tail.begin() + (has_program || tail.empty() ? 0 : 1), tail.end());
  return rest;
}

// Finds an option with nothing after its "=": CLI11 would take the next word as its value.
std::optional<std::string> find_empty_value(const Command& command,
                                            const std::vector<std::string>& words) {
  for (std::size_t position = 0; position < words.size() && words[position] != "--";) {
    const auto& word = words[position];
    if (!is_option(word) && find_program_argument(command) != nullptr) return std::nullopt;
    const auto name = word.substr(0, word.size() - 1);
    const auto option = word.ends_with('=') ? find_option(0, name) : std::nullopt;
    if (option && !option->value.empty()) return name;
    position += is_option(word) ? std::max<std::size_t>(count_option_words(word), 1) : 1;
  }
  return std::nullopt;
}

Expected<Outcome> make_outcome(const Command& command, const Arguments& arguments,
                               const std::vector<std::string>& rest,
                               const std::vector<std::string>& tail) {
  if (!rest.empty() && is_option(rest.front())) return unknown_option_error(command, rest.front());
  if (command.print != nullptr) {
    const auto output = command.print(arguments);
    return output ? Expected<Outcome>(*output) : output.error();
  }
  Options options;
  options.command = command.id;
  if (auto failure = read_common(arguments, command, options)) return *std::move(failure);
  if (command.read != nullptr)
    if (auto failure = command.read(arguments, options)) return *std::move(failure);
  if (auto failure = read_program(join_program_words(rest, tail), command, options))
    return *std::move(failure);
  return Outcome(std::move(options));
}

// Returns the words that no option and no argument has consumed.
std::vector<std::string> list_remaining_words(const CLI::App& app) {
  auto rest = app.remaining(true);
  std::erase(rest, "--");
  return rest;
}

Expected<Outcome> parse(const Command& command, const CommandLine& line) {
  if (const auto name = find_empty_value(command, line.words))
    return command_usage_error(command, *name + ": expected a value");
  CLI::App app;
  auto options = list_options(command);
  if (command.print != nullptr)
    options.insert(options.end(), std::begin(common_options), std::end(common_options));
  if (&command != &summary_command) options.push_back(version_option);
  std::vector<const CLI::Option*> cli_options;
  for (const auto& option : options) cli_options.push_back(declare(app, option));
  try {
    app.parse(std::vector<std::string>(line.words.rbegin(), line.words.rend()));
  } catch (const CLI::CallForHelp&) {
    return Outcome(Information{format_help(command)});
  } catch (const CLI::CallForVersion& version) {
    return Outcome(Information{version.what()});
  } catch (const CLI::ExtrasError&) {
    return unexpected_word_error(command, list_remaining_words(app).front());
  } catch (const CLI::RequiredError& error) {
    const auto extra = list_remaining_words(app);
    return extra.empty() ? command_usage_error(command, error.what())
                         : unexpected_word_error(command, extra.front());
  } catch (const CLI::ArgumentMismatch& error) {
    return command_usage_error(command, format_mismatch(error.what()));
  } catch (const CLI::ParseError& error) {
    return command_usage_error(command, error.what());
  }
  Arguments arguments;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (cli_options[i] != nullptr && cli_options[i]->count() > 0)
      arguments.set(options[i].name, cli_options[i]->results());
  return make_outcome(command, arguments, list_remaining_words(app), line.tail);
}

}  // namespace

std::span<const Command* const> list_commands() {
  return commands;
}

const Command* find_command(std::string_view name) {
  const auto* const* const it =
      std::find_if(std::begin(commands), std::end(commands),
                   [name](const Command* command) { return command->name == name; });
  return it == std::end(commands) ? nullptr : *it;
}

const Command& get_command(CommandId id) {
  for (const auto* command : commands)
    if (command->id == id && command->run != nullptr) return *command;
  return summary_command;
}

Failure unknown_command_error(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto* command : commands) names.push_back(command->name);
  const auto* const match =
      std::find_if(std::begin(foreign_commands), std::end(foreign_commands),
                   [name](const ForeignCommand& command) { return command.word == name; });
  auto advice = match != std::end(foreign_commands) ? fmt::format("; did you mean {}?", match->name)
                                                    : suggest_word(name, names);
  const auto last = names.back();
  names.pop_back();
  if (advice.empty()) advice = fmt::format("; there are {} and {}", fmt::join(names, ", "), last);
  return make_usage_error(
      fmt::format("\"{}\": no such command{} (see `hmn --help`)", name, advice));
}

std::vector<Option> list_options(const Command& command) {
  std::vector<Option> options(command.options.begin(), command.options.end());
  const auto add = [&](const Option& option) {
    if (std::none_of(command.options.begin(), command.options.end(),
                     [&](const Option& existing) { return existing.name == option.name; }))
      options.push_back(option);
  };
  if (command.print == nullptr)
    std::for_each(std::begin(common_options), std::end(common_options), add);
  add(help_option);
  if (&command == &summary_command) add(version_option);
  return options;
}

// An option in front of a command belongs to the command.
Expected<std::variant<Options, Information>> parse_options(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto end = std::find(words.begin(), words.end(), "--");
  CommandLine line{{words.begin(), end}, {end, words.end()}};
  const auto* command = &summary_command;
  if (const auto position = find_command_position(line.words); position < line.words.size()) {
    command = find_command(line.words[position]);
    if (command == nullptr) return unknown_command_error(line.words[position]);
    line.words.erase(line.words.begin() + static_cast<std::ptrdiff_t>(position));
  }
  if (find_program_argument(*command) == nullptr) {  // CLI11 knows "--"
    line.words.insert(line.words.end(), line.tail.begin(), line.tail.end());
    line.tail.clear();
  }
  auto parsed = parse(*command, line);
  if (!parsed) return parsed.error();
  if (auto* const options = std::get_if<Options>(&*parsed))
    options->exporter.command_line.assign(argv, argv + argc);
  return parsed;
}

}  // namespace hmn::cli
