// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/text_format.hpp"
#include "cli/text/unicode.hpp"

#include <algorithm>
#include <optional>

namespace hmn::cli {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& text, char end) noexcept {
  const auto at = std::min(text.find(end), text.size());
  const auto taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return trimmed(taken);
}

// Returns thousandths: "0.75" is 750. A malformed weight is 0: the type is not wanted.
int weight_of(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 0;
  int weight = (text[0] - '0') * 1000;
  if (text.size() > 1 && text[1] != '.') return 0;
  int unit = 100;
  for (const char digit : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (digit < '0' || digit > '9') return 0;
    weight += (digit - '0') * unit;
    unit /= 10;
  }
  return std::min(weight, 1000);
}

struct Wanted {
  std::string_view type;
  std::string_view version;
  int weight = 1000;
};

Wanted parse_wanted(std::string_view text) noexcept {
  Wanted found;
  found.type = take_until(text, ';');
  while (!text.empty()) {
    auto parameter = take_until(text, ';');
    const auto name = take_until(parameter, '=');
    if (equal_ignoring_case(name, "q")) found.weight = weight_of(parameter);
    if (equal_ignoring_case(name, "version")) found.version = parameter;
  }
  return found;
}

bool is_known_version(std::string_view version) noexcept {
  return version.empty() || version == "1.0.0" || version == "0.0.1";
}

}  // namespace

std::string_view media_type(TextFormat format) noexcept {
  return format == TextFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

TextFormat accepted_format(std::string_view accept) noexcept {
  std::optional<int> plain;
  int any = 0;
  int open = 0;
  while (!accept.empty()) {
    const auto one = parse_wanted(take_until(accept, ','));
    if (equal_ignoring_case(one.type, "application/openmetrics-text") &&
        is_known_version(one.version))
      open = std::max(open, one.weight);
    if (equal_ignoring_case(one.type, "text/plain"))
      plain = std::max(plain.value_or(0), one.weight);
    if (equal_ignoring_case(one.type, "text/*") || one.type == "*/*")
      any = std::max(any, one.weight);
  }
  return open > 0 && open >= plain.value_or(any) ? TextFormat::openmetrics : TextFormat::prometheus;
}

bool accepts_gzip(std::string_view accept_encoding) noexcept {
  std::optional<int> gzip;
  int any = 0;
  while (!accept_encoding.empty()) {
    const auto one = parse_wanted(take_until(accept_encoding, ','));
    if (equal_ignoring_case(one.type, "gzip")) gzip = one.weight;
    if (one.type == "*") any = one.weight;
  }
  return gzip.value_or(any) > 0;
}

}  // namespace hmn::cli
