// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <hypomnesis.hpp>

#include <charconv>
#include <limits>
#include <string_view>

#include "cli/commands/process_columns.hpp"
#include "cli/text/duration.hpp"

namespace hmn::cli {
namespace {

// Option values as given on the command line.
struct common_texts {
  std::optional<std::string> timeout;
  std::optional<std::string> machine;
  std::optional<std::string> colour;
  bool trace = false;
};

struct texts {
  common_texts before;  // in front of the subcommand
  common_texts after;
  bool summary_json = false;
  bool command_json = false;
  std::optional<std::string> pid;
  std::optional<std::string> device;
  std::optional<std::string> match;
  std::optional<std::string> sort;
  std::string file;
  bool force = false;
  std::optional<std::string> columns;
  bool unattributed = false;
  bool slow = false;
  bool unsupported = false;
  log_texts log;
  run_texts run;
  spill_texts spill;
  watch_texts watch;
  wait_texts wait;
  fit_texts fit;
};

constexpr const char* summary_examples =
    "Examples:\n"
    "  hmn                                  RAM, and a line for each GPU\n"
    "  hmn --json | jq '.[].free_bytes'     free bytes of each GPU\n"
    "  hmn --machine examples/machines/workstation.json\n"
    "                                       a simulated machine\n"
    "  hmn ps --sort ram                    GPU processes by host RAM\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn(1).";

constexpr const char* ps_examples =
    "Examples:\n"
    "  hmn ps --device GPU-8f6d2b1e-...     by UUID; also 0 or 0000:01:00.0\n"
    "  hmn ps --match 'python*' --sort total\n"
    "  hmn ps --columns pid,user,vram,load,container,command\n"
    "  hmn ps --json | jq 'sort_by(-(.used_bytes // 0))[:5]'\n"
    "\n"
    "Columns: pid, name, vram, shared, ram, device, type, user, load, container,\n"
    "nspid, command.\n"
    "\n"
    "Exit status: 0 done (also when the list is empty), 1 failed, no such device or\n"
    "process, 2 wrong usage. See hmn-ps(1).";

constexpr const char* metrics_examples =
    "Examples:\n"
    "  hmn metrics --device 0 --slow\n"
    "  hmn metrics --json | jq '.[] | select(.metric == \"temperature\").value'\n"
    "\n"
    "Exit status: 0 done (also when there are none), 1 failed, no such device, 2 wrong\n"
    "usage. See hmn-metrics(1).";

constexpr const char* snapshot_examples =
    "Examples:\n"
    "  hmn snapshot | jq .system.available_bytes\n"
    "  hmn snapshot > report.json\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-snapshot(1).";

constexpr const char* doctor_examples =
    "Examples:\n"
    "  hmn doctor\n"
    "  hmn doctor --trace --timeout 5s      with each driver call\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-doctor(1).";

constexpr const char* record_examples =
    "Examples:\n"
    "  hmn record-machine machine.json\n"
    "  hmn --machine machine.json           the same machine, anywhere\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage. See hmn-record-machine(1).";

void add_common_but_timeout(CLI::App& app, common_texts& into) {
  app.set_help_flag("-h,--help", "Print this help");
  app.add_option("--machine", into.machine, "Run on the machine in FILE: described, or recorded")
      ->type_name("FILE");
  app.add_option("--color", into.colour, "Colours: auto, always, never [auto]")
      ->type_name("WHEN")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_flag("--trace", into.trace, "Print each driver call on standard error");
}

void add_common(CLI::App& app, common_texts& into) {
  app.add_option("--timeout", into.timeout, "Longest wait for drivers: 500ms, 30s, 5m, 1h [60s]")
      ->type_name("DURATION")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_common_but_timeout(app, into);
}

void add_device(CLI::App& app, texts& into, const char* purpose) {
  app.add_option("--device", into.device, purpose)->type_name("DEVICE");
}

CLI::App* add_command(CLI::App& app, const char* name, const char* purpose, const char* examples) {
  auto* added = app.add_subcommand(name, purpose);
  added->footer(examples);
  return added;
}

void add_ps(CLI::App& app, texts& into) {
  auto* ps = add_command(app, "ps", "List the processes that hold GPU memory", ps_examples);
  ps->add_option("--pid", into.pid, "Only this process")->type_name("PID");
  ps->add_option("--device", into.device, "Only this device: index, UUID or PCI address")
      ->type_name("DEVICE");
  ps->add_option("--sort", into.sort, "Order: vram, shared, total, ram, pid, name [vram]")
      ->type_name("KEY")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  ps->add_option("--match", into.match, "Only processes whose name matches (* ? [a-z])")
      ->type_name("GLOB");
  ps->add_option("--columns", into.columns, "What to show, separated by commas")
      ->type_name("LIST")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  ps->add_flag("--unattributed", into.unattributed,
               "Also what is used by no process that can be seen");
  ps->add_flag("--json", into.command_json, "Print a JSON array");
  add_common(*ps, into.after);
}

void add_metrics(CLI::App& app, texts& into) {
  auto* metrics = add_command(
      app, "metrics", "List each sensor, clock, engine and count of the GPUs", metrics_examples);
  metrics->add_option("--device", into.device, "Only this device: index, UUID or PCI address")
      ->type_name("DEVICE");
  metrics->add_flag("--slow", into.slow, "Also those that take more than a few milliseconds");
  metrics->add_flag("--unsupported", into.unsupported, "Also which are not supported, and why");
  metrics->add_flag("--json", into.command_json, "Print a JSON array");
  add_common(*metrics, into.after);
}

void add_record(CLI::App& app, texts& into) {
  auto* record = add_command(app, "record-machine", "Write what is read of this machine to a file",
                             record_examples);
  record->add_option("FILE", into.file, "Where to")->required();
  record->add_flag("--force", into.force, "Replace a file that is there");
  add_common(*record, into.after);
}

constexpr const char* usual_device = "Only this device: index, UUID or PCI address";

void add_run_and_wait(CLI::App& app, texts& into) {
  auto* run = add_command(app, "run", "Run a command and tell what memory it used", run_examples);
  add_run(*run, into.run);
  add_device(*run, into, usual_device);
  add_common(*run, into.after);
  auto* wait = add_command(app, "wait", "Wait until a GPU has room, then run a command there",
                           wait_examples);
  add_wait(*wait, into.wait);
  add_device(*wait, into, usual_device);
  wait->add_flag("--json", into.command_json, "Print a JSON object");
  add_common_but_timeout(*wait, into.after);
}

void add_fit_command(CLI::App& app, texts& into) {
  auto* fit =
      add_command(app, "fit", "Tell whether a model fits in the memory that is free", fit_examples);
  add_fit(*fit, into.fit);
  fit->add_flag("--json", into.command_json, "Print a JSON object");
  add_common(*fit, into.after);
}

void add_spill_and_watch(CLI::App& app, texts& into) {
  auto* spill = add_command(app, "spill", "Run a command and tell when GPU memory spilled to RAM",
                            spill_examples);
  add_spill(*spill, into.spill);
  add_device(*spill, into, "This device: index, UUID or PCI address [0]");
  add_common(*spill, into.after);
  auto* watch =
      add_command(app, "watch", "Follow what processes use of a GPU, if it spills", watch_examples);
  add_watch(*watch, into.watch);
  add_device(*watch, into, "This device: index, UUID or PCI address [0]");
  watch->add_flag("--json", into.command_json, "Print a JSON object on each line");
  add_common(*watch, into.after);
}

void declare(CLI::App& app, texts& into) {
  app.require_subcommand(0, 1);
  app.set_version_flag(
      "-V,--version", [] { return fmt::format("hmn {}", hypomnesis::version_string()); },
      "Print the version");
  app.add_flag("--json", into.summary_json, "Print a JSON array of the GPUs");
  add_common(app, into.before);
  app.footer(summary_examples);
  add_ps(app, into);
  add_common(
      *add_command(app, "snapshot", "Print everything as one JSON object", snapshot_examples),
      into.after);
  auto* log = add_command(app, "log", "Print figures of the GPUs again and again", log_examples);
  add_log(*log, into.log);
  log->add_option("--device", into.device, "Only this device: index, UUID or PCI address")
      ->type_name("DEVICE");
  add_common(*log, into.after);
  add_metrics(app, into);
  add_fit_command(app, into);
  add_record(app, into);
  add_run_and_wait(app, into);
  add_spill_and_watch(app, into);
  add_common(*add_command(app, "doctor", "Tell what was looked for, what was found, what to do",
                          doctor_examples),
             into.after);
}

command command_of(const CLI::App& app) {
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
  if (app.got_subcommand("record-machine")) return command::record_machine;
  return command::summary;
}

std::optional<sort_key> sort_key_of(std::string_view word) {
  if (word == "vram" || word == "dedicated" || word == "committed") return sort_key::vram;
  if (word == "shared") return sort_key::shared;
  if (word == "total") return sort_key::total;
  if (word == "ram") return sort_key::ram;
  if (word == "pid") return sort_key::pid;
  if (word == "name") return sort_key::name;
  return std::nullopt;
}

expected<std::uint32_t> parse_pid(std::string_view text) {
  std::uint32_t pid = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, pid);
  if (parsed.ec == std::errc{} && parsed.ptr == end && pid > 0) return pid;
  return misused(fmt::format("--pid \"{}\": expected a whole number from 1 to {}", text,
                             std::numeric_limits<std::uint32_t>::max()));
}

expected<std::uint32_t> parse_timeout(const std::string& text) {
  const auto milliseconds = parse_time("--timeout", text);
  if (!milliseconds) return milliseconds.why();
  constexpr std::uint64_t longest = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(*milliseconds, longest));
}

