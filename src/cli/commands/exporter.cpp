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

bool is_address(std::string_view text, bool bracketed) {
  constexpr std::string_view four = "0123456789.";
  constexpr std::string_view six = "0123456789abcdefABCDEF:.%";
  if (bracketed) return !text.empty() && text.find_first_not_of(six) == text.npos;
  return text.find_first_not_of(four) == text.npos;
}

// Parses "127.0.0.1:10077", "[::1]:10077", "localhost:10077" and ":10077". No other name is looked
// up: it may be of an address that more than this machine reaches.
std::optional<Failure> read_listen(const Arguments& from, ExporterSettings& to) {
  const auto given = from.text("--listen");
  if (!given) return std::nullopt;
  const auto& text = *given;
  const auto wrong = misused(
      fmt::format("--listen \"{}\": expected ADDRESS:PORT, as in 127.0.0.1:10077, [::1]:10077, "
                  "localhost:10077 or :10077 for every address",
                  text));
  const auto colon = text.rfind(':');
  if (colon == text.npos) return wrong;
  const auto port = parse_port(std::string_view(text).substr(colon + 1));
  auto address = std::string_view(text).substr(0, colon);
  const bool bracketed = address.size() > 1 && address.front() == '[' && address.back() == ']';
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (!bracketed && lower_case(address) == "localhost") address = "127.0.0.1";
  if (!port || !is_address(address, bracketed)) return wrong;
  to.address = std::string(address);
  to.port = *port;
  return std::nullopt;
}

Expected<Grouping> parse_per(std::string_view text) {
  return parse_grouping("--by", text, exported_groupings);
}

Expected<Dialect> parse_compat(std::string_view text) {
  const auto found = choose_word("--compat", text, dialect_words);
  return found ? Expected<Dialect>(static_cast<Dialect>(*found)) : found.why();
}

Expected<std::string> parse_names(std::string_view text) {
  if (text.empty()) return misused("--metrics, --no-metrics: expected names, as in 'hw_*,*_bytes'");
  return std::string(text);
}

// Reads words between commas, of each use of the option.
template <class Value>
std::optional<Failure> read_words(const Arguments& from, const char* name,
                                  Expected<Value> (*parse)(std::string_view),
                                  std::vector<Value>& to) {
  for (const auto& text : from.all(name)) {
    for (const auto part : split_list(text)) {
      const auto value = parse(part);
      if (!value) return value.why();
      to.push_back(*value);
    }
  }
  return std::nullopt;
}

bool has_metric(const ExporterSettings& in, const std::string& pattern) {
  const auto is_it = [&](std::string_view name) { return glob_matches(pattern, name); };
  const auto is_own = [&](std::string_view name) {
    return is_it(name) && is_written(name, in.per);
  };
  const auto has_it = [&](Dialect which) {
    return which == Dialect::dcgm ? std::ranges::any_of(dcgm_names, is_it)
                                  : std::ranges::any_of(nvidia_smi_names, is_it);
  };
  return std::ranges::any_of(own_names, is_own) || std::ranges::any_of(in.compatible, has_it);
}

// Returns the option that adds metrics with such a name; null: there are none.
const char* adding_option(const std::string& pattern) {
  const auto is_it = [&](std::string_view name) { return glob_matches(pattern, name); };
  if (std::ranges::any_of(own_names, is_it)) return "--by";
  const bool is_of_others =
      std::ranges::any_of(dcgm_names, is_it) || std::ranges::any_of(nvidia_smi_names, is_it);
  return is_of_others ? "--compat" : nullptr;
}

Failure no_such_metric(const char* option, const std::string& pattern) {
  if (const char* const adding = adding_option(pattern))
    return misused(
        fmt::format("{} \"{}\": {} adds the metrics with such a name", option, pattern, adding));
  return misused(
      fmt::format("{} \"{}\": no metric has such a name; `hmn exporter --once` prints those of "
                  "this machine",
                  option, pattern));
}

// Reads patterns of names, each of which some metric has.
std::optional<Failure> read_names(const Arguments& from, const char* option,
                                  const ExporterSettings& in, std::vector<std::string>& to) {
  if (auto wrong = read_words(from, option, &parse_names, to)) return wrong;
  for (const auto& pattern : to)
    if (!has_metric(in, pattern)) return no_such_metric(option, pattern);
  return std::nullopt;
}

