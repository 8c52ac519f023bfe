// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/text_format.hpp"
#include "cli/text/unicode.hpp"

#include <algorithm>
#include <optional>

namespace hmn::cli {
namespace {

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& text, char end) noexcept {
  const auto length = std::min(text.find(end), text.size());
  const auto token = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return trim(token);
}

// Returns thousandths: "0.75" is 750. A malformed weight is 0: the type is not wanted.
int parse_weight(std::string_view text) noexcept {
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

struct MediaRange {
  std::string_view type;
  std::string_view version;
  int weight = 1000;
};

MediaRange parse_media_range(std::string_view text) noexcept {
  MediaRange range;
  range.type = take_until(text, ';');
  while (!text.empty()) {
    auto parameter = take_until(text, ';');
    const auto name = take_until(parameter, '=');
    if (equal_ignoring_case(name, "q")) range.weight = parse_weight(parameter);
    if (equal_ignoring_case(name, "version")) range.version = parameter;
  }
  return range;
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

TextFormat negotiate_format(std::string_view accept) noexcept {
  std::optional<int> plain;
  int any = 0;
  int openmetrics = 0;
  while (!accept.empty()) {
    const auto range = parse_media_range(take_until(accept, ','));
    if (equal_ignoring_case(range.type, "application/openmetrics-text") &&
        is_known_version(range.version))
      openmetrics = std::max(openmetrics, range.weight);
    if (equal_ignoring_case(range.type, "text/plain"))
      plain = std::max(plain.value_or(0), range.weight);
    if (equal_ignoring_case(range.type, "text/*") || range.type == "*/*")
      any = std::max(any, range.weight);
  }
  return openmetrics > 0 && openmetrics >= plain.value_or(any) ? TextFormat::openmetrics
                                                               : TextFormat::prometheus;
}

bool accepts_gzip(std::string_view accept_encoding) noexcept {
  std::optional<int> gzip;
  int any = 0;
  while (!accept_encoding.empty()) {
    const auto range = parse_media_range(take_until(accept_encoding, ','));
    if (equal_ignoring_case(range.type, "gzip")) gzip = range.weight;
    if (range.type == "*") any = range.weight;
  }
  return gzip.value_or(any) > 0;
}

}  // namespace hmn::cli
