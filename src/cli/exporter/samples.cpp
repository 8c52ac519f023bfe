// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cli/text/arguments.hpp"
#include "cli/text/unicode.hpp"

namespace hmn::cli {
namespace {

bool is_plain(char c) noexcept {
  return c >= ' ' && c <= '~' && c != '\\' && c != '"';
}

// One byte that is no UTF-8, in the name of a user or of the host, makes Prometheus refuse the
// whole scrape: it is replaced. What a terminal or a browser would act on is written as in text;
// the format has an escape for a line break of its own.
void append_escaped(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const auto end = std::find_if_not(value.begin(), value.end(), is_plain);
    out.append(value.begin(), end);
    value.remove_prefix(static_cast<std::size_t>(end - value.begin()));
    if (value.empty()) return;
    const auto point = first_code_point(value);
    if (point.value == '\n') {
      out += "\\n";
    } else if (is_acted_on(point.value)) {
      out += '\\';
      append_text_escape(out, point.value);
    } else {
      if (point.value < 0x80) out += '\\';
      append_utf8(out, point.value);
    }
    value.remove_prefix(point.length);
  }
}

constexpr std::string_view total = "_total";
constexpr std::string_view information = "_info";

void append_whole(std::string& out, std::uint64_t number) {
  const fmt::format_int digits(number);
  out.append(digits.data(), digits.size());
}

bool is_whole(double number) noexcept {
  constexpr double exact = 1ULL << 53;
  return number >= 0 && number < exact && !std::signbit(number) && number == std::floor(number);
}

void append_number(std::string& out, const SampleValue& value) {
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return append_whole(out, *whole);
  const double number = std::get<double>(value);
  if (is_whole(number))
    append_whole(out, static_cast<std::uint64_t>(number));
  else if (std::isnan(number))
    out += "NaN";
  else if (std::isinf(number))
    out += number > 0 ? "+Inf" : "-Inf";
  else
    fmt::format_to(std::back_inserter(out), "{}", number);
}

// Returns the name that HELP and TYPE have: without the suffix, where the format has the suffix for
// samples only.
std::string_view heading_of(const Family& of, TextFormat format) noexcept {
  auto name = of.name;
  if (format == TextFormat::prometheus) return name;
  if (of.kind == FamilyKind::counter && name.ends_with(total)) name.remove_suffix(total.size());
  if (of.kind == FamilyKind::info && name.ends_with(information))
    name.remove_suffix(information.size());
  return name;
}

// A counter's samples end in _total in OpenMetrics. Another exporter's counter that has no such
// name keeps its own, and is of no known type there.
std::string_view type_of(const Family& of, TextFormat format) noexcept {
  const bool is_open = format == TextFormat::openmetrics;
  if (of.kind == FamilyKind::counter)
    return is_open && !of.name.ends_with(total) ? "unknown" : "counter";
  return of.kind == FamilyKind::info && is_open ? "info" : "gauge";
}

void append_heading(std::string& out, const Family& of, TextFormat format) {
  const auto name = heading_of(of, format);
  out.append("# HELP ").append(name).append(" ").append(of.help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type_of(of, format)).append("\n");
}

void append_sample(std::string& out, const Sample& of, std::string_view labels) {
  out.append(of.of->name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out += ' ';
  append_number(out, of.value);
  out += '\n';
}

std::vector<std::vector<const Sample*>> by_family(const Samples& of) {
  std::vector<std::vector<const Sample*>> grouped;
  std::unordered_map<const Family*, std::size_t> places;
  for (const auto& each : of.all()) {
    const auto [place, is_new] = places.try_emplace(each.of, grouped.size());
    if (is_new) grouped.emplace_back();
    grouped[place->second].push_back(&each);
  }
  return grouped;
}

}  // namespace

LabelSet& LabelSet::add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  if (!text_.empty()) text_ += ',';
  text_.append(name).append("=\"");
  append_escaped(text_, value);
  text_ += '"';
  return *this;
}

LabelSet& LabelSet::append(const LabelSet& more) {
  if (!text_.empty() && !more.text_.empty()) text_ += ',';
  text_ += more.text_;
  return *this;
}

LabelSet LabelSet::with(std::string_view name, std::string_view value) const {
  constexpr std::size_t marks = 4;
  LabelSet more;
  more.text_.reserve(text_.size() + name.size() + value.size() + marks);
  more.text_ = text_;
  more.add(name, value);
  return more;
}

bool NameFilter::takes(std::string_view name) const {
  const auto is_it = [name](const std::string& pattern) { return glob_matches(pattern, name); };
  return (only.empty() || std::any_of(only.begin(), only.end(), is_it)) &&
         std::none_of(without.begin(), without.end(), is_it);
}

std::string write_samples(const Samples& of, TextFormat format, const NameFilter& which) {
  constexpr std::size_t usual_length = 192;
  std::string out;
  out.reserve(of.all().size() * usual_length);
  for (const auto& one : by_family(of)) {
    if (!which.takes(one.front()->of->name)) continue;
    append_heading(out, *one.front()->of, format);
    std::unordered_set<std::string_view> written(one.size());
    for (const auto* each : one) {
      const auto labels = of.labels(*each);
      if (written.insert(labels).second) append_sample(out, *each, labels);
    }
  }
  if (format == TextFormat::openmetrics) out += "# EOF\n";
  return out;
}

}  // namespace hmn::cli