std::optional<failure> apply_common(const common_texts& from, options& to) {
  if (from.timeout) {
    const auto timeout = parse_timeout(*from.timeout);
    if (!timeout) return timeout.why();
    to.timeout_ms = *timeout;
  }
  if (from.colour) {
    const auto choice = colour_choice_of(*from.colour);
    if (!choice)
      return misused(fmt::format("--color \"{}\": expected auto, always or never", *from.colour));
    to.colour = *choice;
  }
  if (from.machine) {
    if (from.machine->empty()) return misused("--machine \"\": expected the path of a file");
    to.machine = *from.machine;
  }
  to.trace = to.trace || from.trace;
  return std::nullopt;
}

std::optional<failure> apply_ps(const texts& from, options& to) {
  if (from.pid) {
    const auto pid = parse_pid(*from.pid);
    if (!pid) return pid.why();
    to.pid = *pid;
  }
  if (from.sort) {
    const auto key = sort_key_of(*from.sort);
    if (!key)
      return misused(
          fmt::format("--sort \"{}\": expected vram, shared, total, ram, pid or name", *from.sort));
    to.sort = *key;
  }
  if (from.columns) {
    auto columns = parse_columns(*from.columns);
    if (!columns) return columns.why();
    to.columns = *std::move(columns);
  }
  to.unattributed = from.unattributed;
  to.slow = from.slow;
  to.unsupported = from.unsupported;
  to.file = from.file;
  to.force = from.force;
  to.device = from.device;
  to.match = from.match;
  return std::nullopt;
}

