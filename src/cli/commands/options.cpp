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
#include "cli/commands/device_argument.hpp"
#include "cli/commands/exporter_options.hpp"
#include "cli/commands/ps_options.hpp"
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
    "  hmn top                              the same on a screen that changes\n"
    "  hmn --json | jq '.[].free_bytes'     free bytes of each GPU\n"
    "  hmn --machine workstation            a simulated machine\n"
    "  hmn ps --sort ram                    GPU processes by host RAM\n"
    "\n"
    "In tables - is a value that the device or its driver does not have, ? one that\n"
    "is not known; hmn doctor has the reasons.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

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
    "Exit status: 0 done, nothing is broken; 1 something is, or failed; 2 wrong\n"
    "usage. See hmn-doctor(1).";

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

// Lets the first word that is no option begin a command. The label shows it in the line of usage.
void take_command(CLI::App& app, const char* label) {
  app.prefix_command();
  auto shown = std::make_shared<CLI::Formatter>();
  shown->label("OPTIONS", label);
  app.formatter(shown);
}

void declare_top(CLI::App& top, texts& into) {
  top.footer(top_examples);
  add_top(top, into.top);
  add_device(top, into);
  add_common(top, into.after);
}

void declare_ps(CLI::App& ps, texts& into) {
  ps.footer(ps_examples);
  add_ps(ps, into.ps);
  add_device(ps, into);
  ps.add_flag("--json", into.command_json, "Print a JSON array");
  add_common(ps, into.after);
}

void declare_snapshot(CLI::App& snapshot, texts& into) {
  snapshot.footer(snapshot_examples);
  add_common(snapshot, into.after);
}

void declare_log(CLI::App& log, texts& into) {
  log.footer(log_examples);
  add_log(log, into.log);
  add_device(log, into);
  add_common(log, into.after);
}

void declare_metrics(CLI::App& metrics, texts& into) {
  metrics.footer(metrics_examples);
  add_device(metrics, into);
  metrics.add_flag("--slow", into.slow, "Also metrics that take more than a few ms to read");
  metrics.add_flag("--unsupported", into.unsupported, "Also unsupported metrics, with the reason");
  metrics.add_flag("--json", into.command_json, "Print a JSON array");
  add_common(metrics, into.after);
}

void declare_fit(CLI::App& fit, texts& into) {
  fit.footer(fit_examples);
  add_fit(fit, into.fit);
  fit.add_flag("--json", into.command_json, "Print a JSON object");
  add_common(fit, into.after);
}

void declare_record(CLI::App& record, texts& into) {
  record.footer(record_examples);
  record.add_option("FILE", into.file, "File to write")->type_name("")->required();
  record.add_flag("--force", into.force, "Replace an existing file");
  add_common(record, into.after);
}

void declare_run(CLI::App& run, texts& into) {
  run.footer(run_examples);
  take_command(run, "OPTIONS] COMMAND [ARGUMENT...");
  add_run(run, into.run);
  add_device(run, into);
  add_common(run, into.after);
}

void declare_wait(CLI::App& wait, texts& into) {
  wait.footer(wait_examples);
  take_command(wait, "OPTIONS] [COMMAND [ARGUMENT...]");
  add_wait(wait, into.wait);
  add_device(wait, into);
  wait.add_flag("--json", into.command_json, "Print a JSON object");
  add_common_but_timeout(wait, into.after);
}

void declare_spill(CLI::App& spill, texts& into) {
  spill.footer(spill_examples);
  take_command(spill, "OPTIONS] COMMAND [ARGUMENT...");
  add_spill(spill, into.spill);
  add_device(spill, into, "This device: index, UUID or PCI address [0]");
  add_common(spill, into.after);
}

void declare_watch(CLI::App& watch, texts& into) {
  watch.footer(watch_examples);
  add_watch(watch, into.watch);
  add_device(watch, into, "This device: index, UUID or PCI address [0]");
  watch.add_flag("--json", into.command_json, "Print a JSON object on each line");
  add_common(watch, into.after);
}

void declare_exporter(CLI::App& exporter, texts& into) {
  exporter.footer(exporter_examples);
  add_exporter(exporter, into.exporter);
  add_common_but_timeout(exporter, into.after);
}

void declare_doctor(CLI::App& doctor, texts& into) {
  doctor.footer(doctor_examples);
  doctor.add_flag("--json", into.command_json, "Print a JSON object");
  add_common(doctor, into.after);
}

void declare_help(CLI::App& help, texts& into) {
  help.footer(help_examples);
  help.set_help_flag("-h,--help", "Print this help");
  help.add_option("COMMAND", into.topic, "Command whose help to print")->type_name("");
}

struct command_entry {
  command run;
  const char* name;
  const char* purpose;
  void (*declare)(CLI::App&, texts&);
};

