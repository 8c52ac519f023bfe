// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/options.hpp"

#include <fmt/format.h>
#include <hypomnesis.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <string_view>

#include "cli/duration.hpp"

namespace hmn::cli {
namespace {

// Option values as they stand on the command line.
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
  bool ps_json = false;
  std::optional<std::string> pid;
  std::optional<std::string> device;
  std::optional<std::string> match;
  std::optional<std::string> sort;
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
    "  hmn ps --json | jq 'sort_by(-(.used_bytes // 0))[:5]'\n"
    "\n"
    "Exit status: 0 done (also when the list is empty), 1 failed, no such device or\n"
    "process, 2 wrong usage. See hmn-ps(1).";

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

void add_common(CLI::App& app, common_texts& into) {
  app.set_help_flag("-h,--help", "Print this help");
  app.add_option("--timeout", into.timeout, "Longest wait for drivers: 500ms, 30s, 5m, 1h [60s]")
      ->type_name("DURATION")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--machine", into.machine, "Run on the simulated machine that FILE describes")
      ->type_name("FILE");
  app.add_option("--color", into.colour, "Colours: auto, always, never [auto]")
      ->type_name("WHEN")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_flag("--trace", into.trace, "Print each driver call on standard error");
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
  ps->add_flag("--json", into.ps_json, "Print a JSON array");
  add_common(*ps, into.after);
}

void declare(CLI::App& app, texts& into) {
  app.require_subcommand(0, 1);
  app.set_version_flag(
      "-V,--version", [] { return std::string("hmn ") + hmn_version_string(); },
      "Print the version");
  app.add_flag("--json", into.summary_json, "Print a JSON array of the GPUs");
  add_common(app, into.before);
  app.footer(summary_examples);
  add_ps(app, into);
  add_common(
      *add_command(app, "snapshot", "Print everything as one JSON object", snapshot_examples),
      into.after);
  add_common(*add_command(app, "doctor", "Tell what was looked for, what was found, what to do",
                          doctor_examples),
             into.after);
}

command command_of(const CLI::App& app) {
  if (app.got_subcommand("ps")) return command::ps;
  if (app.got_subcommand("snapshot")) return command::snapshot;
  if (app.got_subcommand("doctor")) return command::doctor;
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

expected<std::uint32_t> parse_timeout(std::string_view text) {
  const auto milliseconds = parse_duration(text);
  if (!milliseconds) return misused("--timeout " + milliseconds.why().message);
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
  to.device = from.device;
  to.match = from.match;
  return std::nullopt;
}

failure json_before_command(command run) {
  if (run == command::ps)
    return misused(
        "--json before a subcommand is ignored, not applied: each subcommand has its own --json "
        "(`hmn ps --json`, not `hmn --json ps`)");
  if (run == command::snapshot)
    return misused("--json before a subcommand is ignored: `hmn snapshot` always prints JSON");
  return misused("--json before a subcommand is ignored, and `hmn doctor` prints text alone");
}

expected<options> interpret(const texts& from, command run) {
  options to;
  to.run = run;
  if (from.summary_json && run != command::summary) return json_before_command(run);
  to.json = from.summary_json || from.ps_json;
  if (auto wrong = apply_common(from.before, to)) return *std::move(wrong);
  if (auto wrong = apply_common(from.after, to)) return *std::move(wrong);
  if (auto wrong = apply_ps(from, to)) return *std::move(wrong);
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
        app, fmt::format("\"{}\": no such command; there are ps, snapshot and doctor", extra));
  return usage_failure(app, fmt::format("\"{}\": unexpected argument", extra));
}

// `hmn` and `hmn --json` as scripts call them: declaring every option takes longer than all the
// rest.
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
  CLI::App app("Measures host memory and GPU memory.", "hmn");
  texts given;
  declare(app, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return answer(information{app.help()});
  } catch (const CLI::CallForVersion& version) {
    return answer(information{version.what() + std::string("\n")});
  } catch (const CLI::ExtrasError&) {
    return unexpected_argument(app);
  } catch (const CLI::ParseError& error) {
    return usage_failure(app, error.what());
  }
  auto parsed = interpret(given, command_of(app));
  if (!parsed) return parsed.why();
  return answer(*std::move(parsed));
}

}  // namespace hmn::cli
