// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <hypomnesis.hpp>

#include <algorithm>
#include <memory>
#include <string_view>

#include "cli/commands/common_options.hpp"
#include "cli/commands/exporter_options.hpp"
#include "cli/commands/ps_options.hpp"
#include "cli/system/data_folder.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

// Options as given on the command line.
struct texts {
  common_texts before;  // in front of the subcommand
  common_texts after;
  bool summary_json = false;
  bool command_json = false;
  std::optional<std::string> topic;  // of `hmn help`
  std::optional<std::string> device;
  std::string file;
  bool force = false;
  bool slow = false;
  bool unsupported = false;
  ps_texts ps;
  log_texts log;
  run_texts run;
  spill_texts spill;
  watch_texts watch;
  top_texts top;
  wait_texts wait;
  fit_texts fit;
  exporter_texts exporter;
};

constexpr const char* summary_examples =
    "Examples:\n"
    "  hmn                                  RAM and each GPU at a glance\n"
    "  hmn --json | jq '.[].free_bytes'     free bytes of each GPU\n"
    "  hmn --machine {}\n"
    "                                       a simulated machine\n"
    "  hmn ps --sort ram                    GPU processes by host RAM\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

// Names a machine file that is installed, or the one in the folder of the sources.
std::string summary_footer() {
  const auto installed = installed_file("machines/workstation.json");
  return fmt::format(fmt::runtime(summary_examples),
                     installed.value_or("examples/machines/workstation.json"));
}

constexpr const char* metrics_examples =
    "Examples:\n"
    "  hmn metrics --device 0 --slow\n"
    "  hmn metrics --json | jq '.[] | select(.metric == \"temperature\").value'\n"
    "\n"
    "Exit status: 0 done (also when there are none), 1 failed, no such device, 2\n"
    "wrong usage. See hmn-metrics(1).";

constexpr const char* snapshot_examples =
    "Examples:\n"
    "  hmn snapshot | jq .system.available_bytes\n"
    "  hmn snapshot > report.json\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-snapshot(1).";

constexpr const char* doctor_examples =
    "Examples:\n"
    "  hmn doctor\n"
    "  hmn doctor --json | jq '.sections[].findings[] | select(.result == \"fail\")'\n"
    "  hmn doctor --trace --timeout 5s      with each driver call\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-doctor(1).";

constexpr const char* record_examples =
    "Examples:\n"
    "  hmn record-machine machine.json\n"
    "  hmn --machine machine.json           the same machine, anywhere\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-record-machine(1).";

constexpr const char* help_examples =
    "Examples:\n"
    "  hmn help                             what hmn can do\n"
    "  hmn help ps                          the same as hmn ps --help\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

void add_device(CLI::App& app, texts& into,
                const char* purpose = "Only this device: index, UUID or PCI address") {
  app.add_option("--device", into.device, purpose)->type_name("DEVICE");
}

CLI::App* add_command(CLI::App& app, const char* name, const char* purpose, const char* examples) {
  auto* added = app.add_subcommand(name, purpose)->group("Commands");
  added->footer(examples);
  return added;
}

// Lets the first word that is no option begin a command. The label shows it in the line of usage.
void take_command(CLI::App& app, const char* label) {
  app.prefix_command();
  auto shown = std::make_shared<CLI::Formatter>();
  shown->label("OPTIONS", label);
  app.formatter(shown);
}

void add_list(CLI::App& app, texts& into) {
  auto* ps = add_command(app, "ps", "List the processes that hold GPU memory", ps_examples);
  add_ps(*ps, into.ps);
  add_device(*ps, into);
  ps->add_flag("--json", into.command_json, "Print a JSON array");
  add_common(*ps, into.after);
}

void add_metrics(CLI::App& app, texts& into) {
  auto* metrics =
      add_command(app, "metrics", "List every sensor, clock, engine and counter", metrics_examples);
  add_device(*metrics, into);
  metrics->add_flag("--slow", into.slow, "Also metrics that take more than a few ms to read");
  metrics->add_flag("--unsupported", into.unsupported, "Also unsupported metrics, with the reason");
  metrics->add_flag("--json", into.command_json, "Print a JSON array");
  add_common(*metrics, into.after);
}

void add_record(CLI::App& app, texts& into) {
  auto* record = add_command(app, "record-machine",
                             "Record this machine to a file to replay elsewhere", record_examples);
  record->add_option("FILE", into.file, "File to write")->type_name("")->required();
  record->add_flag("--force", into.force, "Replace an existing file");
  add_common(*record, into.after);
}