constexpr command_entry commands[] = {
    {command::top, "top", "Monitor GPUs and their processes live", declare_top},
    {command::ps, "ps", "List the processes that hold GPU memory", declare_ps},
    {command::snapshot, "snapshot", "Print everything as one JSON object", declare_snapshot},
    {command::log, "log", "Print GPU measurements at an interval", declare_log},
    {command::metrics, "metrics", "List every sensor, clock, engine and counter", declare_metrics},
    {command::fit, "fit", "Check whether a model fits in free memory", declare_fit},
    {command::record_machine, "record-machine", "Record this machine to a file to replay elsewhere",
     declare_record},
    {command::run, "run", "Run a command and report the memory it used", declare_run},
    {command::wait, "wait", "Wait for free GPU memory, then run a command", declare_wait},
    {command::spill, "spill", "Run a command and report spills of GPU memory", declare_spill},
    {command::watch, "watch", "Track per-process GPU memory and detect spills", declare_watch},
    {command::exporter, "exporter", "Serve metrics of the GPUs to Prometheus", declare_exporter},
    {command::doctor, "doctor", "Check GPUs and drivers, and suggest fixes", declare_doctor},
    {command::summary, "help", "Print this help, or the help of a command", declare_help}};

// The command line: `own` words of hmn's, then a "--" and what follows it, if there is one.
struct words_given {
  int own = 0;
  int count = 0;
  const char* const* words = nullptr;
};

void declare_command(CLI::App& app, const command_entry& entry, texts& into) {
  entry.declare(*app.add_subcommand(entry.name, entry.purpose)->group("Commands"), into);
}

void declare_hmn(CLI::App& app, texts& into) {
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("REQUIRED", "");  // its place in the usage has no brackets
  app.require_subcommand(0, 1);
  app.set_version_flag(
      "-V,--version", [] { return fmt::format("hmn {}", hypomnesis::version_string()); },
      "Print the version");
  app.add_flag("--json", into.summary_json, "Print a JSON array of the GPUs");
  add_common(app, into.before);
}

// Returns the name of the command that was parsed; empty without one.
std::string chosen_in(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? std::string() : chosen.front()->get_name();
}

command command_of(const CLI::App& app) {
  const auto* const found = std::find_if(
      std::begin(commands), std::end(commands),
      [name = chosen_in(app)](const command_entry& each) { return name == each.name; });
  return found == std::end(commands) ? command::summary : found->run;
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
    return misused(fmt::format("expected a command, as in `{}`", example));
  if (!words.empty() && words.front().empty())
    return misused(fmt::format("COMMAND \"\": expected a command, as in `{}`", example));
  to.words = words;
  return std::nullopt;
}

expected<options> interpret(const texts& from, command run, const words_given& line,
                            const std::vector<std::string>& wrapped) {
  options to;
  to.run = run;
  to.json = from.summary_json || from.command_json;
  if (auto wrong = apply_common(from.before, to)) return *std::move(wrong);
  if (auto wrong = apply_common(from.after, to)) return *std::move(wrong);
  to.slow = from.slow;
  to.unsupported = from.unsupported;
  if (run == command::record_machine) {
    if (auto wrong = refuse_empty("FILE", from.file, a_path)) return *std::move(wrong);
    to.file = {"FILE", from.file, {}, from.force};
  }
  if (from.device)
    if (const auto argument = parse_device_argument(*from.device); !argument) return argument.why();
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
    to.exporter.command_line.assign(line.words, line.words + line.count);
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
  const auto chosen = chosen_in(app);
  const auto who = chosen.empty() ? std::string("hmn") : "hmn " + chosen;
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
                                                 : fmt::format("`hmn {}` has no --json", name));
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

using outcome = std::variant<options, information>;

expected<outcome> outcome_of(const CLI::App& app, const texts& given, const words_given& line) {
  if (chosen_in(app) == "help") {
    const auto help = help_on(app, given.topic);
    return help ? expected<outcome>(*help) : help.why();
  }
  if (auto wrong = check_order(app, given)) return *std::move(wrong);
  const auto wrapped = command_in(app, line.count - line.own, line.words + line.own);
  if (!wrapped) return wrapped.why();
  auto parsed = interpret(given, command_of(app), line, *wrapped);
  if (!parsed) return parsed.why();
  return outcome(*std::move(parsed));
}

constexpr const char* hmn_purpose = "Show the memory of this machine and its GPUs, and who uses it";

expected<outcome> parse_all(const words_given& line) {
  CLI::App app(hmn_purpose, "hmn");
  texts given;
  declare_hmn(app, given);
  app.footer(summary_examples);
  for (const auto& each : commands) declare_command(app, each, given);
  try {
    app.parse(line.own, line.words);
  } catch (const CLI::CallForHelp&) {
    return outcome(information{app.help()});
  } catch (const CLI::CallForVersion& version) {
    return outcome(information{version.what() + std::string("\n")});
  } catch (const CLI::ExtrasError&) {
    return unexpected_argument(app);
  } catch (const CLI::ConversionError& error) {  // a flag's: all values are texts
    const std::string_view message = error.what();
    const auto name = message.substr(message.find("--"));
    return usage_failure(
        app, fmt::format("{}: takes no value", name.substr(0, name.find_first_of(" ="))));
  } catch (const CLI::ArgumentMismatch& error) {
    return usage_failure(app, mismatch_text(error.what()));
  } catch (const CLI::RequiredError& error) {
    const auto extra = app.remaining(true);
    if (!extra.empty()) return unexpected_argument(app);
    return usage_failure(app, error.what());
  } catch (const CLI::ParseError& error) {
    return usage_failure(app, error.what());
  }
  return outcome_of(app, given, line);
}

}  // namespace

expected<std::variant<options, information>> parse_options(int argc, const char* const* argv) {
  words_given line{0, argc, argv};
  while (line.own < argc && std::string_view(argv[line.own]) != "--") ++line.own;
  return parse_all(line);
}

}  // namespace hmn::cli