failure json_before_command(command run) {
  if (run == command::ps)
    return misused(
        "--json before a subcommand is ignored, not applied: each subcommand has its own --json "
        "(`hmn ps --json`, not `hmn --json ps`)");
  if (run == command::log)
    return misused("--json before a subcommand is ignored: `hmn log --json`, not `hmn --json log`");
  if (run == command::metrics)
    return misused(
        "--json before a subcommand is ignored: `hmn metrics --json`, not `hmn --json metrics`");
  if (run == command::run)
    return misused(
        "--json before a subcommand is ignored: `hmn run --json FILE`, not `hmn --json run`");
  if (run == command::spill)
    return misused(
        "--json before a subcommand is ignored: `hmn spill --json FILE`, not `hmn --json spill`");
  if (run == command::watch)
    return misused(
        "--json before a subcommand is ignored: `hmn watch --json`, not `hmn --json watch`");
  if (run == command::wait)
    return misused(
        "--json before a subcommand is ignored: `hmn wait --json`, not `hmn --json wait`");
  if (run == command::fit)
    return misused("--json before a subcommand is ignored: `hmn fit --json`, not `hmn --json fit`");
  if (run == command::snapshot)
    return misused("--json before a subcommand is ignored: `hmn snapshot` always prints JSON");
  return misused(
      fmt::format("--json before a subcommand is ignored, and `hmn {}` prints text alone",
                  run == command::doctor ? "doctor" : "record-machine"));
}