void add_run_and_wait(CLI::App& app, texts& into) {
  auto* run = add_command(app, "run", "Run a command and report the memory it used", run_examples);
  take_command(*run, "OPTIONS] COMMAND [ARGUMENT...");
  add_run(*run, into.run);
  add_device(*run, into);
  add_common(*run, into.after);
  auto* wait =
      add_command(app, "wait", "Wait for free GPU memory, then run a command", wait_examples);
  take_command(*wait, "OPTIONS] [COMMAND [ARGUMENT...]");
  add_wait(*wait, into.wait);
  add_device(*wait, into);
  wait->add_flag("--json", into.command_json, "Print a JSON object");
  add_common_but_timeout(*wait, into.after);
}

void add_fit_command(CLI::App& app, texts& into) {
  auto* fit = add_command(app, "fit", "Check whether a model fits in free memory", fit_examples);
  add_fit(*fit, into.fit);
  fit->add_flag("--json", into.command_json, "Print a JSON object");
  add_common(*fit, into.after);
}

void add_spill_and_watch(CLI::App& app, texts& into) {
  auto* spill =
      add_command(app, "spill", "Run a command and report spills of GPU memory", spill_examples);
  take_command(*spill, "OPTIONS] COMMAND [ARGUMENT...");
  add_spill(*spill, into.spill);
  add_device(*spill, into, "This device: index, UUID or PCI address [0]");
  add_common(*spill, into.after);
  auto* watch =
      add_command(app, "watch", "Track per-process GPU memory and detect spills", watch_examples);
  add_watch(*watch, into.watch);
  add_device(*watch, into, "This device: index, UUID or PCI address [0]");
  watch->add_flag("--json", into.command_json, "Print a JSON object on each line");
  add_common(*watch, into.after);
}

void add_top_command(CLI::App& app, texts& into) {
  auto* top = add_command(app, "top", "Monitor GPUs and their processes live", top_examples);
  add_top(*top, into.top);
  add_device(*top, into);
  add_common(*top, into.after);
}

void add_exporter_command(CLI::App& app, texts& into) {
  auto* exporter =
      add_command(app, "exporter", "Serve metrics of the GPUs to Prometheus", exporter_examples);
  add_exporter(*exporter, into.exporter);
  add_common_but_timeout(*exporter, into.after);
}

void declare(CLI::App& app, texts& into) {
  app.require_subcommand(0, 1);
  app.set_version_flag(
      "-V,--version", [] { return fmt::format("hmn {}", hypomnesis::version_string()); },
      "Print the version");
  app.add_flag("--json", into.summary_json, "Print a JSON array of the GPUs");
  add_common(app, into.before);
  app.footer(summary_footer());
  add_top_command(app, into);
  add_list(app, into);
  add_common(
      *add_command(app, "snapshot", "Print everything as one JSON object", snapshot_examples),
      into.after);
  auto* log = add_command(app, "log", "Print GPU measurements at an interval", log_examples);
  add_log(*log, into.log);
  add_device(*log, into);
  add_common(*log, into.after);
  add_metrics(app, into);
  add_fit_command(app, into);
  add_record(app, into);
  add_run_and_wait(app, into);
  add_spill_and_watch(app, into);
  add_exporter_command(app, into);
  auto* doctor =
      add_command(app, "doctor", "Check GPUs and drivers, and suggest fixes", doctor_examples);
  doctor->add_flag("--json", into.command_json, "Print a JSON object");
  add_common(*doctor, into.after);
  auto* help = add_command(app, "help", "Print this help, or the help of a command", help_examples);
  help->set_help_flag("-h,--help", "Print this help");
  help->add_option("COMMAND", into.topic, "Command whose help to print")->type_name("");
}

command command_of(const CLI::App& app) {
  if (app.got_subcommand("top")) return command::top;
  if (app.got_subcommand("ps")) return command::ps;
  if (app.got_subcommand("snapshot")) return command::snapshot;
  if (app.got_subcommand("doctor")) return command::doctor;
  if (app.got_subcommand("log")) return command::log;
  if (app.got_subcommand("metrics")) return command::metrics;
  if (app.got_subcommand("spill")) return command::spill;
  if (app.got_subcommand("watch")) return command::watch;
  if (app.got_subcommand("run")) return command::run;
  if (app.got_subcommand("wait")) return command::wait;
  if (app.got_subcommand("fit")) return command::fit;
  if (app.got_subcommand("exporter")) return command::exporter;
  if (app.got_subcommand("record-machine")) return command::record_machine;
  return command::summary;
}

