// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>

#include "cli/fit/demand.hpp"
#include "cli/text/word_choice.hpp"

namespace hmn::cli {
namespace {

constexpr std::uint64_t most_tokens = 1u << 30;
constexpr std::uint64_t most_sequences = 1u << 20;

unsigned shift_of(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    default:
      return 0;
  }
}

expected<std::uint64_t> parse_number(const char* option, const std::string& text,
                                     std::uint64_t most) {
  const auto number = parse_token_count(text);
  if (number && *number >= 1 && *number <= most) return *number;
  return misused(
      fmt::format("{} \"{}\": expected a whole number from 1 to {}", option, text, most));
}

}  // namespace

const char* const fit_examples =
    "Examples:\n"
    "  hmn fit model.gguf --context 32K\n"
    "  hmn fit Llama-3-8B/ --batch 4 --kv-type q8_0 --device 0\n"
    "  hmn fit Llama-3-70B/ --device all    over all GPUs together\n"
    "  hmn fit config.json --json | jq .total_bytes\n"
    "\n"
    "Exit status: 0 done, it fits; 3 it fits in part, 4 it does not; 1 failed, 2\n"
    "wrong usage. See hmn-fit(1).";

void add_fit(CLI::App& app, fit_texts& into) {
  const auto last = CLI::MultiOptionPolicy::TakeLast;
  app.add_option("MODEL", into.model, "GGUF, safetensors, index, config.json or folder")
      ->type_name("")
      ->required();
  app.add_option("--context", into.context, "Tokens of each sequence [the model's, at most 8K]")
      ->type_name("N")
      ->multi_option_policy(last);
  app.add_option("--batch", into.batch, "Sequences at once [1]")
      ->type_name("N")
      ->multi_option_policy(last);
  app.add_option("--ubatch", into.ubatch, "Tokens processed at once [512; without GGUF 2048]")
      ->type_name("N")
      ->multi_option_policy(last);
  app.add_option("--kv-type", into.kv_type, "Type of the cached keys and values [f16]")
      ->type_name("TYPE")
      ->multi_option_policy(last);
  app.add_option("--device", into.devices, "Only this device; repeated, or all: together")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
}

std::optional<failure> apply_fit(const fit_texts& from, fit_options& to) {
  if (auto wrong = refuse_empty("MODEL", from.model, "the path of a model's file or folder"))
    return wrong;
  to.model = from.model;
  to.devices = from.devices;
  if (from.devices.size() > 1)
    for (const auto& each : from.devices)
      if (each == "all") return misused("--device all: expected alone, or each device by name");
  if (from.context) {
    const auto context = parse_number("--context", *from.context, most_tokens);
    if (!context) return context.why();
    to.context = *context;
  }
  if (from.batch) {
    const auto batch = parse_number("--batch", *from.batch, most_sequences);
    if (!batch) return batch.why();
    to.batch = *batch;
  }
  if (from.ubatch) {
    const auto ubatch = parse_number("--ubatch", *from.ubatch, most_tokens);
    if (!ubatch) return ubatch.why();
    to.ubatch = *ubatch;
  }
  if (!from.kv_type) return std::nullopt;
  if (!fit::kv_packing_of(*from.kv_type))
    return misused(
        fmt::format("--kv-type \"{}\": expected one of {}", *from.kv_type, fit::kv_type_names()));
  to.kv_type = *from.kv_type;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_token_count(std::string_view text) {
  std::string digits;
  for (const char each : text)
    if (each != '_' && each != ',') digits += each;
  const auto shift = digits.empty() ? 0 : shift_of(digits.back());
  if (shift != 0) digits.pop_back();
  std::uint64_t number = 0;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  if (number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

}  // namespace hmn::cli