// Stores the command after "--", which hmn is to run.
std::optional<failure> apply_command(const std::vector<std::string>& words, options& to) {
  if (to.run != command::run && to.run != command::wait && to.run != command::spill) {
    if (words.empty()) return std::nullopt;
    return misused(fmt::format("\"{}\": unexpected argument", words.front()));
  }
  if (to.run == command::run && words.empty())
    return misused("no command: it stands behind --, as in `hmn run -- make -j8`");
  if (to.run == command::spill && words.empty())
    return misused("no command: it stands behind --, as in `hmn spill -- ./train`");
  to.words = words;
  return std::nullopt;
}

expected<options> interpret(const texts& from, command run,
                            const std::vector<std::string>& wrapped) {
  options to;
  to.run = run;
  if (from.summary_json && run != command::summary) return json_before_command(run);
  to.json = from.summary_json || from.command_json;
  if (auto wrong = apply_common(from.before, to)) return *std::move(wrong);
  if (auto wrong = apply_common(from.after, to)) return *std::move(wrong);
  if (auto wrong = apply_ps(from, to)) return *std::move(wrong);
  if (auto wrong = apply_log(from.log, to.log)) return *std::move(wrong);
  if (run == command::run)
    if (auto wrong = apply_run(from.run, to.measured)) return *std::move(wrong);
  if (run == command::spill)
    if (auto wrong = apply_spill(from.spill, to.spill)) return *std::move(wrong);
  if (run == command::watch)
    if (auto wrong = apply_watch(from.watch, to.watch)) return *std::move(wrong);
  if (run == command::wait)
    if (auto wrong = apply_wait(from.wait, from.device.has_value(), to.room))
      return *std::move(wrong);
  if (auto wrong = apply_command(wrapped, to)) return *std::move(wrong);
  if (auto wrong = apply_fit(from.fit, to.fit)) return *std::move(wrong);
  return to;
}

failure usage_failure(const CLI::App& app, const std::string& message) {
  const auto chosen = app.get_subcommands();
  const auto who = chosen.empty() ? std::string("hmn") : "hmn " + chosen.front()->get_name();
  return misused(fmt::format("{} (see `{} --help`)", message, who));
}

failure unexpected_argument(const CLI::App& app) {
  const auto extra = app.remaining(true).front();
  if (extra.starts_with('-'))
    return usage_failure(app, fmt::format("\"{}\": no such option", extra));
  if (app.get_subcommands().empty())
    return usage_failure(
        app, fmt::format(
                 "\"{}\": no such command; there are ps, snapshot, log, metrics, fit, run, spill, "
                 "watch, wait, doctor and record-machine",
                 extra));
  return usage_failure(app, fmt::format("\"{}\": unexpected argument", extra));
}

// Rewrites CLI11's "--device: At Most 1 required but received 2" and "--timeout: 1 required
// DURATION missing".
std::string mismatch_text(std::string_view said) {
  const std::string option(said.substr(0, said.find(':')));
  if (said.find("At Most 1 ") != said.npos) return option + ": expected once";
  return said.ends_with(" missing") ? option + ": expected a value" : std::string(said);
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
  const std::vector<std::string> wrapped(argv + std::min(own + 1, argc), argv + argc);
  CLI::App app("Measures host memory and GPU memory.", "hmn");
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
    const std::string_view said = error.what();
    return usage_failure(app, fmt::format("\"{}\": a flag, expected no value, true or false",
                                          said.substr(said.find("--"))));
  } catch (const CLI::ArgumentMismatch& error) {
    return usage_failure(app, mismatch_text(error.what()));
  } catch (const CLI::ParseError& error) {
    return usage_failure(app, error.what());
  }
  auto parsed = interpret(given, command_of(app), wrapped);
  if (!parsed) return parsed.why();
  return answer(*std::move(parsed));
}

}  // namespace hmn::cli