// Stores the command that hmn is to run.
std::optional<failure> apply_command(const std::vector<std::string>& words, options& to) {
  if (to.run != command::run && to.run != command::wait && to.run != command::spill) {
    if (words.empty()) return std::nullopt;
    return misused(fmt::format("\"{}\": unexpected argument", words.front()));
  }
  const char* const example = to.run == command::run     ? "hmn run make -j8"
                              : to.run == command::spill ? "hmn spill ./train"
                                                         : "hmn wait --free 8GiB ./train";
  if (words.empty() && to.run != command::wait)
    return misused(fmt::format("no command: expected one, as in `{}`", example));
  if (!words.empty() && words.front().empty())
    return misused(fmt::format("COMMAND \"\": expected one, as in `{}`", example));
  to.words = words;
  return std::nullopt;
}

expected<options> interpret(const texts& from, command run,
                            const std::vector<std::string>& wrapped) {
  options to;
  to.run = run;
  to.json = from.summary_json || from.command_json;
  if (auto wrong = apply_common(from.before, to)) return *std::move(wrong);
  if (auto wrong = apply_common(from.after, to)) return *std::move(wrong);
  to.slow = from.slow;
  to.unsupported = from.unsupported;
  if (run == command::record_machine)
    if (auto wrong = refuse_empty("FILE", from.file, a_path)) return *std::move(wrong);
  to.file = from.file;
  to.force = from.force;
  to.device = from.device;
  if (auto wrong = apply_ps(from.ps, to)) return *std::move(wrong);
  auto log = from.log;
  log.json = log.json || to.json;
  if (auto wrong = apply_log(log, to.log)) return *std::move(wrong);
  if (run == command::run)
    if (auto wrong = apply_run(from.run, to.measured)) return *std::move(wrong);
  if (run == command::spill)
    if (auto wrong = apply_spill(from.spill, to.spill)) return *std::move(wrong);
  if (run == command::watch)
    if (auto wrong = apply_watch(from.watch, to.watch)) return *std::move(wrong);
  if (run == command::top)
    if (auto wrong = apply_top(from.top, to.top)) return *std::move(wrong);
  if (run == command::exporter) {
    if (auto wrong = apply_exporter(from.exporter, to.exporter)) return *std::move(wrong);
    to.timeout_ms = to.exporter.timeout_ms;
  }
  if (run == command::wait)
    if (auto wrong = apply_wait(from.wait, from.device.has_value(), to.wait))
      return *std::move(wrong);
  if (to.wait.timeout_ms)
    to.timeout_ms =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(to.timeout_ms, *to.wait.timeout_ms));
  if (auto wrong = apply_command(wrapped, to)) return *std::move(wrong);
  if (run == command::fit)
    if (auto wrong = apply_fit(from.fit, to.fit)) return *std::move(wrong);
  return to;
}

failure usage_failure(const CLI::App& app, const std::string& message) {
  const auto chosen = app.get_subcommands();
  const auto who = chosen.empty() ? std::string("hmn") : "hmn " + chosen.front()->get_name();
  return misused(fmt::format("{} (see `{} --help`)", message, who));
}

failure no_such_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const auto* each : app.get_subcommands({})) names.push_back(each->get_name());
  const auto last = std::move(names.back());
  names.pop_back();
  return misused(fmt::format("\"{}\": no such command; there are {} and {} (see `hmn --help`)",
                             word, fmt::join(names, ", "), last));
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

// Returns what to type instead of an option of the command's in front of it; none if it has no
// such.
std::optional<failure> early_option(const CLI::App& app, const CLI::App& command,
                                    const std::string& name) {
  const auto* const option = command.get_option_no_throw(name);
  if (option == nullptr) return std::nullopt;
  const bool has_value = option->get_items_expected_min() > 0;
  return usage_failure(
      app, fmt::format("{1}: follows the command, as in `hmn {0} {1}{2}{3}`", command.get_name(),
                       name, has_value ? " " : "", has_value ? option->get_type_name() : ""));
}

failure no_such_option(const CLI::App& app, const std::string& word) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty())
    if (auto early = early_option(app, *chosen.front(), word.substr(0, word.find('='))))
      return *std::move(early);
  return usage_failure(app, fmt::format("\"{}\": no such option", word));
}

