// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/exporter_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "cli/commands/common_options.hpp"
#include "cli/text/duration.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

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

// Parses "127.0.0.1:10077", "[::1]:10077" and ":10077".
std::optional<failure> apply_listen(const std::string& text, exporter_settings& to) {
  const auto wrong = misused(
      fmt::format("--listen \"{}\": expected ADDRESS:PORT, as in 127.0.0.1:10077, [::1]:10077 or "
                  ":10077 for every address",
                  text));
  const auto colon = text.rfind(':');
  if (colon == text.npos) return wrong;
  const auto port = parse_port(std::string_view(text).substr(colon + 1));
  auto address = std::string_view(text).substr(0, colon);
  const bool bracketed = address.size() > 1 && address.front() == '[' && address.back() == ']';
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (!port || !is_address(address, bracketed)) return wrong;
  to.address = std::string(address);
  to.port = *port;
  return std::nullopt;
}

std::optional<failure> take_milliseconds(const char* option, const std::optional<std::string>& from,
                                         std::uint32_t& to) {
  if (!from) return std::nullopt;
  const auto time = parse_time(option, *from);
  if (!time) return time.why();
  constexpr std::uint64_t longest = std::numeric_limits<std::int32_t>::max();
  to = static_cast<std::uint32_t>(std::min(*time, longest));
  return std::nullopt;
}

expected<grouping> parse_per(std::string_view text) {
  return parse_grouping("--per", text, exported_groupings);
}

expected<dialect> parse_compat(std::string_view text) {
  const auto found = choose_word("--compat", text, dialect_words);
  return found ? expected<dialect>(static_cast<dialect>(*found)) : found.why();
}

// Reads words between commas.
template <class Value>
std::optional<failure> apply_words(const std::optional<std::string>& from,
                                   expected<Value> (*parse)(std::string_view),
                                   std::vector<Value>& to) {
  if (!from) return std::nullopt;
  std::string_view rest = *from;
  for (;;) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto value = parse(rest.substr(0, comma));
    if (!value) return value.why();
    to.push_back(*value);
    if (comma == rest.size()) return std::nullopt;
    rest.remove_prefix(comma + 1);
  }
}

std::optional<failure> check_together(const exporter_texts& from) {
  const bool serves = !from.once && !from.text_file;
  if (from.once && from.text_file) return misused("--once and --textfile: only one of them");
  if (from.interval && !from.text_file) return misused("--interval: needs --textfile");
  if (from.openmetrics && serves)
    return misused("--openmetrics: needs --once or --textfile; a client asks for it by itself");
  for (const auto& [name, value] :
       {std::pair("--listen", &from.listen), std::pair("--web-config", &from.web_config),
        std::pair("--max-age", &from.max_age)})
    if (*value && !serves) return misused(fmt::format("{}: not with --once or --textfile", name));
  return std::nullopt;
}

}  // namespace

const char* const exporter_examples =
    "Examples:\n"
    "  hmn exporter                         serve http://127.0.0.1:10077/metrics\n"
    "  hmn exporter --listen :10077 --web-config web.yml\n"
    "  hmn exporter --once                  print the metrics\n"
    "  hmn exporter --textfile /var/lib/node_exporter/hypomnesis.prom\n"
    "\n"
    "Exit status: 0 done, or stopped; 1 failed, 2 wrong usage. See hmn-exporter(1).";

void add_exporter(CLI::App& app, exporter_texts& into) {
  add_values(
      app,
      {{"--listen", &into.listen, "ADDRESS:PORT", "Serve there; no ADDRESS: all [127.0.0.1:10077]"},
       {"--web-config", &into.web_config, "FILE",
        "TLS, passwords and headers, in Prometheus' format"},
       {"--max-age", &into.max_age, "DURATION",
        "Share readings between clients up to this age [1s]"},
       {"--per", &into.per, "KIND", "Also memory per process, user, container, pod, ..."},
       {"--compat", &into.compat, "NAMES", "Also names of other exporters: dcgm, nvidia-smi"},
       {"--textfile", &into.text_file, "FILE", "Write the metrics to FILE for node_exporter"},
       {"--interval", &into.interval, "DURATION", "With --textfile: write again at an interval"},
       {"--timeout", &into.timeout, "DURATION", "Maximum wait for drivers [2s]"}});
  app.add_flag("--force", into.force, "With --textfile: replace a file of any name");
  app.add_flag("--once", into.once, "Print the metrics");
  app.add_flag("--openmetrics", into.openmetrics, "With --once, --textfile: OpenMetrics format");
}

std::optional<failure> apply_exporter(const exporter_texts& from, exporter_settings& to) {
  if (auto wrong = check_together(from)) return wrong;
  if (auto wrong = apply_words(from.per, &parse_per, to.per)) return wrong;
  if (auto wrong = apply_words(from.compat, &parse_compat, to.compatible)) return wrong;
  if (from.listen)
    if (auto wrong = apply_listen(*from.listen, to)) return wrong;
  if (auto wrong = take_milliseconds("--max-age", from.max_age, to.max_age_ms)) return wrong;
  if (auto wrong = take_milliseconds("--timeout", from.timeout, to.timeout_ms)) return wrong;
  if (from.interval) {
    const auto interval = parse_interval(*from.interval);
    if (!interval) return interval.why();
    to.interval_ms = *interval;
  }
  if (auto wrong = refuse_empty("--textfile", from.text_file, a_path)) return wrong;
  if (auto wrong = refuse_empty("--web-config", from.web_config, a_path)) return wrong;
  to.web_config = from.web_config;
  to.once = from.once;
  if (from.text_file) to.text_file = {"--textfile", *from.text_file, text_suffixes, from.force};
  to.format = from.openmetrics ? text_format::openmetrics : text_format::prometheus;
  return std::nullopt;
}

}  // namespace hmn::cli
