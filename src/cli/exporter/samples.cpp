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
    } else if (needs_escape(point.value)) {
      out += '\\';
      append_text_escape(out, point.value);
    } else {
      if (point.value < 0x80) out += '\\';
      append_utf8(out, point.value);
    }
    value.remove_prefix(point.length);
  }
}

constexpr std::string_view total_suffix = "_total";
constexpr std::string_view info_suffix = "_info";

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
std::string_view heading_name(const Family& family, TextFormat format) noexcept {
  auto name = family.name;
  if (format == TextFormat::prometheus) return name;
  if (family.kind == FamilyKind::counter && name.ends_with(total_suffix))
    name.remove_suffix(total_suffix.size());
  if (family.kind == FamilyKind::info && name.ends_with(info_suffix))
    name.remove_suffix(info_suffix.size());
  return name;
}

// A counter's samples end in _total in OpenMetrics. Another exporter's counter that has no such
// name keeps its own, and is of no known type there.
std::string_view metric_type(const Family& family, TextFormat format) noexcept {
  const bool is_open = format == TextFormat::openmetrics;
  if (family.kind == FamilyKind::counter)
    return is_open && !family.name.ends_with(total_suffix) ? "unknown" : "counter";
  return family.kind == FamilyKind::info && is_open ? "info" : "gauge";
}

void append_heading(std::string& out, const Family& family, TextFormat format) {
  const auto name = heading_name(family, format);
  out.append("# HELP ").append(name).append(" ").append(family.help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(metric_type(family, format)).append("\n");
}

void append_sample(std::string& out, const Sample& sample, std::string_view labels) {
  out.append(sample.family->name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out += ' ';
  append_number(out, sample.value);
  out += '\n';
}

std::vector<std::vector<const Sample*>> group_by_family(const Samples& samples) {
  std::vector<std::vector<const Sample*>> groups;
  std::unordered_map<const Family*, std::size_t> positions;
  for (const auto& sample : samples.all()) {
    const auto [entry, is_new] = positions.try_emplace(sample.family, groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(&sample);
  }
  return groups;
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

LabelSet LabelSet::with_label(std::string_view name, std::string_view value) const {
  constexpr std::size_t marks = 4;
  LabelSet result;
  result.text_.reserve(text_.size() + name.size() + value.size() + marks);
  result.text_ = text_;
  result.add(name, value);
  return result;
}

bool NameFilter::accepts(std::string_view name) const {
  const auto matches_name = [name](const std::string& pattern) {
    return glob_matches(pattern, name);
  };
  return (include_patterns.empty() ||
          std::any_of(include_patterns.begin(), include_patterns.end(), matches_name)) &&
         std::none_of(exclude_patterns.begin(), exclude_patterns.end(), matches_name);
}

std::string format_samples(const Samples& samples, TextFormat format, const NameFilter& filter) {
  constexpr std::size_t usual_length = 192;
  std::string out;
  out.reserve(samples.all().size() * usual_length);
  for (const auto& group : group_by_family(samples)) {
    if (!filter.accepts(group.front()->family->name)) continue;
    append_heading(out, *group.front()->family, format);
    std::unordered_set<std::string_view> unique_labels(group.size());
    for (const auto* sample : group) {
      const auto labels = samples.labels(*sample);
      if (unique_labels.insert(labels).second) append_sample(out, *sample, labels);
    }
  }
  if (format == TextFormat::openmetrics) out += "# EOF\n";
  return out;
}

}  // namespace hmn::cli
