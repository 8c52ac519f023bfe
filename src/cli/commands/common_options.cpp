// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/common_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>

#include "cli/text/duration.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

expected<std::uint32_t> parse_timeout(const std::string& text) {
  const auto milliseconds = parse_time("--timeout", text);
  if (!milliseconds) return milliseconds.why();
  constexpr std::uint64_t longest = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(*milliseconds, longest));
}

}  // namespace

void add_values(CLI::App& app, std::initializer_list<value_option> all) {
  for (const auto& each : all)
    app.add_option(each.name, *each.into, each.purpose)
        ->type_name(each.type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_common_but_timeout(CLI::App& app, common_texts& into) {
  app.set_help_flag("-h,--help", "Print this help");
  app.add_option("--machine", into.machine, "Read a simulated or recorded machine: file or name")
      ->type_name("FILE");
  add_values(app, {{"--color", &into.colour, "WHEN", "Use colours: auto, always, never [auto]"}});
  app.add_flag("--trace", into.trace, "Print each driver call on standard error");
}

void add_common(CLI::App& app, common_texts& into) {
  add_values(app, {{"--timeout", &into.timeout, "DURATION",
                    "Maximum wait for drivers: 500ms, 30s, 5m, 1h"}});
  add_common_but_timeout(app, into);
}

std::optional<failure> apply_common(const common_texts& from, options& to) {
  if (from.timeout) {
    const auto timeout = parse_timeout(*from.timeout);
    if (!timeout) return timeout.why();
    to.timeout_ms = *timeout;
    to.has_timeout = true;
  }
  if (from.colour) {
    const auto choice = choose_word("--color", *from.colour, colour_choice_words);
    if (!choice) return choice.why();
    to.colour = static_cast<colour_choice>(*choice);
  }
  if (auto wrong = refuse_empty("--machine", from.machine, a_path)) return wrong;
  if (from.machine) to.machine = *from.machine;
  to.trace = to.trace || from.trace;
  return std::nullopt;
}

}  // namespace hmn::cli
