// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "cli/commands/commands.hpp"
#include "cli/commands/values.hpp"
#include "cli/exporter/compat.def"
#include "cli/exporter/families.def"
#include "cli/text/arguments.hpp"

namespace hmn::cli {
namespace {

#define HMN_NAME(id, name, kind, unit, labels, help, source) name,
constexpr std::string_view own_names[] = {HMN_FAMILIES(HMN_NAME)};
constexpr std::string_view dcgm_names[] = {HMN_DCGM_FAMILIES(HMN_NAME)};
constexpr std::string_view nvidia_smi_names[] = {HMN_NVIDIA_SMI_FAMILIES(HMN_NAME)};
#undef HMN_NAME

constexpr std::string_view text_suffixes[] = {".prom"};

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

bool is_address(std::string_view text, bool is_bracketed) {
  constexpr std::string_view ipv4_characters = "0123456789.";
  constexpr std::string_view ipv6_characters = "0123456789abcdefABCDEF:.%";
  if (is_bracketed) return !text.empty() && text.find_first_not_of(ipv6_characters) == text.npos;
  return text.find_first_not_of(ipv4_characters) == text.npos;
}

// Parses "127.0.0.1:10077", "[::1]:10077", "localhost:10077" and ":10077". No other name is looked
// up: its address might be reachable from other machines.
std::optional<Failure> read_listen(const Arguments& arguments, ExporterSettings& settings) {
  const auto value = arguments.text("--listen");
  if (!value) return std::nullopt;
  const auto& text = *value;
  const auto failure = make_usage_error(
      fmt::format("--listen \"{}\": expected ADDRESS:PORT, as in 127.0.0.1:10077, [::1]:10077, "
                  "localhost:10077 or :10077 for every address",
                  text));
  const auto colon = text.rfind(':');
  if (colon == text.npos) return failure;
  const auto port = parse_port(std::string_view(text).substr(colon + 1));
  auto address = std::string_view(text).substr(0, colon);
  const bool is_bracketed = address.size() > 1 && address.front() == '[' && address.back() == ']';
  if (is_bracketed) address = address.substr(1, address.size() - 2);
  if (!is_bracketed && lower_case(address) == "localhost") address = "127.0.0.1";
  if (!port || !is_address(address, is_bracketed)) return failure;
  settings.address = std::string(address);
  settings.port = *port;
  return std::nullopt;
}

Expected<Grouping> parse_exported_grouping(std::string_view text) {
  return parse_grouping("--by", text, exported_groupings);
}

Expected<Dialect> parse_compat(std::string_view text) {
  const auto index = choose_word("--compat", text, dialect_words);
  return index ? Expected<Dialect>(static_cast<Dialect>(*index)) : index.error();
}

Expected<std::string> parse_names(std::string_view text) {
  if (text.empty())
    return make_usage_error("--metrics, --no-metrics: expected names, as in 'hw_*,*_bytes'");
  return std::string(text);
}

// Reads comma-separated words from every occurrence of the option.
template <class Value>
std::optional<Failure> read_words(const Arguments& arguments, const char* name,
                                  Expected<Value> (*parse)(std::string_view),
                                  std::vector<Value>& values) {
  for (const auto& text : arguments.all(name)) {
    for (const auto part : split_list(text)) {
      const auto value = parse(part);
      if (!value) return value.error();
      values.push_back(*value);
    }
  }
  return std::nullopt;
}

bool has_metric(const ExporterSettings& settings, const std::string& pattern) {
  const auto is_match = [&](std::string_view name) { return glob_matches(pattern, name); };
  const auto is_own_match = [&](std::string_view name) {
    return is_match(name) && is_exported(name, settings.groupings);
  };
  const auto has_match = [&](Dialect dialect) {
    return dialect == Dialect::dcgm ? std::ranges::any_of(dcgm_names, is_match)
                                    : std::ranges::any_of(nvidia_smi_names, is_match);
  };
  return std::ranges::any_of(own_names, is_own_match) ||
         std::ranges::any_of(settings.dialects, has_match);
}

// Finds the option that adds metrics with such a name; null: there are none.
const char* find_adding_option(const std::string& pattern) {
  const auto is_match = [&](std::string_view name) { return glob_matches(pattern, name); };
  if (std::ranges::any_of(own_names, is_match)) return "--by";
  const bool is_foreign =
      std::ranges::any_of(dcgm_names, is_match) || std::ranges::any_of(nvidia_smi_names, is_match);
  return is_foreign ? "--compat" : nullptr;
}

Failure unknown_metric_error(const char* option, const std::string& pattern) {
  if (const char* const adding_option = find_adding_option(pattern))
    return make_usage_error(fmt::format("{} \"{}\": {} adds the metrics with such a name", option,
                                        pattern, adding_option));
  return make_usage_error(
      fmt::format("{} \"{}\": no metric has such a name; `hmn exporter --once` prints those of "
                  "this machine",
                  option, pattern));
}

// Reads name patterns; fails for one that matches no metric.
std::optional<Failure> read_names(const Arguments& arguments, const char* option,
                                  const ExporterSettings& settings,
                                  std::vector<std::string>& patterns) {
  if (auto failure = read_words(arguments, option, &parse_names, patterns)) return failure;
  for (const auto& pattern : patterns)
    if (!has_metric(settings, pattern)) return unknown_metric_error(option, pattern);
  return std::nullopt;
}

constexpr Option exporter_options[] = {
    {"--listen", 0, "ADDRESS:PORT", "Serve there; no ADDRESS: all [127.0.0.1:10077]",
     Completion::words, "127.0.0.1:10077 localhost:10077 [::1]:10077 :10077"},
    {"--web-config", 0, "FILE", "TLS, passwords and headers, in Prometheus' format",
     Completion::file, "yml yaml"},
    {"--max-age", 0, "DURATION", "Share readings between clients up to this age [1s]",
     Completion::words, "100ms 1s 5s"},
    {"--by", 0, "KIND", "Also memory by process, user, container, pod, ...", Completion::list,
     "process user container pod job unit", Occurrence::many, "--per"},
    {"--compat", 0, "NAMES", "Also names of other exporters: dcgm, nvidia-smi", Completion::list,
     "dcgm nvidia-smi", Occurrence::many},
    {"--metrics", 0, "GLOBS", "Only metrics with such a name: 'hw_*,*_bytes'", Completion::nothing,
     "", Occurrence::many},
    {"--no-metrics", 0, "GLOBS", "No metrics with such a name", Completion::nothing, "",
     Occurrence::many},
    {"--textfile", 0, "FILE", "Write the metrics to FILE for node_exporter", Completion::file,
     "prom"},
    interval_option("With --textfile: write again at an interval", "15s 1m"),
    {"--timeout", 0, "DURATION", "Maximum wait for drivers [2s]", Completion::words, "1s 2s 10s"},
    force_option("With --textfile: replace a file of any name"),
    {"--once", 0, "", "Print the metrics"},
    {"--openmetrics", 0, "", "With --once, --textfile: OpenMetrics format"},
};

constexpr std::string_view exporter_examples =
    "Examples:\n"
    "  hmn exporter                         serve http://127.0.0.1:10077/metrics\n"
    "  hmn exporter --listen :10077 --web-config web.yml\n"
    "  hmn exporter --once                  print the metrics\n"
    "  hmn exporter --textfile /var/lib/node_exporter/hypomnesis.prom\n"
    "\n"
    "Exit status: 0 done, or stopped; 1 failed, 2 wrong usage. See hmn-exporter(1).";

std::optional<Failure> check_combination(const Arguments& arguments) {
  const bool is_serving = !arguments.has("--once") && !arguments.has("--textfile");
  if (auto failure = check_exclusive(arguments, "--once", "--textfile")) return failure;
  for (const char* const name : {"--interval", "--force"})
    if (arguments.has(name) && !arguments.has("--textfile"))
      return make_usage_error(fmt::format("{}: needs --textfile", name));
  if (arguments.has("--openmetrics") && is_serving)
    return make_usage_error(
        "--openmetrics: needs --once or --textfile; a client asks for it by itself");
  for (const char* const name : {"--listen", "--web-config", "--max-age"})
    if (arguments.has(name) && !is_serving)
      return make_usage_error(fmt::format("{}: not with --once or --textfile", name));
  return std::nullopt;
}

std::optional<Failure> read_exporter(const Arguments& arguments, Options& options) {
  auto& settings = options.exporter;
  constexpr std::uint64_t max_ms = std::numeric_limits<std::int32_t>::max();
  if (auto failure = check_combination(arguments)) return failure;
  if (auto failure = read_words(arguments, "--by", &parse_exported_grouping, settings.groupings))
    return failure;
  if (auto failure = read_words(arguments, "--compat", &parse_compat, settings.dialects))
    return failure;
  if (auto failure = read_names(arguments, "--metrics", settings, settings.names.include_patterns))
    return failure;
  if (auto failure =
          read_names(arguments, "--no-metrics", settings, settings.names.exclude_patterns))
    return failure;
  if (auto failure = read_listen(arguments, settings)) return failure;
  if (auto failure = read_milliseconds(arguments, "--max-age", settings.max_age_ms, max_ms))
    return failure;
  if (auto failure = read_milliseconds(arguments, "--timeout", settings.timeout_ms, max_ms))
    return failure;
  options.timeout_ms = settings.timeout_ms;
  if (arguments.has("--interval"))
    if (auto failure = read_interval(arguments, settings.interval_ms.emplace())) return failure;
  std::optional<std::string> file;
  if (auto failure = read_text(arguments, "--textfile", expected_path, file)) return failure;
  if (file)
    settings.text_file = {"--textfile", *file, text_suffixes, arguments.has("--force"), true};
  if (auto failure = read_text(arguments, "--web-config", expected_path, settings.web_config))
    return failure;
  settings.once = arguments.has("--once");
  settings.is_traced = options.trace;
  settings.format =
      arguments.has("--openmetrics") ? TextFormat::openmetrics : TextFormat::prometheus;
  return std::nullopt;
}

Expected<ExitCode> run_exporter_command(const Session& session, const Options& options,
                                        const Style&) {
  return run_exporter(session, options.exporter);
}

}  // namespace

const Command exporter_command = {
    .id = CommandId::exporter,
    .name = "exporter",
    .purpose = "Serve metrics of the GPUs to Prometheus",
    .options = exporter_options,
    .examples = exporter_examples,
    .read = read_exporter,
    .run = run_exporter_command,
};

}  // namespace hmn::cli