constexpr Option options_of_exporter[] = {
    {"--listen", 0, "ADDRESS:PORT", "Serve there; no ADDRESS: all [127.0.0.1:10077]",
     Completion::words, "127.0.0.1:10077 localhost:10077 [::1]:10077 :10077"},
    {"--web-config", 0, "FILE", "TLS, passwords and headers, in Prometheus' format",
     Completion::file, "yml yaml"},
    {"--max-age", 0, "DURATION", "Share readings between clients up to this age [1s]",
     Completion::words, "100ms 1s 5s"},
    {"--by", 0, "KIND", "Also memory by process, user, container, pod, ...", Completion::list,
     "process user container pod job unit", Uses::many, "--per"},
    {"--compat", 0, "NAMES", "Also names of other exporters: dcgm, nvidia-smi", Completion::list,
     "dcgm nvidia-smi", Uses::many},
    {"--metrics", 0, "GLOBS", "Only metrics with such a name: 'hw_*,*_bytes'", Completion::nothing,
     "", Uses::many},
    {"--no-metrics", 0, "GLOBS", "No metrics with such a name", Completion::nothing, "",
     Uses::many},
    {"--textfile", 0, "FILE", "Write the metrics to FILE for node_exporter", Completion::file,
     "prom"},
    interval_option("With --textfile: write again at an interval", "15s 1m"),
    {"--timeout", 0, "DURATION", "Maximum wait for drivers [2s]", Completion::words, "1s 2s 10s"},
    force_option("With --textfile: replace a file of any name"),
    {"--once", 0, "", "Print the metrics"},
    {"--openmetrics", 0, "", "With --once, --textfile: OpenMetrics format"},
};

constexpr std::string_view examples_of_exporter =
    "Examples:\n"
    "  hmn exporter                         serve http://127.0.0.1:10077/metrics\n"
    "  hmn exporter --listen :10077 --web-config web.yml\n"
    "  hmn exporter --once                  print the metrics\n"
    "  hmn exporter --textfile /var/lib/node_exporter/hypomnesis.prom\n"
    "\n"
    "Exit status: 0 done, or stopped; 1 failed, 2 wrong usage. See hmn-exporter(1).";

std::optional<Failure> check_together(const Arguments& from) {
  const bool serves = !from.has("--once") && !from.has("--textfile");
  if (auto twice = only_one_of(from, "--once", "--textfile")) return twice;
  for (const char* const name : {"--interval", "--force"})
    if (from.has(name) && !from.has("--textfile"))
      return misused(fmt::format("{}: needs --textfile", name));
  if (from.has("--openmetrics") && serves)
    return misused("--openmetrics: needs --once or --textfile; a client asks for it by itself");
  for (const char* const name : {"--listen", "--web-config", "--max-age"})
    if (from.has(name) && !serves)
      return misused(fmt::format("{}: not with --once or --textfile", name));
  return std::nullopt;
}

std::optional<Failure> read_exporter(const Arguments& from, Options& to) {
  auto& all = to.exporter;
  constexpr std::uint64_t longest = std::numeric_limits<std::int32_t>::max();
  if (auto wrong = check_together(from)) return wrong;
  if (auto wrong = read_words(from, "--by", &parse_per, all.per)) return wrong;
  if (auto wrong = read_words(from, "--compat", &parse_compat, all.compatible)) return wrong;
  if (auto wrong = read_names(from, "--metrics", all, all.names.only)) return wrong;
  if (auto wrong = read_names(from, "--no-metrics", all, all.names.without)) return wrong;
  if (auto wrong = read_listen(from, all)) return wrong;
  if (auto wrong = read_milliseconds(from, "--max-age", all.max_age_ms, longest)) return wrong;
  if (auto wrong = read_milliseconds(from, "--timeout", all.timeout_ms, longest)) return wrong;
  to.timeout_ms = all.timeout_ms;
  if (from.has("--interval"))
    if (auto wrong = read_interval(from, all.interval_ms.emplace())) return wrong;
  std::optional<std::string> file;
  if (auto wrong = read_text(from, "--textfile", a_path, file)) return wrong;
  if (file) all.text_file = {"--textfile", *file, text_suffixes, from.has("--force"), true};
  if (auto wrong = read_text(from, "--web-config", a_path, all.web_config)) return wrong;
  all.once = from.has("--once");
  all.is_traced = to.trace;
  all.format = from.has("--openmetrics") ? TextFormat::openmetrics : TextFormat::prometheus;
  return std::nullopt;
}

Expected<ExitCode> run_exporter_command(const Session& in, const Options& asked, const Style&) {
  return run_exporter(in, asked.exporter);
}

}  // namespace

const CommandEntry exporter_command = {
    .id = Command::exporter,
    .name = "exporter",
    .purpose = "Serve metrics of the GPUs to Prometheus",
    .takes = options_of_exporter,
    .examples = examples_of_exporter,
    .read = read_exporter,
    .run = run_exporter_command,
};

}  // namespace hmn::cli