// Checks the options in front of a command: those that it has with another meaning follow it.
std::optional<failure> check_order(const CLI::App& app, const texts& given) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return std::nullopt;
  const auto& command = *chosen.front();
  const auto& name = command.get_name();
  if (given.summary_json) {
    if (auto early = early_option(app, command, "--json")) return early;
    return usage_failure(app, name == "snapshot" ? "--json: `hmn snapshot` prints JSON without it"
                                                 : fmt::format("--json: `hmn {}` has none", name));
  }
  const bool has_own_timeout = name == "wait" || name == "exporter";
  if (given.before.timeout && has_own_timeout) return early_option(app, command, "--timeout");
  if (given.before.machine && given.after.machine)
    return usage_failure(app, "--machine: expected once");
  return std::nullopt;
}

failure unexpected_argument(const CLI::App& app) {
  const auto extra = app.remaining(true).front();
  if (is_option(extra)) return no_such_option(app, extra);
  if (app.get_subcommands().empty()) return no_such_command(app, extra);
  return usage_failure(app, fmt::format("\"{}\": unexpected argument", extra));
}

expected<information> help_on(const CLI::App& app, const std::optional<std::string>& command) {
  if (!command)
    return information{
        app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)};
  const auto found =
      app.get_subcommands([&](const auto* each) { return each->check_name(*command); });
  if (found.empty()) return no_such_command(app, *command);
  return information{found.front()->help(app.get_name())};
}

// Returns the command that hmn is to run: from the first word that is no option of hmn's, or
// after
// "--"; a later "--" belongs to it. The failure is of an option before it.
expected<std::vector<std::string>> command_in(const CLI::App& app, int argc,
                                              const char* const* argv) {
  std::vector<std::string> words = app.remaining(true);
  if (!words.empty() && is_option(words.front())) return no_such_option(app, words.front());
  words.insert(words.end(), argv + (words.empty() && argc > 0 ? 1 : 0), argv + argc);
  return words;
}

// Rewrites CLI11's "--device: At Most 1 required but received 2" and "--timeout: 1 required
// DURATION missing".
std::string mismatch_text(std::string_view message) {
  const std::string option(message.substr(0, message.find(':')));
  if (message.find("At Most 1 ") != message.npos) return option + ": expected once";
  return message.ends_with(" missing") ? option + ": expected a value" : std::string(message);
}

// Short cut for `hmn` and `hmn --json` in scripts: declaring every option takes longer than all
// other work.
std::optional<options> plain_summary(int argc, const char* const* argv) {
  options plain;
  if (argc == 1) return plain;
  plain.json = argc == 2 && std::string_view(argv[1]) == "--json";
  return plain.json ? std::optional(plain) : std::nullopt;
}

}  // namespace

expected<std::variant<options, information>> parse_options(int argc, const char* const* argv) {
  using answer = std::variant<options, information>;
  if (const auto plain = plain_summary(argc, argv)) return answer(*plain);
  int own = 0;
  while (own < argc && std::string_view(argv[own]) != "--") ++own;
  CLI::App app("Measures host memory and GPU memory.", "hmn");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("REQUIRED", "");  // its place in the usage has no brackets
  texts given;
  declare(app, given);
  try {
    app.parse(own, argv);
  } catch (const CLI::CallForHelp&) {
    return answer(information{app.help()});
  } catch (const CLI::CallForVersion& version) {
    return answer(information{version.what() + std::string("\n")});
  } catch (const CLI::ExtrasError&) {
    return unexpected_argument(app);
  } catch (const CLI::ConversionError& error) {  // a flag's: all values are texts
    const std::string_view message = error.what();
    return usage_failure(app, fmt::format("\"{}\": a flag, expected no value, true or false",
                                          message.substr(message.find("--"))));
  } catch (const CLI::ArgumentMismatch& error) {
    return usage_failure(app, mismatch_text(error.what()));
  } catch (const CLI::ParseError& error) {
    return usage_failure(app, error.what());
  }
  if (app.got_subcommand("help")) {
    const auto help = help_on(app, given.topic);
    return help ? expected<std::variant<options, information>>(*help) : help.why();
  }
  if (auto wrong = check_order(app, given)) return *std::move(wrong);
  const auto words = command_in(app, argc - own, argv + own);
  if (!words) return words.why();
  auto parsed = interpret(given, command_of(app), *words);
  if (!parsed) return parsed.why();
  return answer(*std::move(parsed));
}

}  // namespace hmn::cli
